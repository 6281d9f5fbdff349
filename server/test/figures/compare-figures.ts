import { attributionTypes } from '../../src/domain/campaigns/conversions.ts';
import type { AttributionType } from '../../src/domain/campaigns/conversions.ts';
import { inTransaction } from '../../src/storage/database.ts';
import type { Database, Transaction } from '../../src/storage/database.ts';

export type Comparison = { numbers: number; wrong: string[]; drawn: DrawnGroup[]; messages: BlockNumbers[] };

type Compared = {
  campaignId: string;
  event: string;
  goal: string;
  shares: Shares;
  /** What the statistics say of the campaign, by attribution. */
  statsOf: (attribution: AttributionType) => Promise<any>;
};

/** Compares every number of the statistics that can be counted by hand with its count. */
export async function compareFigures(database: Database, { statsOf, shares, ...asked }: Compared): Promise<Comparison> {
  const wrong: string[] = [];
  let numbers = 0;
  const compare = (what: string, shown: unknown, counted: unknown): void => {
    numbers += 1;
    if (shown !== counted) wrong.push(`${what}: ${JSON.stringify(shown)} is shown, ${JSON.stringify(counted)} counted`);
  };
  const messages = await countMessages(database, asked);
  const drawn = await drawUsers(database, { ...asked, ...shares });
  const off = drawn.reduce((sum, group) => sum + group.wrong, 0);
  compare('rows of the ledger that are not as drawn', off, 0);
  for (const attribution of attributionTypes) {
    const { platforms } = await statsOf(attribution);
    const goals = await countGoals(database, { ...asked, attribution });
    for (const block of messages) {
      const name = `${attribution} ${nameOf(block)}`;
      const shown = blockOf(platforms, block);
      const { platform, locale, variation, user_devices, ...counted } = block;
      for (const [member, number] of Object.entries(counted))
        compare(`${name} ${member}`, shown.performance_stats[member], number);
      compare(`${name} user_devices`, shown.delivery_funnel.user_devices, user_devices);
      const eligible = drawn
        .filter((own) => own.platform === platform && own.group === null)
        .filter((own) => variation === null || own.variation === variation)
        .reduce((sum, { users }) => sum + users, 0);
      compare(`${name} eligible_users`, shown.performance_stats.eligible_users, locale === null ? eligible : undefined);
      const reached = goals.find((own) => nameOf(own) === nameOf(block)) ?? { total: 0, unique: 0, revenue: 0 };
      for (const member of ['total', 'unique', 'revenue'] as const)
        compare(`${name} ${member}`, shown.conversion_goal_stats[asked.goal][member], reached[member]);
    }
    for (const { platform, group, users } of drawn.filter((own) => own.group !== null)) {
      const { variations } = platforms[platform.toLowerCase()].locales.all_locales;
      compare(`${platform} ${group}`, variations[group!.toLowerCase()].performance_stats.eligible_users, users);
    }
  }
  return { numbers, wrong, drawn, messages };
}

export function nameOf({ platform, locale, variation }: Block): string {
  return `${platform} ${locale ?? 'all_locales'} ${variation === null ? 'all_variations' : `variation_${variation}`}`;
}

function blockOf(platforms: any, { platform, locale, variation }: Block): any {
  const { variations } = platforms[platform.toLowerCase()].locales[locale ?? 'all_locales'];
  return variations[variation === null ? 'all_variations' : `variation_${variation}`];
}

/** Of a platform; of one locale and variation, or (null) of all. */
type Block = { platform: string; locale: string | null; variation: number | null };
type BlockNumbers = Block & Record<string, number>;

type Asked = { campaignId: string; event: string };

/** Rows joined with rows by what no index knows: the planner, who takes them for few, would look at each pair. */
function byHand<Row>(database: Database, ask: (tx: Transaction) => Promise<Row[]>): Promise<Row[]> {
  return inTransaction(database, async (tx) => {
    await tx`set local enable_nestloop = off`;
    return [...(await ask(tx))];
  });
}

const reported = (tx: Transaction, kind: string) => tx`
  left join device_interactions as ${tx(kind)} on ${tx(kind)}.bucket = deliveries.bucket
    and ${tx(kind)}.device_id = deliveries.device_id and ${tx(kind)}.run_id = deliveries.run_id and ${tx(kind)}.kind = ${kind.toUpperCase()}`;

/** What was sent and reported, from the ledger and the devices' reports, a row each; in every block at once. */
function countMessages(database: Database, { campaignId }: Asked): Promise<BlockNumbers[]> {
  return byHand(
    database,
    (tx) => tx<BlockNumbers[]>`
      select deliveries.platform, deliveries.locale, deliveries.variation,
        count(*) filter (where outcome in ('ACCEPTED', 'GONE')) as attempted,
        count(*) filter (where outcome = 'ACCEPTED') as sent, count(*) filter (where outcome = 'GONE') as bounced,
        count(impression.count) as delivered, coalesce(sum(impression.count), 0)::int as impression,
        coalesce(sum(click.count), 0)::int as click, coalesce(sum(close.count), 0)::int as closed_click,
        count(*) as user_devices
      from readable_deliveries as deliveries
      ${reported(tx, 'impression')} ${reported(tx, 'click')} ${reported(tx, 'close')}
      where deliveries.campaign_id = ${campaignId}
      group by deliveries.platform, cube (deliveries.locale, deliveries.variation)
      -- Rows of control groups are of no content, and count for all of them alone.
      having (grouping(deliveries.locale) = 1 or deliveries.locale is not null)
        and (grouping(deliveries.variation) = 1 or deliveries.variation is not null)`,
  );
}

/** Events that follow a message, counted from the events themselves. */
function countGoals(
  database: Database,
  { campaignId, event, attribution }: Asked & { attribution: AttributionType },
): Promise<BlockNumbers[]> {
  return byHand(database, (tx) => {
    const within = tx`between events.occurred_at - interval '24 hours' and events.occurred_at`;
    const rules: Record<AttributionType, any> = {
      TOTAL_CONVERSIONS: tx`deliveries.sent_at ${within}`,
      CLICK_CONVERSIONS: tx`deliveries.sent_at ${within} and click.first_at <= events.occurred_at`,
      VIEW_THROUGH: tx`impression.first_at ${within}`,
      CLICK_THROUGH: tx`click.first_at ${within}`,
      IN_SESSION: tx`events.occurred_at - click.first_at between interval '0' and interval '30 minutes'`,
    };
    return tx<BlockNumbers[]>`
      select deliveries.platform, deliveries.locale, deliveries.variation, count(*) as total,
        count(distinct events.user_id) as "unique", coalesce(sum((events.attributes ->> 'price')::numeric), 0)::float8 as revenue
      from events
      join readable_deliveries as deliveries
        on deliveries.bucket = events.bucket and deliveries.user_id = events.user_id
      ${reported(tx, 'impression')} ${reported(tx, 'click')}
      where deliveries.campaign_id = ${campaignId} and deliveries.outcome = 'ACCEPTED' and events.name = ${event}
        and ${rules[attribution]}
      group by deliveries.platform, cube (deliveries.locale, deliveries.variation)`;
  });
}

type DrawnGroup = {
  platform: string;
  group: string | null;
  /** As drawn; null of control groups. */
  variation: number | null;
  users: number;
  /** Rows of the ledger that say something else of them. */
  wrong: number;
};

type Shares = {
  workspaceId: string;
  percents: readonly number[];
  globalPercent: number;
  campaignPercent: number;
};

/** All users with a row in the ledger, with the draws of decision 0041 made in SQL, and whether the ledger has the same. */
function drawUsers(
  database: Database,
  { campaignId, workspaceId, percents, globalPercent, campaignPercent }: Asked & Shares,
): Promise<DrawnGroup[]> {
  const bounds = percents.map((_percent, index) => percents.slice(0, index + 1).reduce((sum, own) => sum + own, 0));
  return byHand(database, (tx) => {
    const point = (name: string) => tx`
      ('x' || encode(substring(sha256(convert_to(${`${name} `}::text || deliveries.user_id, 'UTF8')) from 1 for 4), 'hex'))::bit(32)::bigint`;
    return tx<DrawnGroup[]>`
      with drawn as (
        select deliveries.platform, deliveries.user_id, deliveries.variation as told, deliveries.outcome, deliveries.code,
          case when ${point(`global-control ${workspaceId}`)} < ${globalPercent}::int * 4294967296 / 100 then 'GLOBAL_CONTROL_GROUP'
            when ${point(`campaign-control ${campaignId}`)} < ${campaignPercent}::int * 4294967296 / 100
              then 'CAMPAIGN_CONTROL_GROUP' end as "group",
          (select min(number) from unnest(${bounds}::int[]) with ordinality as share (until, number)
            where ${point(`variation ${campaignId}`)} < until * 4294967296 / 100)::int as variation
        from readable_deliveries as deliveries where deliveries.campaign_id = ${campaignId}
      )
      select platform, "group", case when "group" is null then variation end as variation,
        count(distinct user_id) as users, count(*) filter (where
          case when "group" is null then told is distinct from variation or outcome = 'WITHHELD'
            else told is not null or outcome <> 'WITHHELD' or code <> "group" end) as wrong
      from drawn group by 1, 2, 3`;
  });
}
