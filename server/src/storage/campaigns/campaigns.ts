import type { CampaignStatus } from '../../domain/campaigns/campaign.ts';
import type { ConversionGoal } from '../../domain/campaigns/conversions.ts';
import type { DeliverySettings } from '../../domain/campaigns/delivery-settings.ts';
import type { CampaignContent, Platform } from '../../domain/content/content.ts';
import { campaignRequestIdHours } from '../../domain/limits/campaigns.ts';
import type { UserSelector } from '../../domain/push.ts';
import type { StoredTiming, Timing } from '../../domain/timing/timing.ts';
import { sendWithReceipt } from '../database.ts';
import type { Queryable, Database } from '../database.ts';
import type { StoredClaim } from '../runs/runs.ts';

export type NewCampaign = {
  id: string;
  workspaceId: string;
  name: string;
  audience: 'ALL_USERS' | 'SEGMENT' | 'USER';
  /** Audience `SEGMENT` only. */
  segmentId: string | null;
  /** For audience `USER` that is sent later: selects the users at that time. */
  targetSelector: UserSelector | null;
  platforms: Platform[];
  content: CampaignContent;
  timing: Timing;
  deliveryType: 'ONE_TIME' | 'PERIODIC';
  status: 'SENDING' | 'SCHEDULED' | 'ACTIVE';
  /** The first occurrence of a campaign that is sent later. */
  nextAt: Date | null;
  tags: string[];
  conversionGoals: ConversionGoal[];
  settings: DeliverySettings;
  createdBy: string;
  createdAt: Date;
};

/** Inserts campaigns of the push API in one statement. The caller has already reserved their names. */
export async function insertCampaigns(tx: Queryable, campaigns: NewCampaign[]): Promise<void> {
  if (campaigns.length === 0) return;
  const rows = campaigns.map((campaign) => ({
    id: campaign.id,
    workspace_id: campaign.workspaceId,
    name: campaign.name,
    source: 'PUSH_API',
    delivery_type: campaign.deliveryType,
    audience: campaign.audience,
    segment_id: campaign.segmentId,
    target_selector: campaign.targetSelector && tx.json(campaign.targetSelector),
    platforms: campaign.platforms,
    content: tx.json(campaign.content),
    timing: tx.json(campaign.timing),
    tags: campaign.tags,
    conversion_goals: tx.json(campaign.conversionGoals),
    settings: tx.json(campaign.settings),
    status: campaign.status,
    next_at: campaign.nextAt,
    created_by: campaign.createdBy,
    created_at: campaign.createdAt,
    updated_at: campaign.createdAt,
  }));
  await tx`insert into campaigns ${tx(rows)}`;
}

export type StoredCampaign = {
  id: string;
  audience: 'ALL_USERS' | 'SEGMENT' | 'USER';
  platforms: Platform[];
  settings: Record<string, unknown>;
  timing: StoredTiming;
  /** True if a request that joins the campaign makes it send again. */
  hasEnded: boolean;
};

/** Finds the campaign that owns a name. */
export async function findCampaignByName(
  tx: Queryable,
  { workspaceId, name }: { workspaceId: string; name: string },
): Promise<StoredCampaign | undefined> {
  const [campaign] = await findCampaignsByNames(tx, [{ workspaceId, name }]);
  return campaign;
}

/**
 * Finds the campaigns that own several names, in the order of `asked`. Concurrent requests mostly join a few campaigns,
 * so each name is looked up once. Indexes: campaign_names key, campaigns primary key, one lookup per name.
 */
export async function findCampaignsByNames(
  tx: Queryable,
  asked: readonly { workspaceId: string; name: string }[],
): Promise<(StoredCampaign | undefined)[]> {
  const names = [...new Map(asked.map((name) => [`${name.workspaceId}|${name.name}`, name])).values()];
  const rows = await tx<(StoredCampaign & { place: number })[]>`
    select asked.place::int as place, campaigns.id, campaigns.audience, campaigns.platforms, campaigns.settings,
      campaigns.timing, campaigns.status in ('SENT', 'FAILED') as "hasEnded"
    from unnest(${names.map(({ workspaceId }) => workspaceId)}::text[], ${names.map(({ name }) => name)}::text[])
      with ordinality as asked (workspace_id, name, place)
    join campaign_names on campaign_names.workspace_id = asked.workspace_id collate "C"
      and campaign_names.name = asked.name collate "C"
    join campaigns on campaigns.id = campaign_names.campaign_id`;
  const found = new Map(
    rows.map(({ place, ...campaign }) => [`${names[place - 1]!.workspaceId}|${names[place - 1]!.name}`, campaign]),
  );
  return asked.map(({ workspaceId, name }) => found.get(`${workspaceId}|${name}`));
}

/** A campaign of audience `USER` that a request joins. */
export type JoinedCampaign = { id: string; status: CampaignStatus; nextAt: Date | null };

// A campaign that ends between the two statements is joined again; it would have to end each time.
const maxJoins = 5;

/**
 * Joins requests to these campaigns: makes the ended ones send again, then locks all of them for sharing, so that none
 * is stopped, ended or fired before the caller's transaction has stored its requests. A campaign that ends between the
 * two statements, or before the first without the caller's knowledge, is not locked by the second, and is joined again.
 * Locks rows in id order each time, so that two batches never deadlock; the stronger lock first. Index: primary key.
 *
 * @param asked `endedIds`: those that had ended when the caller looked them up
 */
export async function joinCampaigns(
  tx: Queryable,
  { ids, endedIds, at }: { ids: string[]; endedIds: string[]; at: Date },
): Promise<JoinedCampaign[]> {
  const joined: JoinedCampaign[] = [];
  let [left, ended] = [ids, endedIds];
  for (let tries = 1; left.length > 0; tries += 1) {
    if (ended.length > 0) await reopenCampaigns(tx, { ids: ended, at });
    const locked = await lockJoined(tx, { ids: left, isLastTry: tries === maxJoins });
    joined.push(...locked);
    left = left.filter((id) => tries < maxJoins && !locked.some((campaign) => campaign.id === id));
    ended = left;
  }
  return joined;
}

async function reopenCampaigns(tx: Queryable, { ids, at }: { ids: string[]; at: Date }): Promise<void> {
  await tx`
    with joined as (
      select id from campaigns
      where id = any(${ids}) and status in ('SENT', 'FAILED') and delivery_type = 'ONE_TIME'
      order by id for update
    )
    update campaigns set status = 'SENDING', status_reason = null, updated_at = ${at}
    from joined where campaigns.id = joined.id`;
}

async function lockJoined(
  tx: Queryable,
  { ids, isLastTry }: { ids: string[]; isLastTry: boolean },
): Promise<JoinedCampaign[]> {
  return tx<JoinedCampaign[]>`
    select id, status, next_at as "nextAt" from campaigns
    where id = any(${ids}) and (${isLastTry} or status not in ('SENT', 'FAILED') or delivery_type <> 'ONE_TIME')
    order by id for share`;
}

export type CampaignName = { workspaceId: string; name: string; campaignId: string };

/**
 * Reserves names for campaigns that follow in the same transaction. A name that is already in use, or requested twice
 * in one call, belongs to one campaign only; the table decides, so two nodes cannot both win. Inserts names in order,
 * so that two batches never deadlock.
 *
 * @returns the ids of the campaigns whose name was free
 */
export async function takeCampaignNames(tx: Queryable, names: CampaignName[]): Promise<Set<string>> {
  if (names.length === 0) return new Set();
  const sorted = [...names].sort((a, b) => (`${a.workspaceId}|${a.name}` < `${b.workspaceId}|${b.name}` ? -1 : 1));
  const rows = await tx<{ campaignId: string }[]>`
    insert into campaign_names (workspace_id, name, campaign_id)
    select taken.workspace_id, taken.name, taken.campaign_id
    from unnest(
      ${sorted.map((row) => row.workspaceId)}::text[], ${sorted.map((row) => row.name)}::text[],
      ${sorted.map((row) => row.campaignId)}::text[]
    ) as taken (workspace_id, name, campaign_id)
    on conflict (workspace_id, name) do nothing
    returning campaign_id as "campaignId"`;
  return new Set(rows.map((row) => row.campaignId));
}

/**
 * Reserves a request id for an hour (fact 6.1), in the caller's transaction: a call that fails leaves the id free. A
 * second call with the same id waits for the transaction of the first one. Index: primary key.
 *
 * @returns true if the id was free
 */
export async function takeCampaignRequestId(
  tx: Queryable,
  taken: { workspaceId: string; operation: string; requestId: string; at: Date },
): Promise<boolean> {
  const rows = await tx`
    insert into campaign_request_ids (workspace_id, operation, request_id, used_at)
    values (${taken.workspaceId}, ${taken.operation}, ${taken.requestId}, ${taken.at})
    on conflict (workspace_id, operation, request_id) do update
      set used_at = excluded.used_at
      where campaign_request_ids.used_at <= excluded.used_at - ${campaignRequestIdHours}::int * interval '1 hour'
    returning 1`;
  return rows.length === 1;
}

/** Deletes request ids used before `before`, at most 10,000 per call, so that the job stays short. Index: used_at. */
export async function deleteOldCampaignRequestIds(tx: Queryable, before: Date): Promise<number> {
  const rows = await tx`
    delete from campaign_request_ids
    where (workspace_id, operation, request_id) in (
      select workspace_id, operation, request_id from campaign_request_ids where used_at < ${before} limit 10000
    )`;
  return rows.count;
}

export type CampaignSummary = {
  id: string;
  name: string;
  deliveryType: 'ONE_TIME' | 'PERIODIC' | 'EVENT_TRIGGERED' | 'BUSINESS_EVENT_TRIGGERED';
  audience: 'ALL_USERS' | 'SEGMENT' | 'USER';
  status: CampaignStatus;
  statusReason: string | null;
  timing: StoredTiming;
  nextAt: Date | null;
  createdAt: Date;
  createdBy: string;
};

const columns = (tx: Queryable) => tx`
  id, name, delivery_type as "deliveryType", audience, status, status_reason as "statusReason", timing,
  next_at as "nextAt", created_at as "createdAt", created_by as "createdBy"`;

type Identified = { workspaceId: string; id: string };

/** Index: primary key. */
export async function findCampaignSummary(
  tx: Queryable,
  { workspaceId, id }: Identified,
): Promise<CampaignSummary | undefined> {
  const [campaign] = await tx<CampaignSummary[]>`
    select ${columns(tx)} from campaigns where id = ${id} and workspace_id = ${workspaceId} and not is_test`;
  return campaign;
}

/** Lists campaigns, newest first. Index: campaigns_newest. */
export async function listCampaignSummaries(
  tx: Queryable,
  { workspaceId, limit }: { workspaceId: string; limit: number },
): Promise<CampaignSummary[]> {
  return tx<CampaignSummary[]>`
    select ${columns(tx)} from campaigns
    where workspace_id = ${workspaceId} and not is_test order by created_at desc, id desc limit ${limit}`;
}

export type CampaignMove = Identified & {
  from: CampaignStatus;
  to: CampaignStatus;
  reason: string | null;
  nextAt: Date | null;
  at: Date;
};

/**
 * Moves a campaign from one status to another. Index: primary key.
 *
 * @returns false if its status has changed meanwhile
 */
export async function moveCampaign(tx: Queryable, move: CampaignMove): Promise<boolean> {
  const rows = await tx`
    update campaigns
    set status = ${move.to}, status_reason = ${move.reason}, next_at = ${move.nextAt}, updated_at = ${move.at}
    where id = ${move.id} and workspace_id = ${move.workspaceId} and status = ${move.from}
    returning 1`;
  return rows.length === 1;
}

export type PushRequest = {
  responseId: string;
  workspaceId: string;
  requestId: string;
  campaignId: string;
  /** Null: the campaign is sent later. */
  runId: string | null;
  receivedAt: Date;
};

/** Stores the requests acknowledged to callers, in one statement whose text is the same for any number of them. */
export async function insertPushRequests(tx: Queryable, requests: PushRequest[]): Promise<void> {
  if (requests.length === 0) return;
  await tx`
    insert into push_requests (response_id, workspace_id, request_id, campaign_id, run_id, received_at)
    select * from unnest(
      ${requests.map(({ responseId }) => responseId)}::uuid[], ${requests.map(({ workspaceId }) => workspaceId)}::text[],
      ${requests.map(({ requestId }) => requestId)}::text[], ${requests.map(({ campaignId }) => campaignId)}::text[],
      ${requests.map(({ runId }) => runId)}::text[], ${requests.map(({ receivedAt }) => receivedAt)}::timestamptz[]
    )`;
}

export type JoiningPush = {
  runId: string;
  responseId: string;
  requestId: string;
  workspaceId: string;
  campaignId: string;
  /** At least one. */
  targetUsers: [bucket: number, userId: string][];
  content: CampaignContent;
  audienceBound: string;
  at: Date;
  sendUntil: Date;
  /** The claim of the node that sends the run as soon as it is stored. */
  claim: StoredClaim | undefined;
};

/**
 * Stores requests that join campaigns which are sending: runs to named users with a chunk each, and the acknowledged
 * requests. Does so in one statement with its receipt, and so in one round trip: the cost is in the message and the
 * statement, not in the row. Locks the campaigns for sharing in id order, like `joinCampaigns`. Stores nothing for a
 * campaign that is not sending. Indexes: campaigns primary key.
 *
 * @returns the ids of the campaigns whose requests are stored
 */
export async function joinSendingCampaigns(
  database: Database,
  pushes: readonly JoiningPush[],
): Promise<ReadonlySet<string>> {
  const runIds = pushes.map(({ runId }) => runId);
  const rows = await sendWithReceipt<{ campaignId: string }[]>(database, {
    statement: ({ poolId, number }) => database`
      with receipt as (
        insert into transaction_receipts (pool_id, number, is_stored) values (${poolId}, ${number}, true)
      ), joined as materialized (
        select id from campaigns
        where id = any(${[...new Set(pushes.map(({ campaignId }) => campaignId))]}::text[]) and status = 'SENDING'
        order by id for share
      ), asked as materialized (
        select asked.*
        from unnest(
          ${runIds}::text[], ${pushes.map(({ workspaceId }) => workspaceId)}::text[],
          ${pushes.map(({ campaignId }) => campaignId)}::text[], ${pushes.map(({ content }) => JSON.stringify(content))}::text[],
          ${pushes.map(({ targetUsers }) => JSON.stringify(targetUsers))}::text[],
          ${pushes.map(({ targetUsers }) => targetUsers.length)}::int[],
          ${pushes.map(({ audienceBound }) => audienceBound)}::text[], ${pushes.map(({ at }) => at)}::timestamptz[],
          ${pushes.map(({ sendUntil }) => sendUntil)}::timestamptz[], ${pushes.map(({ responseId }) => responseId)}::uuid[],
          ${pushes.map(({ requestId }) => requestId)}::text[], ${pushes.map(({ claim }) => claim?.owner ?? null)}::text[],
          ${pushes.map(({ claim }) => claim?.leaseUntil ?? null)}::timestamptz[]
        ) as asked (
          run_id, workspace_id, campaign_id, content, target_users, users, audience_bound, at, send_until, response_id, request_id,
          owner, lease_until
        )
        join joined on joined.id = asked.campaign_id collate "C"
      ), run as (
        insert into runs (
          id, workspace_id, campaign_id, lane, status, content, target_users, audience_bound, audience_users, day, send_until,
          created_at, started_at
        )
        select run_id, workspace_id, campaign_id, 0, 'SENDING', content::jsonb, target_users::jsonb, audience_bound, users,
          (at at time zone 'UTC')::date, send_until, at, at
        from asked
      ), chunk as (
        insert into chunks (
          run_id, number, workspace_id, lane, bucket_from, bucket_to, state, owner, attempt, lease_until, not_before, created_at
        )
        select run_id, 0, workspace_id, 0, 0, 255, case when owner is null then 'READY' else 'CLAIMED' end, owner,
          (owner is not null)::int, lease_until, at, at
        from asked
      ), promise as (
        insert into push_requests (response_id, workspace_id, request_id, campaign_id, run_id, received_at)
        select response_id, workspace_id, request_id, campaign_id, run_id, at from asked
      )
      select id as "campaignId" from joined`,
    readBack: () => database`select distinct campaign_id as "campaignId" from runs where id = any(${runIds}::text[])`,
  });
  return new Set(rows.map(({ campaignId }) => campaignId));
}
