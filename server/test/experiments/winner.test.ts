import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { winnerCommand } from '../../src/cli/commands/campaigns.ts';
import { makeEncryption } from '../../src/domain/crypto/encryption.ts';
import { winnerInBucket } from '../../src/domain/experiments/learning.ts';
import { inTransaction } from '../../src/storage/database.ts';
import { lockOpenRuns, setWinner } from '../../src/storage/campaigns/variations.ts';
import { faultsOf } from '../campaigns/authoring-bundle.ts';
import { isAnybodyWaiting } from '../is-anybody-waiting.ts';
import { propertyRuns } from '../property-runs.ts';
import { contentIn, makeVariationBundle, shares } from './variation-bundle.ts';
import type { VariationBundle } from './variation-bundle.ts';

const users = 300;
let bundle: VariationBundle;
beforeAll(async () => {
  bundle = await makeVariationBundle();
  await bundle.addPhones(users);
  // A second phone of everybody, far from the first in the order of a bucket.
  await bundle.database`
    insert into devices (workspace_id, bucket, id, user_id, device_id, platform, push_id, state, registered_at, created_at, updated_at)
    select workspace_id, bucket, '00000000' || substring(id from 9), user_id, 'second', platform, push_id || '-second', state, registered_at, created_at, updated_at
    from devices`;
});
afterAll(() => bundle.close());
beforeEach(() => {
  bundle.answer(() => ({ kind: 'accepted' }));
  bundle.sent.length = 0;
  bundle.messages.length = 0;
});

const content = (...percents: number[]) => ({
  campaign_content: {
    variation_details: shares(...percents),
    content: contentIn(['default'], percents.length),
  },
});
const daily = () => ({
  campaign_delivery_type: 'PERIODIC',
  scheduling_details: {
    delivery_type: 'AT_FIXED_TIME',
    start_time: new Date(bundle.clock.now().getTime() + 60_000).toISOString().slice(0, 19),
    periodic_details: { sending_frequency: 'DAILY', no_of_occurences: 9 },
  },
});
const goals = {
  conversion_goal_details: { goals: [{ goal_name: 'Bought', goal_event_name: 'Bought', is_primary_goal: true }] },
};

const name = (id: string, body: object) => bundle.call('PUT', `/v5/campaigns/${id}/winner`, body);
const read = async (id: string) => (await bundle.call('GET', `/v5/campaigns/${id}/winner`)).json().data;

/** What each user was sent, of all phones and attempts: titles end in the number of the variation. */
function variationsOfUsers(): Map<string, Set<number>> {
  const found = new Map<string, Set<number>>();
  bundle.sent.forEach(({ pushId }, place) => {
    const customer = pushId.replace('push-', '').replace('-second', '');
    const variation = Number(String((bundle.messages[place]!.content as { title: string }).title).at(-1));
    found.set(customer, (found.get(customer) ?? new Set()).add(variation));
  });
  return found;
}

/** The ledger beside the draw of each user, by the definition of decision 0041. */
async function drawnOf(campaignId: string, percents: number[]) {
  const rows = await bundle.database<{ userId: string; bucket: number; variation: number }[]>`
    select user_id as "userId", bucket, variation from readable_deliveries as deliveries where campaign_id = ${campaignId}`;
  const bounds = percents.map((_percent, index) => percents.slice(0, index + 1).reduce((sum, own) => sum + own, 0));
  return rows.map((row) => {
    const point = createHash('sha256').update(`variation ${campaignId} ${row.userId}`).digest().readUInt32BE(0);
    return { ...row, drawn: bounds.findIndex((bound) => point < Math.floor((bound * 2 ** 32) / 100)) + 1 };
  });
}

/** One chunk for so many buckets, as a large audience has them. */
async function splitChunk(runId: string, width: number): Promise<void> {
  await bundle.database`
    insert into chunks (run_id, number, workspace_id, lane, bucket_from, bucket_to, state, not_before, winners, created_at)
    select run_id, 1000 + start / ${width}::int, workspace_id, lane, start, start + ${width}::int - 1, state, not_before, winners, created_at
    from chunks cross join generate_series(0, 255, ${width}::int) as start where run_id = ${runId}`;
  await bundle.database`delete from chunks where run_id = ${runId} and number < 1000`;
}

describe('a winner that is named while a run is under way', () => {
  test('is for the buckets that have not begun; what a lost worker sent stays, on whatever phone of a user', async () => {
    const id = await bundle.live({ ...content(50, 30, 20), ...goals });
    while ((await bundle.release()) > 0);
    const [{ id: runId, group_users: before }] = await bundle.runs(id);
    const [run, chunk] = [await bundle.run(runId), (await bundle.claim('first'))!];
    const first = await bundle.sendWindow({ run, chunk, cursor: { bucket: 0, position: '' } });
    expect(first.kind).toBe('sent');
    // The second window is on its way when its worker is lost.
    bundle.answer(() => new Promise(() => {}));
    void bundle.sendWindow({ run, chunk, cursor: (first as unknown as { cursor: never }).cursor });
    while (bundle.sent.length < 15) await new Promise((resolve) => setTimeout(resolve, 2));
    const [{ window_bucket: last }] =
      (await bundle.database`select * from chunks where run_id = ${runId}`) as never as [any];
    expect((await name(id, { variation: 'variation_3' })).json().data).toMatchObject({ winner: 'variation_3' });
    bundle.answer(() => ({ kind: 'accepted' }));
    bundle.clock.advance(61_000);
    await Promise.all([
      bundle.work({ owner: 'second', windowDevices: 30 }),
      bundle.work({ owner: 'third', windowDevices: 35 }),
    ]);
    while ((await bundle.end()) > 0);
    expect([...variationsOfUsers().values()].filter((variations) => variations.size > 1)).toEqual([]);
    const rows = await drawnOf(id, [50, 30, 20]);
    expect(rows).toHaveLength(users * 2);
    for (const { bucket, variation, drawn } of rows) expect(variation).toBe(bucket <= last ? drawn : 3);
    expect(rows.some(({ bucket, variation }) => bucket <= last && variation !== 3)).toBe(true);
    // Whom the run was for by variation nobody knew before; whom it was for at all stays.
    const [{ group_users: after }] = await bundle.runs(id);
    const sum = (counted: { users: number }[]) => counted.reduce((all, { users: some }) => all + some, 0);
    expect(sum(after)).toBe(sum(before));
    const stats = await bundle.variations(id);
    const counted = (variation: number) => rows.filter((row) => row.variation === variation).length;
    for (const variation of [1, 2, 3]) {
      const { performance_stats: shown, conversion_goal_stats: goal } = stats[`variation_${variation}`];
      expect(shown.sent).toBe(counted(variation));
      expect(shown.eligible_users).toBeUndefined();
      expect(goal.Bought.cvr).toBeUndefined();
    }
    expect(stats.all_variations.performance_stats).toMatchObject({ sent: users * 2, eligible_users: users });
    const exported = await bundle.exported(id);
    expect(exported.filter(({ variation }) => variation === 'variation_3')).toHaveLength(counted(3));
  });

  test('before its first window is everybody’s, and counts as drawn for all of them; taken back, the shares decide', async () => {
    const id = await bundle.live(content(60, 40));
    while ((await bundle.release()) > 0);
    await name(id, { variation: 'variation_2' });
    await bundle.work({ windowDevices: 400 });
    expect(new Set([...variationsOfUsers().values()].flatMap((own) => [...own]))).toEqual(new Set([2]));
    const stats = await bundle.variations(id);
    expect(stats.variation_2.performance_stats).toMatchObject({ sent: users * 2, eligible_users: users });
    expect(stats.variation_1.performance_stats).toMatchObject({ sent: 0, eligible_users: 0 });
    while ((await bundle.end()) > 0);
    expect((await name(id, { variation: 'variation_1' })).json().error).toMatchObject({
      code: 'UNPROCESSABLE_ENTITY',
      message: 'Action WINNER is not valid for a ONE_TIME campaign that is SENT.',
    });

    const other = await bundle.live(content(60, 40));
    while ((await bundle.release()) > 0);
    await name(other, { variation: 'variation_2' });
    await bundle.call('DELETE', `/v5/campaigns/${other}/winner`);
    await bundle.work({ windowDevices: 400 });
    while ((await bundle.end()) > 0);
    for (const { variation, drawn } of await drawnOf(other, [60, 40])) expect(variation).toBe(drawn);
    expect(await read(other)).toMatchObject({ winner: null, named_at: null, named_by: null });
  });

  test('at whatever instant, while several workers send: each bucket is of one kind, in the order of the buckets', async () => {
    // Named late, it may come when everything has been sent.
    let namedInTime = 0;
    const rounds = propertyRuns(15, 3);
    for (let round = 0; round < rounds; round += 1) {
      bundle.sent.length = 0;
      bundle.messages.length = 0;
      const id = await bundle.live(content(50, 50));
      while ((await bundle.release()) > 0);
      const [{ id: runId }] = await bundle.runs(id);
      await splitChunk(runId, 32);
      const at = 60 + round * 30;
      let named: Promise<unknown> | undefined;
      bundle.answer(async (_device, nth) => {
        if (nth === at)
          named = name(id, { variation: 'variation_1' }).then(() => name(id, { variation: 'variation_2' }));
        if (nth % 40 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
        return { kind: 'accepted' };
      });
      await Promise.all([
        bundle.work({ owner: `one-${round}`, windowDevices: 20 }),
        bundle.work({ owner: `other-${round}`, windowDevices: 25 }),
      ]);
      await named;
      while ((await bundle.end()) > 0);
      expect([...variationsOfUsers().values()].filter((variations) => variations.size > 1)).toEqual([]);
      const chunks = await bundle.database`select * from chunks where run_id = ${runId}`;
      const winners = chunks
        .filter(({ winners: steps }) => steps !== null)
        .map((chunk) => ({ bucketFrom: chunk.bucket_from, bucketTo: chunk.bucket_to, steps: chunk.winners }));
      if (winners.length > 0) namedInTime += 1;
      for (const { bucket, variation, drawn } of await drawnOf(id, [50, 50]))
        expect(variation).toBe(winnerInBucket(winners, bucket) ?? drawn);
    }
    expect(namedInTime).toBeGreaterThanOrEqual(Math.ceil(rounds / 2));
  });

  test('whoever waits in a bucket that had begun gets what they were drawn for', async () => {
    const id = await bundle.live(content(50, 50));
    while ((await bundle.release()) > 0);
    bundle.answer(() => ({ kind: 'wait', code: 'UNAVAILABLE', scope: 'device', retryAfterSeconds: 60 }));
    await bundle.work({ windowDevices: 400 });
    await name(id, { variation: 'variation_2' });
    bundle.answer(() => ({ kind: 'accepted' }));
    bundle.clock.advance(600_000);
    while ((await bundle.retry()) > 0);
    while ((await bundle.end()) > 0);
    const rows = await drawnOf(id, [50, 50]);
    expect(new Set(rows.map(({ variation }) => variation)).size).toBe(2);
    for (const { variation, drawn } of rows) expect(variation).toBe(drawn);
    expect([...variationsOfUsers().values()].filter((variations) => variations.size > 1)).toEqual([]);
  });
});

describe('a winner of a recurring campaign', () => {
  const runNow = async () => {
    bundle.clock.advance(24 * 3_600_000);
    while ((await bundle.fire()) > 0);
    await bundle.deliver();
    return variationsOfUsers();
  };
  const seen = (sent: Map<string, Set<number>>) => new Set([...sent.values()].flatMap((own) => [...own]));

  test('is everybody’s in later runs, also of whom another was; a change of the shares ends it', async () => {
    const id = await bundle.live({ ...content(70, 30), ...daily() });
    bundle.clock.advance(120_000 - 24 * 3_600_000);
    expect(seen(await runNow())).toEqual(new Set([1, 2]));
    await name(id, { variation: 'variation_2' });
    expect(seen(await runNow())).toEqual(new Set([2]));
    const stats = await bundle.variations(id);
    // Both runs were drawn before they began: the first by its shares, the second whole.
    const firstOf = await bundle.runs(id);
    const [drawn] = firstOf[0].group_users.filter((row: any) => row.variation === 1);
    expect(stats.variation_1.performance_stats.eligible_users).toBe(drawn.users);
    expect(stats.variation_2.performance_stats.eligible_users).toBe(2 * users - drawn.users);
    const change = { request_id: 'r1', updated_by: 'ada@example.com' };
    const words = {
      content: { default: { variation_2: { push: { android: { basic_details: { title: 'new 2' } } } } } },
    };
    expect((await bundle.call('PATCH', `/v1/campaigns/${id}`, { ...change, campaign_content: words })).statusCode).toBe(
      204,
    );
    expect(await read(id)).toMatchObject({ winner: 'variation_2', named_by: 'Key campaigns' });
    const percents = { variation_details: shares(60, 40) };
    const again = { ...change, request_id: 'r2', campaign_content: percents };
    expect((await bundle.call('PATCH', `/v1/campaigns/${id}`, again)).statusCode).toBe(204);
    expect(await read(id)).toMatchObject({ winner: null });
    expect(seen(await runNow())).toEqual(new Set([1, 2]));
  });

  test('goes on in a version with the same shares', async () => {
    await bundle.database`update workspaces set campaign_versioning = true`;
    const id = await bundle.live({ ...content(70, 30), ...daily() });
    await name(id, { variation: 'variation_2' });
    const words = {
      content: { default: { variation_2: { push: { android: { basic_details: { title: 'new 2' } } } } } },
    };
    const change = { request_id: 'r3', updated_by: 'ada@example.com', campaign_content: words };
    expect((await bundle.call('PATCH', `/v1/campaigns/${id}`, change)).statusCode).toBe(204);
    const [version] = await bundle.database`select * from campaigns where version_of = ${id}`;
    expect(version).toMatchObject({ winner: 2, winner_named_by: 'Key campaigns', version_number: 2 });
    bundle.clock.advance(120_000 - 24 * 3_600_000);
    expect(seen(await runNow())).toEqual(new Set([2]));
    await bundle.database`update workspaces set campaign_versioning = false`;
  });

  test('that is named while a run is being released is that run’s: its audience is counted again', async () => {
    const id = await bundle.live(content(50, 50));
    const campaign = { id, status: 'SENDING' as const, percents: [50, 50], winner: null };
    let released: Promise<number> | undefined;
    await inTransaction(bundle.database, async (tx) => {
      await lockOpenRuns(tx, id);
      released = bundle.release();
      while (!(await isAnybodyWaiting(bundle.database))) await new Promise((resolve) => setTimeout(resolve, 5));
      await setWinner(tx, { campaign, winner: 2, by: 'test', at: bundle.clock.now() });
    });
    await released;
    expect((await bundle.runs(id))[0].status).toBe('QUEUED');
    await bundle.deliver();
    expect(seen(variationsOfUsers())).toEqual(new Set([2]));
  });
});

describe('the figures name a winner', () => {
  const clicked = async (ofFirst: number, ofSecond: number) => {
    const id = await bundle.live({ ...content(50, 50), ...daily(), ...goals });
    bundle.clock.advance(120_000);
    while ((await bundle.fire()) > 0);
    await bundle.deliver();
    const titles = [...bundle.titles()].filter(([phone]) => !phone.endsWith('second'));
    const of = (variation: string, count: number) =>
      titles
        .filter(([, title]) => title.endsWith(variation))
        .slice(0, count)
        .map(([phone]) => phone);
    await bundle.report([...of('1', ofFirst), ...of('2', ofSecond)], 'click');
    return { id, of };
  };

  test('when they tell it apart with 95 %; before, they say how they stand', async () => {
    const { id } = await clicked(10, 14);
    const refused = await name(id, { metric: 'CLICKS' });
    expect(refused.statusCode).toBe(422);
    expect(refused.json().error.message).toMatch(
      /^Action WINNER is not valid for a campaign whose clicks do not show a winner yet: variation_2 is the best with \d\d(\.\d+)? %, and 95 % are needed\.$/,
    );
    const { figures } = await read(id);
    expect(figures.map(({ metric }: any) => metric)).toEqual(['CLICKS', 'GOAL']);
    const sent = await bundle.database`
      select variation, count(*) as sent from readable_deliveries as deliveries where campaign_id = ${id}
      group by variation order by variation`;
    const [one, other] = figures[0].variations;
    expect([one.sent, other.sent]).toEqual(sent.map((row) => row.sent));
    expect([one.successes, other.successes]).toEqual([10, 14]);
    expect(one.rate).toBeCloseTo((10 / one.sent) * 100, 1);
    expect(one.rate_low).toBeLessThan(one.rate);
    expect(one.best_percent + other.best_percent).toBeCloseTo(100, 1);
  });

  test('by clicks or by the primary goal, each by its own', async () => {
    const { id, of } = await clicked(5, 60);
    expect((await name(id, { metric: 'CLICKS' })).json().data).toMatchObject({ winner: 'variation_2' });
    bundle.clock.advance(1_000);
    await bundle.track(of('1', 80), 'Bought');
    await bundle.track(of('2', 4), 'Bought');
    await bundle.attribute();
    const named = (await name(id, { metric: 'GOAL' })).json().data;
    expect(named).toMatchObject({ winner: 'variation_1' });
    expect(named.figures[1].variations.map(({ successes }: any) => successes)).toEqual([80, 4]);
  });
});

describe('naming a winner', () => {
  test('again changes nothing, and a repeat with the same key is answered as the first', async () => {
    const id = await bundle.live({ ...content(50, 50), ...daily() });
    const headers = { 'idempotency-key': 'winner-1' };
    const body = { variation: 'variation_2' };
    const first = (await bundle.call('PUT', `/v5/campaigns/${id}/winner`, body, { headers })).json().data;
    await bundle.call('DELETE', `/v5/campaigns/${id}/winner`);
    const repeat = (await bundle.call('PUT', `/v5/campaigns/${id}/winner`, body, { headers })).json().data;
    expect(first.winner).toBe('variation_2');
    // It was answered before: nothing is named by it, and what is there now is shown.
    expect(repeat.winner).toBeNull();
    const [named, again] = [await name(id, body), await name(id, body)];
    expect(again.json().data).toEqual(named.json().data);
  });

  test.each<[string, object, object, string]>([
    ['without saying which', content(50, 50), {}, 'variation is required.'],
    [
      'that there is not',
      content(50, 50),
      { variation: 'variation_3' },
      'variation must be one of variation_1 to variation_2.',
    ],
    [
      'by both',
      content(50, 50),
      { variation: 'variation_1', metric: 'CLICKS' },
      'variation cannot be combined with metric.',
    ],
    ['by another figure', content(50, 50), { metric: 'SALES' }, 'metric must hold only CLICKS, GOAL.'],
  ])('%s is refused by name', async (...row) => {
    const [, more, body, fault] = row;
    const id = await bundle.live({ ...more, ...daily() });
    expect(faultsOf(await name(id, body))).toContain(fault);
  });

  test.each<[string, () => Promise<string>, object, string]>([
    ['a draft', () => bundle.draft(content(50, 50)), {}, 'ONE_TIME campaign that is DRAFT.'],
    ['a campaign with one content', () => bundle.live(daily()), {}, 'campaign without variations.'],
    [
      'a campaign that learns',
      () =>
        bundle.live({
          campaign_content: {
            variation_details: { no_of_variations: 2, distribution_type: 'SHERPA' },
            content: contentIn(['default'], 2),
          },
          ...daily(),
        }),
      {},
      'campaign whose variations are learned.',
    ],
    [
      'a goal that it does not have',
      () => bundle.live({ ...content(50, 50), ...daily() }),
      { metric: 'GOAL' },
      'campaign without a primary goal.',
    ],
  ])('of %s is refused', async (...row) => {
    const [, make, body, reason] = row;
    const answer = await name(await make(), Object.keys(body).length > 0 ? body : { variation: 'variation_1' });
    expect(answer.statusCode).toBe(422);
    expect(answer.json().error.message).toContain(reason);
  });

  test('of another workspace finds nothing', async () => {
    const answer = await name('0'.repeat(24), { variation: 'variation_1' });
    expect(answer.json().error.code).toBe('NOT_FOUND');
  });

  test('by the command line is a line of the audit log', async () => {
    const id = await bundle.live({ ...content(50, 50), ...daily() });
    const context = { ...bundle, encryption: makeEncryption(Buffer.alloc(32, 9)) };
    const written: string[] = [];
    const write = process.stdout.write.bind(process.stdout);
    process.stdout.write = ((piece: string) => written.push(piece) > 0) as never;
    try {
      await winnerCommand(context, { id, workspace: bundle.workspaceId, variation: 'variation_2' });
      await winnerCommand(context, { id, workspace: bundle.workspaceId, variation: 'variation_2' });
      await winnerCommand(context, { id, workspace: bundle.workspaceId });
    } finally {
      process.stdout.write = write;
    }
    expect(written.join('')).toMatch(/Winner {4}variation_2, named .*Z by the command line\n/);
    const lines = await bundle.database`select action, object_id, detail from audit_log where object_id = ${id}`;
    expect([...lines]).toEqual([
      { action: 'campaign.winner', object_id: id, detail: { variation: 'variation_2', metric: null } },
    ]);
  });
});
