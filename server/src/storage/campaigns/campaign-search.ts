import type { CampaignParts } from '../../domain/campaign-document/campaign.ts';
import { campaignChannels, campaignDeliveryTypes, campaignStatuses } from '../../domain/campaigns/campaign.ts';
import type { CampaignChannel, CampaignDeliveryType, CampaignSelection } from '../../domain/campaigns/campaign.ts';
import type { Platform } from '../../domain/content/content.ts';
import type { Fragment, Queryable } from '../database.ts';

export type FoundCampaigns = {
  workspaceId: string;
  selection: CampaignSelection;
  /** The result of findFewCampaigns; replaces the conditions on name and tags. */
  fewIds?: string[] | undefined;
};
// This many are looked up by their ids in 10 ms.
const maxFewIds = 1_000;

/** By creation time; an index serves both directions. */
export type CampaignOrder = 'newest' | 'oldest';

export type CampaignPage = FoundCampaigns & { limit: number; offset: number; order?: CampaignOrder };

/** A campaign, or a run of a recurring campaign, which is shown as its child. */
type FoundCampaign = { kind: 'CAMPAIGN' | 'EXECUTION'; id: string };

/**
 * Returns one page, newest or oldest first, ties by id. Selects ids only, so that the rows before the page are read in
 * an index alone. Index: campaigns_newest, or that of the rarest filter: campaigns_creator, campaigns_rare_channel,
 * campaigns_rare_type, campaigns_rare_status, campaigns_tags, campaigns_name, primary key.
 */
export async function findCampaignPage(tx: Queryable, page: CampaignPage): Promise<FoundCampaign[]> {
  return selectCampaignPage(tx, page);
}

/** The statement of findCampaignPage; a test checks its plan. */
export function selectCampaignPage(tx: Queryable, { limit, offset, order = 'newest', ...found }: CampaignPage) {
  return tx<FoundCampaign[]>`
    select found.kind, found.id from (${foundCampaigns(tx, found, { order, most: limit + offset })}) as found
    ${inOrder(tx, { table: tx`found`, order })}
    limit ${limit} offset ${offset}`;
}

function inOrder(tx: Queryable, { table, order }: { table: Condition; order: CampaignOrder }): Condition {
  return order === 'newest'
    ? tx`order by ${table}.created_at desc, ${table}.id desc`
    : tx`order by ${table}.created_at, ${table}.id`;
}

/**
 * Returns the campaigns of a workspace that have one of the tags and whose names contain a text of one or two
 * characters, as far as the search asks for these. Returns undefined if there are more than 1,000, or if it asks for
 * neither. The planner knows how often a tag occurs in all workspaces but not in this one, so rare tags are counted
 * here instead of guessed. Tags and texts that more campaigns have are found soon enough by reading campaigns, newest
 * first. Indexes: campaigns_tags, campaigns_name_pairs.
 */
export async function findFewCampaigns(tx: Queryable, found: FoundCampaigns): Promise<string[] | undefined> {
  const { tags, name } = found.selection;
  if (!tags && !isShort(name)) return undefined;
  const rows = await selectFewCampaigns(tx, found);
  return rows.length > maxFewIds ? undefined : rows.map(({ id }) => id);
}

/** The statement of findFewCampaigns; a test checks its plan. */
export function selectFewCampaigns(tx: Queryable, { workspaceId, selection: { tags, name } }: FoundCampaigns) {
  const conditions = [tx`workspace_id = ${workspaceId} and not is_test`];
  if (tags) conditions.push(tx`tags && ${tags}`);
  if (isShort(name)) {
    conditions.push(tx`name_pairs(name_folded) @> array[lower(${name}::text collate "und-x-icu") collate "C"]`);
  }
  return tx<{ id: string }[]>`
    select id from campaigns where ${every(tx, conditions)} limit ${maxFewIds + 1}`;
}

/** True for one or two characters. Folding may lengthen a name: one capital becomes two characters. */
function isShort(name: string | undefined): name is string {
  const length = name === undefined ? 0 : [...name.toLowerCase()].length;
  return length === 1 || length === 2;
}

/** Counts the results of a search on all its pages. Indexes: as findCampaignPage. */
export async function countCampaigns(tx: Queryable, found: FoundCampaigns): Promise<number> {
  const [row] = await selectCampaignCount(tx, found);
  return row!.total;
}

export function selectCampaignCount(tx: Queryable, found: FoundCampaigns) {
  return tx<{ total: number }[]>`select count(*) as total from (${foundCampaigns(tx, found)}) as found`;
}

/**
 * Selects the found campaigns. With `first`, reads only the first `most` of each part, because no more can be on a
 * page.
 */
function foundCampaigns(tx: Queryable, found: FoundCampaigns, first?: { order: CampaignOrder; most: number }) {
  const { selection } = found;
  const onPage = (table: Condition) =>
    first === undefined ? tx`` : tx`${inOrder(tx, { table, order: first.order })} limit ${first.most}`;
  const own = (each: FoundCampaigns): Fragment => {
    const conditions = [...campaignConditions(tx, each), ...ownConditions(tx, each)];
    return tx`
    select 'CAMPAIGN' as kind, campaigns.id, campaigns.created_at from campaigns where ${every(tx, conditions)}`;
  };
  const words = first === undefined ? [found] : askWordByWord(found);
  if (words.length === 1 && selection.children === 'without') return own(found);
  const parts = words.map((word) => tx`(${own(word)} ${onPage(tx`campaigns`)})`);
  if (selection.children === 'with') {
    // Recurring campaigns are few: campaigns_rare_type, then runs_campaign.
    const asked = campaignConditions(tx, found);
    const children = [...asked, tx`campaigns.delivery_type <> 'ONE_TIME'`, ...childConditions(tx, selection)];
    parts.push(tx`
    (select 'EXECUTION', runs.id, runs.created_at
    from campaigns join runs on runs.campaign_id = campaigns.id
    where ${every(tx, children)} ${onPage(tx`runs`)})`);
  }
  return parts.reduce((all, part) => tx`${all} union all ${part}`);
}

// Each word makes the statement take longer to plan.
const maxWords = 8;

/**
 * Columns with an index per word, newest first, and the word that the index omits because nearly all campaigns have it.
 */
const indexedByWord = [
  { name: 'createdBy', usual: undefined },
  { name: 'deliveryTypes', usual: 'ONE_TIME' },
  { name: 'statuses', usual: 'SENT' },
  { name: 'channels', usual: 'PUSH' },
] as const;

/**
 * Splits a search for several words of one column into one search per word. An index has the campaigns of each word,
 * newest first, and the page is merged from them as far as it needs. A single search would read and sort all campaigns
 * that have any of the words.
 */
function askWordByWord(found: FoundCampaigns): FoundCampaigns[] {
  const { selection, fewIds } = found;
  if (fewIds) return [found];
  const column = indexedByWord.find(({ name, usual }) => {
    const words: readonly string[] = selection[name] ?? [];
    return words.length > 1 && words.length <= maxWords && !(usual !== undefined && words.includes(usual));
  });
  if (column === undefined) return [found];
  const words = new Set<string>(selection[column.name]);
  return [...words].map((word) => ({ ...found, selection: { ...selection, [column.name]: [word] } }));
}

type Condition = Fragment;

function every(tx: Queryable, conditions: Condition[]): Condition {
  return conditions.reduce((all, next) => tx`${all} and ${next}`);
}

/** Conditions on a campaign that also apply to its children. */
function campaignConditions(tx: Queryable, { workspaceId, selection, fewIds }: FoundCampaigns): Condition[] {
  const { channels, deliveryTypes, createdBy, name, tags, versionNumber } = selection;
  // Test sends are not listed as campaigns; the indexes below do not contain them.
  const conditions = [tx`campaigns.workspace_id = ${workspaceId} and not campaigns.is_test`];
  conditions.push(...wordConditions(tx, { column: tx`campaigns.channel`, words: campaignChannels, asked: channels }));
  if (deliveryTypes) {
    const words = campaignDeliveryTypes;
    conditions.push(...wordConditions(tx, { column: tx`campaigns.delivery_type`, words, asked: deliveryTypes }));
  }
  if (createdBy) conditions.push(oneOf(tx, tx`campaigns.created_by`, createdBy));
  if (fewIds) conditions.push(tx`campaigns.id = any(${fewIds})`);
  if (tags && !fewIds) conditions.push(tx`campaigns.tags && ${tags}`);
  if (name !== undefined && !(fewIds && isShort(name))) {
    const pattern = `%${name.replace(/[\\%_]/g, '\\$&')}%`;
    // The collation of the column and its index; the column's own folding.
    conditions.push(tx`campaigns.name_folded like (lower(${pattern}::text collate "und-x-icu") collate "C")`);
  }
  if (versionNumber === 1) conditions.push(tx`(campaigns.version_number is null or campaigns.version_number = 1)`);
  else if (versionNumber !== undefined) conditions.push(tx`campaigns.version_number = ${versionNumber}`);
  return conditions;
}

function ownConditions(tx: Queryable, { workspaceId, selection }: FoundCampaigns): Condition[] {
  const { ids, statuses, createdFrom, createdBefore, versions } = selection;
  const conditions = wordConditions(tx, { column: tx`campaigns.status`, words: campaignStatuses, asked: statuses });
  if (createdFrom) conditions.push(tx`campaigns.created_at >= ${createdFrom}`);
  if (createdBefore) conditions.push(tx`campaigns.created_at < ${createdBefore}`);
  if (ids && versions === 'every') conditions.push(oneOf(tx, tx`campaigns.id`, ids));
  if (versions === 'newest') {
    // The id of the first version is the campaign's own id.
    if (ids) conditions.push(tx`(campaigns.id = any(${ids}) or campaigns.version_of = any(${ids}))`);
    // Evaluated once per statement, in campaigns_versions: it holds only campaigns that were revised.
    conditions.push(tx`(campaigns.version_number is null or campaigns.id not in (
      select older.id from campaigns as older
      join campaigns as newer
        on newer.workspace_id = older.workspace_id and newer.campaign_id = older.campaign_id
          and newer.version_number > older.version_number
      where older.workspace_id = ${workspaceId} and older.version_number is not null
        and newer.version_number is not null
    ))`);
  }
  return conditions;
}

function childConditions(tx: Queryable, selection: CampaignSelection): Condition[] {
  const { ids, statuses, createdFrom, createdBefore } = selection;
  const column = tx`case runs.status when 'QUEUED' then 'SCHEDULED' else runs.status end`;
  const conditions = wordConditions(tx, { column, words: campaignStatuses, asked: statuses });
  if (createdFrom) conditions.push(tx`runs.created_at >= ${createdFrom}`);
  if (createdBefore) conditions.push(tx`runs.created_at < ${createdBefore}`);
  if (ids) conditions.push(oneOf(tx, tx`runs.id`, ids));
  return conditions;
}

type Words = { column: Condition; words: readonly string[]; asked: readonly string[] };

/**
 * Returns the conditions for a column with few words. Whether most or few of them are requested, the form of the
 * condition shows the planner whether a small index of rare words holds all that is requested.
 */
function wordConditions(tx: Queryable, { column, words, asked }: Words): Condition[] {
  const left = words.filter((word) => !asked.includes(word));
  if (asked.length > 1 && left.length <= 2) return left.map((word) => tx`${column} <> ${word}`);
  return [oneOf(tx, column, asked)];
}

/** With one value, the order of an index after that column is the order of the page. */
function oneOf(tx: Queryable, column: Condition, values: readonly string[]) {
  return values.length === 1 ? tx`${column} = ${values[0]!}` : tx`${column} = any(${[...values]})`;
}

/** A campaign as search returns it. JSON columns are as they were written; drafts may lack any member. */
export type CampaignRecord = {
  /** The document's own id; for a child the run's id. */
  id: string;
  /** The id that all versions share; for a child its parent's id. */
  campaignId: string;
  kind: FoundCampaign['kind'];
  versionNumber: number | null;
  name: string;
  channel: CampaignChannel;
  deliveryType: CampaignDeliveryType;
  /** A value of `campaigns.status`; for a child one of `runs.status`. */
  status: string;
  /** Why it failed, is paused, was stopped or was missed. */
  statusReason: string | null;
  /** For a child, the occurrence it was created for; for a failed campaign, the occurrence that was missed. */
  plannedAt: Date | null;
  createdBy: string;
  createdAt: Date;
  updatedAt: Date;
  /** When its newest run began to send. */
  sentAt: Date | null;
  audience: 'ALL_USERS' | 'SEGMENT' | 'USER';
  segmentId: string | null;
  segmentName: string | null;
  platforms: Platform[];
  tags: string[];
  content: Record<string, unknown>;
  timing: Record<string, unknown>;
  /** As the client sent them to the campaign API; null for the push API. */
  parts: CampaignParts | null;
  updatedBy: string | null;
  conversionGoals: unknown;
  settings: Record<string, unknown>;
};

/**
 * Returns the records of a page, in its order. Indexes: primary keys of campaigns, runs and segments, runs_campaign.
 */
export async function readCampaignRecords(tx: Queryable, page: readonly FoundCampaign[]): Promise<CampaignRecord[]> {
  if (page.length === 0) return [];
  return tx<CampaignRecord[]>`
    select page.id, campaigns.campaign_id as "campaignId", page.kind, campaigns.version_number as "versionNumber",
      campaigns.name, campaigns.channel, campaigns.delivery_type as "deliveryType",
      coalesce(run.status, campaigns.status) as status,
      case when run.id is null then campaigns.status_reason else run.status_reason end as "statusReason",
      case when run.id is not null then coalesce(run.moment, run.due_at)
        when campaigns.status = 'FAILED' then (
          select missed.moment from runs as missed
          where missed.campaign_id = campaigns.id and missed.status = 'MISSED'
          order by missed.created_at desc limit 1
        ) end as "plannedAt",
      campaigns.created_by as "createdBy",
      coalesce(run.created_at, campaigns.created_at) as "createdAt",
      coalesce(run.ended_at, run.started_at, run.created_at, campaigns.updated_at) as "updatedAt",
      case when run.id is not null then run.started_at else coalesce(campaigns.imported_sent_at, (
        select runs.started_at from runs
        where runs.campaign_id = campaigns.id and runs.started_at is not null
        order by runs.created_at desc limit 1
      )) end as "sentAt",
      campaigns.audience, campaigns.segment_id as "segmentId", segments.name as "segmentName", campaigns.platforms,
      campaigns.tags, coalesce(run.content, campaigns.content) as content, campaigns.timing,
      campaigns.conversion_goals as "conversionGoals", campaigns.settings, campaigns.parts,
      campaigns.updated_by as "updatedBy"
    from unnest(${page.map(({ kind }) => kind)}::text[], ${page.map(({ id }) => id)}::text[])
      with ordinality as page (kind, id, place)
    left join runs as run on page.kind = 'EXECUTION' and run.id = page.id
    join campaigns on campaigns.id = coalesce(run.campaign_id, page.id)
    left join segments on segments.id = campaigns.segment_id
    order by page.place`;
}

/** True if the document is a campaign of the workspace. Index: primary key. */
export async function hasCampaign(
  tx: Queryable,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<boolean> {
  const rows = await tx`select 1 from campaigns where id = ${id} and workspace_id = ${workspaceId} and not is_test`;
  return rows.length === 1;
}

export type SearchSettings = { versioning: 'on' | 'off'; v1Answer: 'object' | 'array' };

/** Returns the search settings of a workspace. Index: primary key. */
export async function findSearchSettings(tx: Queryable, workspaceId: string): Promise<SearchSettings> {
  const [row] = await tx<SearchSettings[]>`
    select case when campaign_versioning then 'on' else 'off' end as versioning,
      case when v1_search_bare_array then 'array' else 'object' end as "v1Answer"
    from workspaces where id = ${workspaceId}`;
  return row!;
}

/** The figures that a list shows for a campaign or one of its runs. */
export type ListedFigures = {
  id: string;
  /** Number of runs included. */
  runs: number;
  /** True if there are more runs; the figures are of the newest ones. */
  hasMoreRuns: boolean;
  /** Devices of the newest run whose audience was counted. */
  reachableDevices: number | null;
  /** Devices, each once per run: those that were tried, and those of them for which a provider accepted the message. */
  attempted: number;
  accepted: number;
  /** Each message once. */
  shown: number;
  clicked: number;
};

/**
 * Limits of the runs included. A push to named users is a run of a few rows, and a campaign may have a million of them.
 * A run to an audience has up to 256 rows per outcome. With these limits, fifteen campaigns with the maximum of both
 * kinds take 0.3 s on two busy cores.
 */
export const maxListedRuns = 1_000;
export const maxListedAudienceRuns = 7;
const audienceLane = 1;

/**
 * Returns the figures of the campaigns on a page that have runs, in no order. Finds the runs first, separately, and
 * joins them with the sharded tables. Indexes: runs_campaign, one lookup per campaign; primary keys of runs, run_counts
 * and run_interactions.
 */
export async function readListedFigures(tx: Queryable, page: readonly FoundCampaign[]): Promise<ListedFigures[]> {
  if (page.length === 0) return [];
  return selectListedFigures(tx, page);
}

/** The statement of readListedFigures; a test checks its plan. */
export function selectListedFigures(tx: Queryable, page: readonly FoundCampaign[]) {
  const idsOf = (kind: FoundCampaign['kind']) => page.filter((found) => found.kind === kind).map(({ id }) => id);
  return tx<ListedFigures[]>`
    with newest as materialized (
      select asked.id as listed_id, run.id, run.audience_devices, run.place, run.audience_place
      from unnest(${idsOf('CAMPAIGN')}::text[]) as asked (id), lateral (
        select own.id, own.audience_devices, row_number() over (order by own.created_at desc) as place,
          case when own.lane = ${audienceLane}
            then row_number() over (partition by own.lane order by own.created_at desc) else 0 end as audience_place
        from (
          select runs.id, runs.lane, runs.audience_devices, runs.created_at from runs
          where runs.campaign_id = asked.id order by runs.created_at desc limit ${maxListedRuns + 1}
        ) as own
      ) as run
      union all
      select runs.id, runs.id, runs.audience_devices, 1, 1 from runs where runs.id = any(${idsOf('EXECUTION')})
    ), looked as materialized (
      select listed_id, id from newest
      where place <= ${maxListedRuns} and audience_place <= ${maxListedAudienceRuns}
    ), counted as materialized (
      select looked.listed_id, sum(run_counts.devices) filter (where run_counts.outcome <> 'WITHHELD') as attempted,
        sum(run_counts.devices) filter (where run_counts.outcome = 'ACCEPTED') as accepted
      from looked join run_counts on run_counts.run_id = looked.id
      group by looked.listed_id
    ), reported as materialized (
      select looked.listed_id,
        sum(run_interactions.messages) filter (where run_interactions.kind = 'IMPRESSION') as shown,
        sum(run_interactions.messages) filter (where run_interactions.kind = 'CLICK') as clicked
      from looked join run_interactions on run_interactions.run_id = looked.id
      group by looked.listed_id
    ), listed as materialized (
      select listed_id, count(*) as found,
        (array_agg(audience_devices order by place) filter (where audience_devices is not null))[1] as reachable
      from newest group by listed_id
    ), sizes as materialized (
      select listed_id, count(*) as runs from looked group by listed_id
    )
    select listed.listed_id as id, sizes.runs, listed.found > sizes.runs as "hasMoreRuns",
      listed.reachable as "reachableDevices", coalesce(counted.attempted, 0)::bigint as attempted,
      coalesce(counted.accepted, 0)::bigint as accepted, coalesce(reported.shown, 0)::bigint as shown,
      coalesce(reported.clicked, 0)::bigint as clicked
    from listed
    join sizes on sizes.listed_id = listed.listed_id
    left join counted on counted.listed_id = listed.listed_id
    left join reported on reported.listed_id = listed.listed_id`;
}
