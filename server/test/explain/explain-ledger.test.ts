import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inSnapshot } from '../../src/storage/database.ts';
import { explainRunToUsers } from '../../src/app/explain.ts';
import { changeWorkspace, parseControls } from '../../src/app/workspaces.ts';
import { bucketOf } from '../../src/domain/users/users.ts';
import type { Platform } from '../../src/domain/content/content.ts';
import type { RunExplanation } from '../../src/domain/explain.ts';
import { makeId } from '../../src/domain/ids.ts';
import type { Outcome } from '../../src/providers/provider.ts';
import { findCampaignToExplain, listRunsToExplain } from '../../src/storage/ledger/run-explanations.ts';
import type { WorkspaceChanges } from '../../src/storage/workspaces.ts';
import { makeFanOutBundle } from '../engine/fan-out/fan-out-bundle.ts';
import type { FanOutBundle } from '../engine/fan-out/fan-out-bundle.ts';
import { propertyRuns } from '../property-runs.ts';

const users = propertyRuns(10_000, 2_000);
const platforms: Platform[] = ['ANDROID', 'IOS', 'WEB'];
const states = ['ACTIVE', 'ACTIVE', 'ACTIVE', 'ACTIVE', 'OPTED_OUT', 'BLOCKED', 'GONE'] as const;
const zones = ['UTC', 'Asia/Tokyo', 'Australia/Sydney', 'America/Los_Angeles', 'no zone'];

type Device = { id: string; platform: Platform; state: (typeof states)[number]; isProvisional: boolean };
type User = { bucket: number; userId: string; devices: Device[] };

let bundle: FanOutBundle;
let everybody: User[];
beforeAll(async () => {
  bundle = await makeFanOutBundle();
  everybody = await addUsers();
});
afterAll(() => bundle.drop());

/** Numbers that a seed decides, the same on every machine (mulberry32). */
function makeDice(seed: number): (sides: number) => number {
  let state = seed >>> 0;
  return (sides) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % sides;
  };
}

/** People in five zones with none to three devices each, in every state. */
async function addUsers(): Promise<User[]> {
  const dice = makeDice(7);
  const at = bundle.clock.now();
  const { database, workspaceId } = bundle;
  const all = Array.from({ length: users }, (_, number): User & { customerId: string; zone: string } => {
    const customerId = `person-${number}`;
    const devices = Array.from({ length: [0, 1, 1, 1, 2, 3][dice(6)]! }, () => {
      const platform = platforms[dice(3)]!;
      const isProvisional = platform === 'IOS' && dice(2) === 0;
      return { id: makeId(at), platform, state: states[dice(states.length)]!, isProvisional };
    });
    return { customerId, bucket: bucketOf(customerId), userId: makeId(at), zone: zones[dice(5)]!, devices };
  });
  await database`
    insert into users (workspace_id, bucket, id, customer_id, attributes, created_at, updated_at)
    select ${workspaceId}, person.bucket, person.id, person.customer_id, jsonb_build_object('time_zone', person.zone),
      ${at}, ${at}
    from unnest(${all.map(({ bucket }) => bucket)}::smallint[], ${all.map(({ userId }) => userId)}::text[],
      ${all.map(({ customerId }) => customerId)}::text[], ${all.map(({ zone }) => zone)}::text[])
      as person (bucket, id, customer_id, zone)`;
  const rows = all.flatMap(({ bucket, userId, devices }) => devices.map((device) => ({ bucket, userId, ...device })));
  await database`
    insert into devices (workspace_id, bucket, id, user_id, device_id, platform, push_id, state, provisional,
      registered_at, gone_at, blocked_state, blocked_at, created_at, updated_at)
    select ${workspaceId}, device.bucket, device.id, device.user_id, device.id, device.platform, 'push-' || device.id,
      device.state, device.provisional::boolean, ${at}, case when device.state = 'GONE' then ${at}::timestamptz end,
      case when device.state = 'BLOCKED' then 'ACTIVE' end,
      case when device.state = 'BLOCKED' then ${at}::timestamptz end, ${at}, ${at}
    from unnest(${rows.map(({ bucket }) => bucket)}::smallint[], ${rows.map(({ id }) => id)}::text[],
      ${rows.map(({ userId }) => userId)}::text[], ${rows.map(({ platform }) => platform)}::text[],
      ${rows.map(({ state }) => state)}::text[], ${rows.map(({ isProvisional }) => String(isProvisional))}::text[])
      as device (bucket, id, user_id, platform, state, provisional)`;
  await database`analyze`;
  return all;
}

async function addSegment(members: User[]): Promise<string> {
  const [id, at] = [makeId(bundle.clock.now()), bundle.clock.now()];
  await bundle.database`
    insert into segments (id, workspace_id, name, kind, state, source, attribute_name, attribute_type, version,
      user_count, created_by, created_at, updated_at)
    values (${id}, ${bundle.workspaceId}, ${`Segment ${id}`}, 'FILE', 'READY', 'API', 'uid', 'string', 1,
      ${members.length}, 'test', ${at}, ${at})`;
  await bundle.database`
    insert into segment_members (workspace_id, bucket, segment_id, user_id, added_in)
    select ${bundle.workspaceId}, member.bucket, ${id}, member.user_id, 1
    from unnest(${members.map(({ bucket }) => bucket)}::smallint[], ${members.map(({ userId }) => userId)}::text[])
      as member (bucket, user_id)`;
  return id;
}

const outcomes: Outcome[] = [
  ...Array.from({ length: 9 }, (): Outcome => ({ kind: 'accepted' })),
  { kind: 'gone', code: 'UNREGISTERED' },
  { kind: 'rejected', code: 'TOO_BIG', detail: '' },
  { kind: 'unknown', code: 'TIMEOUT' },
];

type JobRun = {
  seed: number;
  audience: 'everybody' | 'segment' | 'named';
  platforms: Platform[];
  iosDevices: 'ALL' | 'PROVISIONAL' | 'NON_PROVISIONAL';
  controls: { frequencyCaps: string; quietHours: string; quietMode: 'HOLD' | 'DROP'; minimumDelay: string };
  hours: number;
  stopsAfter: number | undefined;
};

const round: fc.Arbitrary<JobRun> = fc.record({
  seed: fc.integer({ min: 1, max: 1e9 }),
  audience: fc.constantFrom('everybody' as const, 'segment' as const, 'named' as const),
  platforms: fc.shuffledSubarray(platforms, { minLength: 1 }),
  iosDevices: fc.constantFrom('ALL' as const, 'PROVISIONAL' as const, 'NON_PROVISIONAL' as const),
  controls: fc.record({
    frequencyCaps: fc.constantFrom('none', '1/1d', '2/3d,1/1h'),
    quietHours: fc.constantFrom('none', '22:00-08:00', '00:00-12:00'),
    quietMode: fc.constantFrom('HOLD' as const, 'DROP' as const),
    minimumDelay: fc.constantFrom('none', '120'),
  }),
  hours: fc.integer({ min: 0, max: 9 }),
  stopsAfter: fc.option(fc.integer({ min: 1, max: 3_000 }), { nil: undefined }),
});

test('explain agrees with the ledger and the audience, for random campaigns', { timeout: 300_000 }, async () => {
  const told = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(round, async (given) => {
      const audience = await send(given);
      const { members, runId, campaignId } = audience;
      const explanations = await explainEverybody({ campaignId, runId });
      const ledger = await readLedger(runId);
      // One assertion for all of them: thousands with three each would cost as much as all that they compare.
      const disagreements = everybody.flatMap((user, index) => {
        const [explanation, rows] = [explanations[index]!, ledger.get(user.userId) ?? []];
        told.set(explanation.step, (told.get(explanation.step) ?? 0) + 1);
        return findDisagreement(user, { given, explanation, rows, isMember: members.has(user.userId) });
      });
      expect(disagreements).toEqual([]);
      // The ledger has no row that was not explained.
      const explained = explanations.flatMap(({ devices }) => devices.filter(({ at }) => at !== null)).length;
      expect(explained).toBe([...ledger.values()].reduce((sum, rows) => sum + rows.length, 0));
    }),
    { numRuns: propertyRuns(14), seed: 20_260_301, endOnFailure: true },
  );
  // The rounds together have come to every decision of the gate and of the audience.
  const wanted = [
    'ACCEPTED',
    'WAITING',
    'GONE',
    'REJECTED',
    'FREQUENCY_CAP',
    'MINIMUM_DELAY',
    'QUIET_HOURS',
    'NO_DEVICE',
  ];
  wanted.push(
    'NOT_IN_AUDIENCE',
    'DEVICE_OPTED_OUT',
    'DEVICE_BLOCKED',
    'DEVICE_GONE',
    'PLATFORM_NOT_MEANT',
    'RUN_STOPPED',
  );
  expect(wanted.filter((step) => !told.has(step))).toEqual([]);
});

/** Sends one round's campaign, all of it or until it is stopped. */
async function send(given: JobRun) {
  const dice = makeDice(given.seed);
  bundle.clock.advance(given.hours * 3_600_000);
  const changes = parseControls({ ...given.controls, zoneAttribute: undefined, controlGroup: undefined });
  await changeWorkspace(bundle, { id: bundle.workspaceId, ...changes } as WorkspaceChanges & { id: string });
  const chosen =
    given.audience === 'everybody'
      ? everybody
      : everybody
          .filter(() => dice(given.audience === 'segment' ? 2 : 150) === 0)
          .slice(0, given.audience === 'named' ? 100 : users);
  const byDevice = new Map(
    everybody.flatMap(({ devices }) => devices.map(({ id }) => [`push-${id}`, dice(outcomes.length)])),
  );
  const goneOnes = new Map(everybody.flatMap(({ devices }) => devices.map((device) => [`push-${device.id}`, device])));
  let sent = 0;
  const { campaignId, runId } = await bundle.accept({
    platforms: given.platforms,
    settings: { iosDevices: given.iosDevices, ignoresMinimumDelay: false },
    ttlSeconds: 7 * 86_400,
    ...(given.audience === 'segment' ? { segmentId: await addSegment(chosen) } : {}),
    ...(given.audience === 'named'
      ? { targetUsers: chosen.map(({ bucket, userId }): [number, string] => [bucket, userId]) }
      : {}),
  });
  bundle.answer(async ({ pushId }) => {
    sent += 1;
    const outcome = outcomes[byDevice.get(pushId)!]!;
    if (sent === given.stopsAfter)
      await bundle.database`
        update runs set status = 'STOPPED', status_reason = 'a person', ended_at = ${bundle.clock.now()} where id = ${runId}`;
    if (outcome.kind === 'gone') goneOnes.get(pushId)!.state = 'GONE';
    return outcome;
  });
  while ((await bundle.release()) > 0);
  await bundle.work({ windowDevices: 200 });
  return { campaignId, runId, members: new Set(chosen.map(({ userId }) => userId)) };
}

async function explainEverybody({
  campaignId,
  runId,
}: {
  campaignId: string;
  runId: string;
}): Promise<RunExplanation[]> {
  const { database, workspaceId } = bundle;
  return inSnapshot(database, async (tx) => {
    const campaign = (await findCampaignToExplain(tx, { workspaceId, id: campaignId }))!;
    const [run] = await listRunsToExplain(tx, { campaignId, runIds: [runId], limit: 1 });
    const users = everybody.map(({ bucket, userId }) => ({ bucket, userId }));
    return explainRunToUsers(tx, { workspaceId, campaign, run: run!, users });
  });
}

type Row = { deviceId: string; outcome: string; code: string | null };

async function readLedger(runId: string): Promise<Map<string, Row[]>> {
  const rows = await bundle.database<(Row & { userId: string })[]>`
    select user_id as "userId", device_id as "deviceId", outcome, code from readable_deliveries as deliveries where run_id = ${runId}`;
  return Map.groupBy(rows, ({ userId }) => userId);
}

const stepsOf = ({ devices }: RunExplanation): Record<string, string> =>
  Object.fromEntries(devices.map(({ deviceId, step }) => [deviceId, step]));

type Compared = { given: JobRun; explanation: RunExplanation; rows: Row[]; isMember: boolean };

/** What was told of a user and what should have been, where the two differ. */
function findDisagreement(user: User, { explanation, ...known }: Compared): object[] {
  const { rows, isMember } = known;
  const told = { steps: stepsOf(explanation), step: explanation.step };
  const hasNothing = rows.length === 0 && user.devices.length === 0;
  const possible = !isMember
    ? ['NOT_IN_AUDIENCE']
    : hasNothing
      ? ['NO_DEVICE']
      : explanation.devices.map(({ step }) => step);
  // Whoever a provider accepted a message for got it, and nobody else.
  const isAccepted = rows.some(({ outcome }) => outcome === 'ACCEPTED');
  const wanted = { steps: expectedSteps(user, known), possible, isAccepted };
  const isRight =
    isDeepStrictEqual(told.steps, wanted.steps) &&
    possible.includes(told.step) &&
    (told.step === 'ACCEPTED') === isAccepted;
  return isRight ? [] : [{ userId: user.userId, told, wanted }];
}

/** What must be said of each device, from the ledger and from what the test itself knows of the audience. */
function expectedSteps(
  { devices }: User,
  { given, rows, isMember }: Omit<Compared, 'explanation'>,
): Record<string, string> {
  if (!isMember) return {};
  const isWanted = (isProvisional: boolean): boolean =>
    given.iosDevices === 'ALL' || (given.iosDevices === 'PROVISIONAL') === isProvisional;
  return Object.fromEntries(
    devices.map(({ id, platform, state, isProvisional }) => {
      const row = rows.find(({ deviceId }) => deviceId === id);
      const isToldByCode =
        row?.outcome === 'WITHHELD' || row?.code === 'QUIET_HOURS' || row?.code === 'TIME_ZONE_UNKNOWN';
      if (isToldByCode) return [id, row.code!];
      if (row) return [id, row.outcome];
      if (!given.platforms.includes(platform)) return [id, 'PLATFORM_NOT_MEANT'];
      if (platform === 'IOS' && !isWanted(isProvisional)) return [id, 'TRIAL_NOT_MEANT'];
      return [id, state === 'ACTIVE' ? 'RUN_STOPPED' : `DEVICE_${state}`];
    }),
  );
}
