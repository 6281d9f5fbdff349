import { writeFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { recordInteractions } from '../../src/app/interactions.ts';
import type { ReceivedReport } from '../../src/app/interactions.ts';
import { openReportFile, requestReportFile } from '../../src/app/report-files.ts';
import { readCampaignStats } from '../../src/app/stats.ts';
import { changeWorkspace, parseControls } from '../../src/app/workspaces.ts';
import { attributionTypes } from '../../src/domain/campaigns/conversions.ts';
import type { AttributionType } from '../../src/domain/campaigns/conversions.ts';
import { reportDigest } from '../../src/domain/events/interactions.ts';
import { drawBeta, learnedShares, makeUniform, shareUnits } from '../../src/domain/experiments/learning.ts';
import { makeVariationOf } from '../../src/domain/experiments/variants.ts';
import { makeWriteReportFiles } from '../../src/engine/report-files.ts';
import { presentStats } from '../../src/http/stats/stats.ts';
import { makeReadReport } from '../../src/start/node/engine.ts';
import { inTransaction } from '../../src/storage/database.ts';
import type { Transaction } from '../../src/storage/database.ts';
import { makeEventStreamBundle } from '../event-streams/event-stream-bundle.ts';
import type { EventStreamBundle } from '../event-streams/event-stream-bundle.ts';
import { isFull, isLarge, proofSize } from '../full-test.ts';
import { contentIn, shares } from './variation-bundle.ts';

type Sent = { bucket: number; runId: string; deviceId: string; variation: number; locale: number };

type Counted = Record<string, number>;

type User = { customer: string; isReached: boolean; group: string | null; variation: number; hasBought: boolean };

describe('figures', () => {
  const phones = proofSize({ short: 1_000, full: 20_000, large: 100_000 });
  const percents = [40, 30, 20, 10];
  const locales = ['default', 'de', 'pt'];
  const hour = 3_600_000;

  /** Every block of figures that there is: of each locale, and of all, each variation, and all. */
  const blocks = [null, ...locales].flatMap((locale) => [0, 1, 2, 3, 4].map((variation) => ({ locale, variation })));
  type Block = (typeof blocks)[number];
  const nameOf = ({ locale, variation }: Block) =>
    `${locale ?? 'all_locales'} ${variation === 0 ? 'all_variations' : `variation_${variation}`}`;

  let bundle: EventStreamBundle;
  let campaignId: string;
  beforeAll(async () => {
    bundle = await makeEventStreamBundle();
    await bundle.addPhones(phones);
    await bundle.database`
      update users set attributes = case (substring(customer_id from 6))::int % 3 when 0 then '{"locale": "pt_BR"}'::jsonb
        when 1 then '{"locale": "de"}' else '{"locale": "fr"}' end`;
    await bundle.database`update devices set state = 'OPTED_OUT' where (substring(push_id from 11))::int % 50 = 1`;
    await changeWorkspace(bundle, {
      id: bundle.workspaceId,
      ...parseControls({ controlGroup: '10' } as never),
    } as never);
    await bundle.addStream();
    campaignId = await bundle.live({
      campaign_content: {
        locales,
        variation_details: shares(...percents),
        content: contentIn(locales, percents.length),
      },
      control_group_details: {
        ...{ is_campaign_control_group_enabled: true, campaign_control_group_percentage: 5 },
        is_global_control_group_enabled: true,
      },
      conversion_goal_details: {
        attribution_window_in_hours: 24,
        goals: [
          { goal_name: 'Bought', goal_event_name: 'Bought', revenue_attribute: 'price', revenue_currency: 'EUR' },
        ],
      },
    });
    await bundle.database`analyze users, devices`;
  }, 600_000);
  afterAll(() => bundle.end());

  const slow = { timeout: 900_000 };

  test(
    `a campaign to ${phones} users in three locales, four variations and two control groups is sent`,
    slow,
    async () => {
      bundle.answer((_device, nth) =>
        nth % 17 === 0
          ? { kind: 'gone', code: 'UNREGISTERED' }
          : nth % 19 === 0
            ? { kind: 'rejected', code: 'TOO_BIG', detail: '' }
            : { kind: 'accepted' },
      );
      await bundle.deliver();
      await bundle.database`analyze deliveries, devices`;
      const [row] = await bundle.database`
        select count(*) as rows from readable_deliveries where campaign_id = ${campaignId} and outcome <> 'WAITING'`;
      expect(row).toEqual({ rows: phones - Math.ceil((phones - 1) / 50) });
    },
  );

  test('its devices report', slow, async () => {
    expect(await report({ kind: 'impression', every: 2 })).toBeGreaterThan(phones / 4);
    bundle.clock.advance(hour);
    expect(await report({ kind: 'click', every: 5 })).toBeGreaterThan(phones / 10);
    expect(await report({ kind: 'close', every: 7 })).toBeGreaterThan(phones / 14);
    await bundle.database`analyze device_interactions`;
  });

  test('its users buy, whoever got the message and who did not', slow, async () => {
    bundle.clock.advance(hour / 4);
    await buy(50);
    // Too late for all but the click.
    bundle.clock.advance(22.9 * hour);
    await buy(100);
    await bundle.attribute();
    const [row] = await bundle.database`select count(*) as left from unattributed_events`;
    expect(row).toEqual({ left: 0 });
  });

  test('its events are posted', slow, async () => {
    await bundle.postAll();
    expect(await bundle.count('event_stream_marks')).toBe(0);
  });

  const ofBlock = ({ locale, variation }: Block) => bundle.database`
  (${locale}::text is null or deliveries.locale = ${locale}) and (${variation}::int = 0 or deliveries.variation = ${variation})`;

  const counted = new Map<string, Counted>();

  const asked = {
    ...{ requestId: 'r1', campaignIds: undefined, startDate: '2026-02-01', endDate: '2026-04-01' },
    ...{ metric: 'TOTAL' as const, offset: 0, limit: 10 },
  };

  const percent = (part: number, whole: number) =>
    whole === 0 ? undefined : Math.round((part / whole) * 10_000) / 100;

  test(
    `the statistics of ${phones} users are what is counted by hand, in every block and attribution`,
    slow,
    async () => {
      const users = await drawUsers();
      const meant = users.filter(({ isReached, group }) => isReached && group === null);
      const eligibleOf = ({ variation, locale }: Block) =>
        locale === null ? meant.filter((user) => variation === 0 || user.variation === variation) : undefined;
      for (const attribution of attributionTypes) {
        const shown = (await statsOf(attribution)).platforms.ANDROID.locales;
        for (const block of blocks) {
          const [locale, variation] = nameOf(block).split(' ');
          const {
            performance_stats: performance,
            delivery_funnel: funnel,
            ...rest
          } = shown[locale!].variations[variation!];
          const { clicked, user_devices, active_device_token, ...messages } = await countMessages(block);
          const eligible = eligibleOf(block)?.length;
          expect(performance, nameOf(block)).toEqual({
            ...messages,
            ctr: percent(messages['click']!, messages['impression']!),
            delivery_rate: percent(messages['delivered']!, messages['sent']!),
            sent_rate: percent(messages['sent']!, messages['attempted']!),
            failure_rate: percent(messages['failed']!, messages['attempted']!),
            eligible_users: eligible,
            ...(nameOf(block) === 'all_locales all_variations'
              ? {}
              : {
                  clicked_rate: percent(clicked!, messages['sent']!),
                  clicked_rate_low: expect.any(Number),
                  clicked_rate_high: expect.any(Number),
                }),
          });
          const isAll = block.locale === null && block.variation === 0;
          expect(funnel, nameOf(block)).toEqual({
            reachable_users_in_segment: isAll ? users.filter(({ isReached }) => isReached).length : undefined,
            segment_after_uninstall: isAll ? users.length : undefined,
            ...{ users_after_dup: eligible, user_devices, active_device_token, after_fc: user_devices },
            ...{ sent: messages['sent'], impressions: messages['impression'] },
          });
          const goals = await countGoals(block, attribution);
          const goal = rest.conversion_goal_stats.Bought;
          const { total, unique, revenue } = goals;
          expect(goal, `${attribution} ${nameOf(block)}`).toMatchObject({ conversions: total, total, unique, revenue });
          // Of those whom it was meant for: of TOTAL_CONVERSIONS whoever bought, whether the message arrived or not.
          const bought =
            attribution === 'TOTAL_CONVERSIONS'
              ? eligibleOf(block)?.filter(({ hasBought }) => hasBought).length
              : unique;
          expect(goal.cvr, nameOf(block)).toBe(eligible === undefined ? undefined : percent(bought!, eligible));
        }
        for (const group of ['campaign_control_group', 'global_control_group']) {
          const own = users.filter((user) => user.isReached && user.group === group);
          const { performance_stats: performance, conversion_goal_stats: goals } = shown.all_locales.variations[group];
          expect(performance).toEqual({ eligible_users: own.length });
          const bought = own.filter(({ hasBought }) => hasBought).length;
          if (attribution === 'TOTAL_CONVERSIONS') expect(goals.Bought.unique).toBe(bought);
          else expect(goals).toBeUndefined();
        }
      }
    },
  );

  test(
    'the report file says the same, and the event stream has each of these messages, clicks and users under one uuid',
    slow,
    async () => {
      const { database, clock, workspaceId } = bundle;
      const [key] = await database`
        insert into api_keys (id, workspace_id, kind, name, scopes, secret_hash, secret_hint, created_at)
        values ('0123456789abcdef01234567', ${workspaceId}, 'campaigns', 'c', '{}', sha256('c'), '', ${clock.now()})
        returning id, generation`;
      const { offset: _offset, limit: _limit, requestId: _id, ...request } = asked;
      const { name, signature } = await requestReportFile(bundle.deps, {
        ...{ workspaceId, request: { ...request, attribution: 'VIEW_THROUGH' }, key: key as never, secret: 'c' },
        once: { key: undefined, rawBody: '' },
      });
      const job = makeWriteReportFiles({ database, clock, log: bundle.log, readReport: makeReadReport(database) });
      expect(await job.runOnce(clock.now())).toBe(1);
      const pieces: Buffer[] = [];
      for await (const piece of (await openReportFile(bundle.deps, { workspaceId, name, signature })).pieces)
        pieces.push(piece);
      const { platforms } = JSON.parse(gunzipSync(Buffer.concat(pieces)).toString('utf8'));
      expect({ platforms }).toEqual(await statsOf('VIEW_THROUGH'));

      const told = new Map<string, number>();
      // The clock stands, so many windows of a bucket have one time, and are told by the mark of each: a repeat has the same uuid.
      const events = [...new Map(bundle.events().map((event) => [event.event_uuid, event])).values()];
      for (const { event_code, event_attributes: about } of events) {
        const what = `${event_code} ${about.control_group ?? `${about.locale} ${about.variation}`}`;
        told.set(what, (told.get(what) ?? 0) + 1);
      }
      const expected = new Map<string, number>();
      for (const block of blocks.filter(({ locale, variation }) => locale !== null && variation > 0)) {
        const { sent, click, closed_click } = await countMessages(block);
        const counts = {
          NOTIFICATION_RECEIVED_SVC: sent,
          NOTIFICATION_CLICKED_SVC: click,
          NOTIFICATION_CLEARED_SVC: closed_click,
        };
        for (const [code, count] of Object.entries(counts))
          if (count! > 0) expected.set(`${code} ${nameOf(block)}`, count!);
      }
      const withheld = await database<{ code: string; users: number }[]>`
        select code, count(distinct user_id) as users from readable_deliveries
        where campaign_id = ${campaignId} and outcome = 'WITHHELD' group by code`;
      for (const { code, users } of withheld) expected.set(`SVC_CAMPAIGN_CONTROL_GROUP ${code}`, users);
      expect([...told].toSorted()).toEqual([...expected].toSorted());
      await record({ events: events.length, bytes: Buffer.concat(pieces).length });
    },
  );

  // A fifth of the users is spread wider, by the square root of five.
  const tolerance = 0.01 * Math.sqrt(100_000 / phones);
  test.skipIf(!isFull)('shares are what was asked: within 1 % of 100,000 users', slow, async () => {
    const users = (await drawUsers()).filter(({ isReached }) => isReached);
    const share = (isIn: (user: User) => boolean) => users.filter(isIn).length / users.length;
    expect(Math.abs(share(({ group }) => group === 'global_control_group') - 0.1)).toBeLessThan(tolerance);
    // Of those whom the workspace's group leaves.
    expect(Math.abs(share(({ group }) => group === 'campaign_control_group') - 0.045)).toBeLessThan(tolerance);
    percents.forEach((asPercent, index) =>
      expect(Math.abs(share(({ variation }) => variation === index + 1) - asPercent / 100)).toBeLessThan(tolerance),
    );
  });

  /** Rows joined with rows by what no index knows: the planner, who takes them for few, would look at each pair. */
  function byHand<Row>(ask: (tx: Transaction) => Promise<Row[]>): Promise<Row[]> {
    return inTransaction(bundle.database, async (tx) => {
      await tx`set local enable_nestloop = off`;
      return ask(tx);
    });
  }

  /** Every so many of the phones that got the message report of it, those with an even place twice. */
  async function report({ kind, every }: { kind: 'impression' | 'click' | 'close'; every: number }): Promise<number> {
    const sent = await byHand(
      (tx) => tx<Sent[]>`
        select deliveries.bucket, run_id as "runId", deliveries.device_id as "deviceId", variation,
          array_position(${locales}::text[], deliveries.locale) as locale
        from readable_deliveries as deliveries
        join devices on devices.bucket = deliveries.bucket and devices.id = deliveries.device_id
        where campaign_id = ${campaignId} and outcome = 'ACCEPTED' and (substring(devices.push_id from 11))::int % ${every} = 0
        order by deliveries.device_id`,
    );
    const at = bundle.clock.now();
    const reports = sent.flatMap(({ variation, locale, ...message }, place): ReceivedReport[] => {
      const subject = { ...message, workspaceId: bundle.workspaceId, platform: 'ANDROID' as const };
      const names = place % 2 === 0 ? ['1', '2'] : ['1'];
      return names.map((name) => ({
        ...{ subject: { ...subject, variant: { variation, locale } }, kind, action: null, at },
        digest: reportDigest(`${kind} ${name}`),
      }));
    });
    for (let from = 0; from < reports.length; from += 1_000)
      await recordInteractions({ database: bundle.database, since: new Date(0) }, reports.slice(from, from + 1_000));
    return sent.length;
  }

  async function buy(every: number): Promise<void> {
    const customers = Array.from({ length: Math.floor(phones / every) }, (_, place) => `user-${(place + 1) * every}`);
    await bundle.track(customers, 'Bought', (customerId) => ({ price: Number(customerId.slice(5)) / 10 }));
  }

  /** What was sent and reported, from the ledger and the devices' reports, a row each. */
  async function countMessages(block: Block): Promise<Counted> {
    const known = counted.get(nameOf(block));
    if (known) return known;
    const [row] = await byHand(
      (tx) => tx<Counted[]>`
        select count(*) filter (where outcome in ('ACCEPTED', 'GONE', 'REJECTED')) as attempted,
          count(*) filter (where outcome = 'ACCEPTED') as sent,
          count(*) filter (where outcome in ('GONE', 'REJECTED')) as failed,
          count(*) filter (where outcome = 'GONE') as bounced, count(viewed.count) as delivered,
          coalesce(sum(viewed.count), 0)::int as impression, coalesce(sum(clicked.count), 0)::int as click,
          coalesce(sum(closed.count), 0)::int as closed_click, count(*) as user_devices,
          count(*) filter (where outcome <> 'GONE') as active_device_token, count(clicked.count) as clicked
        from readable_deliveries as deliveries
        left join device_interactions as viewed on viewed.bucket = deliveries.bucket
          and viewed.device_id = deliveries.device_id and viewed.kind = 'IMPRESSION'
        left join device_interactions as clicked on clicked.bucket = deliveries.bucket
          and clicked.device_id = deliveries.device_id and clicked.kind = 'CLICK'
        left join device_interactions as closed on closed.bucket = deliveries.bucket
          and closed.device_id = deliveries.device_id and closed.kind = 'CLOSE'
        where deliveries.campaign_id = ${campaignId} and ${ofBlock(block)}`,
    );
    counted.set(nameOf(block), row!);
    return row!;
  }

  /** Events that follow a message, counted from the events themselves. */
  async function countGoals(block: Block, attribution: AttributionType): Promise<Counted> {
    const { database } = bundle;
    const within = database`between events.occurred_at - interval '24 hours' and events.occurred_at`;
    const rules: Record<AttributionType, any> = {
      TOTAL_CONVERSIONS: database`deliveries.sent_at ${within}`,
      CLICK_CONVERSIONS: database`deliveries.sent_at ${within} and clicked.first_at <= events.occurred_at`,
      VIEW_THROUGH: database`viewed.first_at ${within}`,
      CLICK_THROUGH: database`clicked.first_at ${within}`,
      // Who bought within half an hour of the click; nobody does anything in between.
      IN_SESSION: database`events.occurred_at - clicked.first_at between interval '0' and interval '30 minutes'`,
    };
    const [row] = await byHand(
      (tx) => tx<Counted[]>`
        select count(*) as total, count(distinct events.user_id) as "unique",
          coalesce(sum((events.attributes ->> 'price')::numeric), 0)::float8 as revenue
        from events
        join readable_deliveries as deliveries
          on deliveries.bucket = events.bucket and deliveries.user_id = events.user_id
        left join device_interactions as viewed on viewed.bucket = deliveries.bucket
          and viewed.device_id = deliveries.device_id and viewed.kind = 'IMPRESSION'
        left join device_interactions as clicked on clicked.bucket = deliveries.bucket
          and clicked.device_id = deliveries.device_id and clicked.kind = 'CLICK'
        where deliveries.campaign_id = ${campaignId} and deliveries.outcome = 'ACCEPTED' and events.name = 'Bought'
          and ${ofBlock(block)} and ${rules[attribution]}`,
    );
    return row!;
  }

  /** Everybody, with the draws of decision 0041 made in SQL. */
  async function drawUsers(): Promise<User[]> {
    const { database } = bundle;
    const point = (name: string) => database`
    ('x' || encode(substring(sha256(convert_to(${`${name} `}::text || users.id, 'UTF8')) from 1 for 4), 'hex'))::bit(32)::bigint`;
    return byHand(
      (tx) => tx<User[]>`
        with drawn as materialized (
          select bucket, id, customer_id as customer, case
            when ${point(`global-control ${bundle.workspaceId}`)} < 10 * 4294967296 / 100 then 'global_control_group'
            when ${point(`campaign-control ${campaignId}`)} < 5 * 4294967296 / 100 then 'campaign_control_group' end as "group",
            ${point(`variation ${campaignId}`)} as point
          from users
        ), bought as materialized (
          select events.bucket, events.user_id from events
          join deliveries on deliveries.bucket = events.bucket and deliveries.user_id = decode(events.user_id, 'hex')
          where deliveries.sent_at >= events.occurred_at - interval '24 hours'
        )
        select customer, devices.state <> 'OPTED_OUT' as "isReached", "group",
          case when point < 40 * 4294967296 / 100 then 1 when point < 70 * 4294967296 / 100 then 2
            when point < 90 * 4294967296 / 100 then 3 else 4 end as variation,
          (drawn.bucket, drawn.id) in (select bucket, user_id from bought) as "hasBought"
        from drawn join devices on devices.bucket = drawn.bucket and devices.user_id = drawn.id`,
    );
  }

  async function statsOf(attribution: AttributionType): Promise<any> {
    const request = { ...asked, attribution, campaignIds: [campaignId] };
    const stats = await readCampaignStats(bundle, { ...request, workspaceId: bundle.workspaceId });
    return JSON.parse(JSON.stringify(presentStats(stats, request).data[campaignId]![0]));
  }

  /** `RECORD=1` with `FULL=1` and `LARGE=1` writes docs/reports/figures.txt. */
  async function record({ events, bytes }: { events: number; bytes: number }): Promise<void> {
    if (process.env.RECORD !== '1') return;
    const { performance_stats: shown, delivery_funnel: funnel } = (await statsOf('TOTAL_CONVERSIONS')).platforms.ANDROID
      .locales.all_locales.variations.all_variations;
    const rows = await Promise.all(
      blocks.map(async (block) => {
        const { attempted, sent, delivered, impression, click } = await countMessages(block);
        const numbers = [attempted, sent, delivered, impression, click];
        for (const attribution of attributionTypes) numbers.push((await countGoals(block, attribution))['total']!);
        return `${nameOf(block).padEnd(28)}${numbers.map((number) => String(number).padStart(10)).join('')}`;
      }),
    );
    const head = [
      'attempted',
      'sent',
      'delivered',
      'shown',
      'clicked',
      'view',
      'click',
      'session',
      'total',
      'clickconv',
    ];
    const text = [
      `FULL=1 LARGE=1 RECORD=1 npm run test:only -- server/test/experiments/figures.test.ts`,
      '',
      `${phones} users, three locales, four variations (${percents.join(', ')} %), control groups of 10 % and 5 %.`,
      'Counted by SQL in the ledger, the reports and the events; statistics, report file and event stream said the same.',
      '',
      `${''.padEnd(28)}${head.map((name) => name.padStart(10)).join('')}`,
      ...rows,
      '',
      `reachable users ${funnel.reachable_users_in_segment}, with the app ${funnel.segment_after_uninstall}, eligible ${shown.eligible_users}`,
      `events posted, by their uuids: ${events}; bytes of the report file: ${bytes}`,
      '',
    ].join('\n');
    await writeFile(new URL('../../../docs/reports/figures.txt', import.meta.url), text);
  }
});

const uniformOf = (seed: number) => makeUniform(Buffer.from(seed.toString(16).padStart(32, '5'), 'hex'));

describe('draws from a seed', () => {
  test('are the same for the same seed, and even', () => {
    const [one, same, other] = [uniformOf(1), uniformOf(1), uniformOf(2)];
    const drawn = Array.from({ length: 20_000 }, one);
    expect(drawn.slice(0, 50)).toEqual(Array.from({ length: 50 }, same));
    expect(drawn[0]).not.toBe(other());
    const tenths = new Array<number>(10).fill(0);
    for (const value of drawn) tenths[Math.floor(value * 10)]! += 1;
    for (const count of tenths) expect(Math.abs(count / drawn.length - 0.1)).toBeLessThan(0.01);
  });

  test.each([
    [1, 1],
    [3, 97],
    [51, 951],
  ])('of a beta distribution (%i, %i) have its mean and its variance', (alpha, beta) => {
    const uniform = uniformOf(7);
    const drawn = Array.from({ length: 20_000 }, () => drawBeta(uniform, { alpha, beta }));
    const mean = drawn.reduce((sum, value) => sum + value, 0) / drawn.length;
    const variance = drawn.reduce((sum, value) => sum + (value - mean) ** 2, 0) / drawn.length;
    const [wanted, spread] = [alpha / (alpha + beta), (alpha * beta) / ((alpha + beta) ** 2 * (alpha + beta + 1))];
    expect(Math.abs(mean / wanted - 1)).toBeLessThan(0.02);
    expect(Math.abs(variance / spread - 1)).toBeLessThan(0.06);
  });
});

describe('learned shares', () => {
  const arms = (...known: [successes: number, trials: number][]) =>
    known.map(([successes, trials]) => ({ successes, trials }));

  test('are whole, even before anything is known, and the same for the same seed', () => {
    const asked = { arms: arms([0, 0], [0, 0], [0, 0]), floorPercent: 5, seed: 'a' };
    const shares = learnedShares(asked);
    expect(shares.reduce((sum, share) => sum + share, 0)).toBe(shareUnits);
    for (const share of shares) expect(Math.abs(share / shareUnits - 1 / 3)).toBeLessThan(0.06);
    expect(learnedShares(asked)).toEqual(shares);
    expect(learnedShares({ ...asked, seed: 'b' })).not.toEqual(shares);
  });

  test('give the best nearly all, and each other the floor', () => {
    const known = arms([200, 10_000], [300, 10_000], [500, 10_000]);
    expect(learnedShares({ arms: known, floorPercent: 5, seed: 'a' })).toEqual([500, 500, 9_000]);
    expect(learnedShares({ arms: known, floorPercent: 0, seed: 'a' })).toEqual([0, 0, 10_000]);
    // Of as many as there can be, all at the floor.
    const nine = learnedShares({ arms: Array.from({ length: 9 }, () => known[0]!), floorPercent: 11, seed: 'a' });
    expect(Math.min(...nine)).toBeGreaterThanOrEqual(1_100);
  });

  test('hold for successes that are known before their trials', () => {
    const shares = learnedShares({ arms: arms([3, 0], [0, 3]), floorPercent: 10, seed: 'a' });
    expect(shares[0]).toBeGreaterThan(8_000);
  });

  const rates = [0.02, 0.03, 0.05];
  const sends = 50_000;

  /** A campaign over 256 buckets, four of which are on their way at once; users click when their bucket is over. */
  function simulate(seed: number): { best: number; regret: number } {
    const uniform = uniformOf(seed);
    const known = rates.map(() => ({ successes: 0, trials: 0 }));
    const late: (typeof known)[] = [];
    const got = [0, 0, 0];
    for (let bucket = 0; bucket < 256; bucket += 1) {
      const shares = learnedShares({ arms: known, floorPercent: 5, seed: `${seed} ${bucket}` });
      const variationOf = makeVariationOf(shares, `campaign ${seed}`);
      const own = rates.map(() => ({ successes: 0, trials: 0 }));
      const first = Math.floor((bucket * sends) / 256);
      for (let user = first; user < Math.floor(((bucket + 1) * sends) / 256); user += 1) {
        const arm = variationOf(String(user)) - 1;
        got[arm]! += 1;
        own[arm]!.trials += 1;
        if (uniform() < rates[arm]!) own[arm]!.successes += 1;
      }
      late.push(own);
      if (late.length < 4) continue;
      late.shift()!.forEach(({ successes, trials }, arm) => {
        known[arm]!.successes += successes;
        known[arm]!.trials += trials;
      });
    }
    const regret = got.reduce((sum, count, arm) => sum + count * (Math.max(...rates) - rates[arm]!), 0);
    return { best: got[2]! / sends, regret };
  }

  const seeds = proofSize({ short: 2, full: 20, large: 100 });
  test(`send the best of 2, 3 and 5 % to more than 60 % of 50,000, in 95 of 100 seeds (${seeds} here)`, () => {
    const runs = Array.from({ length: seeds }, (_, seed) => simulate(seed + 1));
    const good = runs.filter(({ best }) => best > 0.6).length;
    const mean = (name: 'best' | 'regret') => runs.reduce((sum, run) => sum + run[name], 0) / seeds;
    expect(good).toBeGreaterThanOrEqual(0.95 * seeds);
    // Even shares would lose 833 clicks of the 2,500 that the best could have had.
    expect(mean('regret')).toBeLessThan(400);
    if (!isLarge) return;
    // As docs/experiments.md says.
    expect([good, Math.round(mean('regret')), Math.round(mean('best') * 1_000)]).toEqual([100, 148, 880]);
  }, 900_000);
});
