import { expect, test } from 'vitest';
import type { CredentialsOfApps } from '../../../src/domain/credentials/credentials.ts';
import {
  eligibilityRulesOfRun,
  keyOf,
  makeDeliverToEligible,
} from '../../../src/engine/fan-out/deliver-to-eligible.ts';
import {
  goneDevices,
  failRecipient,
  quarantine,
  markReach,
  waitForCredential,
} from '../../../src/engine/fan-out/settle-outcome.ts';
import type { DeviceResult, DeviceToDeliver } from '../../../src/engine/fan-out/settle-outcome.ts';
import {
  deliverVariants,
  trialsOf,
  controlSharesOf,
  globalControlPercentNow,
  makeRunControlGroupOf,
  makeRunVariationOf,
} from '../../../src/engine/fan-out/experiments.ts';
import { cutBuckets } from '../../../src/engine/fan-out/runs.ts';
import { leaseQuota, nextQuota, quotaFor, returnQuota } from '../../../src/engine/governor/send-budgets.ts';
import { runLimitOf } from '../../../src/engine/fan-out/seats.ts';
import { whyUnusable } from '../../../src/engine/fan-out/audience.ts';
import type { Database } from '../../../src/storage/database.ts';
import type { RunToSend } from '../../../src/storage/runs/run-states.ts';
import { refusal } from './known-refusal.ts';

const now = new Date('2026-03-01T12:00:00Z');
const later = (seconds: number): Date => new Date(now.getTime() + seconds * 1000);
/** Whoever asks it fails. */
const noDatabase = undefined as unknown as Database;
const controls = {
  ...{ caps: [], minimumDelayMinutes: null, quietHours: null, controlGroupPercent: 10 },
  ...{ zoneAttribute: 'zone', timeZone: 'UTC' },
};
const run = {
  ...{ id: 'run', workspaceId: 'WORKSPACE', campaignId: 'version', canonicalCampaignId: 'campaign', settings: {} },
  ...{ sendUntil: later(3600), createdAt: now, isTest: false, deliveryType: 'ONE_TIME', devicesPerMinute: null },
  ...{ timing: { kind: 'soon' }, occurrence: null, controls, globalControlPercent: null, winners: [], variants: null },
  ...{ platforms: ['ANDROID'], refusals: [], content: { ANDROID: { title: 'T' } } },
} as unknown as RunToSend;

const phone = (id: string, bucket = 1): DeviceToDeliver['device'] => ({
  ...{ bucket, id, userId: `user of ${id}`, platform: 'ANDROID', provider: null, pushId: id, pushIdType: null },
  appId: null,
});
const row = (id: string, more: object = {}) => ({
  ...{ bucket: 1, deviceId: id, userId: `user of ${id}`, platform: 'ANDROID', outcome: 'ACCEPTED', code: null },
  ...{ providerMessageId: null, attempts: 1, retryAt: null, ...more },
});
const accepted = (id: string): DeviceResult => ({ delivery: row(id) as DeviceResult['delivery'] });

test('a small audience is one chunk, a larger one a power of two of equal ranges, up to one a bucket', () => {
  expect(cutBuckets(0)).toEqual([{ from: 0, to: 255 }]);
  expect(cutBuckets(5_000)).toEqual([{ from: 0, to: 255 }]);
  expect(cutBuckets(5_001)).toEqual([0, 64, 128, 192].map((from) => ({ from, to: from + 63 })));
  expect(cutBuckets(8_000)).toHaveLength(4);
  expect(cutBuckets(8_001)).toHaveLength(8);
  for (const devices of [512_000, 20_000_000])
    expect(cutBuckets(devices)).toEqual(Array.from({ length: 256 }, (_, bucket) => ({ from: bucket, to: bucket })));
});

test('a segment that was archived or could not be filled cannot be sent to, with the reason', () => {
  expect(whyUnusable({ state: 'READY' })).toBeUndefined();
  expect(whyUnusable({ state: 'ARCHIVED' })).toBe('the segment is archived');
  expect(whyUnusable({ state: 'FAILED', stateReason: 'no file' })).toBe('the segment could not be filled: no file');
  expect(whyUnusable({ state: 'FAILED', stateReason: null })).toBe('the segment could not be filled: see the segment');
});

test('a run without a throttle has as many devices as it wants, and gives none back', async () => {
  expect(await leaseQuota(noDatabase, { run, at: now, wanted: 250 })).toBe(250);
  await returnQuota(noDatabase, { run, at: now, devices: 5 });
  await returnQuota(noDatabase, { run: { ...run, devicesPerMinute: 60 }, at: now, devices: 0 });
});

test('a throttled run is due again when its pace allows, a second later at least', () => {
  const at = (devicesPerMinute: number, devices: number) =>
    quotaFor({ ...run, devicesPerMinute }, { at: now, devices });
  expect(at(60, 1)).toEqual(later(1));
  expect(at(30, 1)).toEqual(later(2));
  expect(at(30, 5)).toEqual(later(10));
  expect(at(6_000, 10)).toEqual(later(1));
  // A part of a millisecond is one.
  expect(at(7, 1)).toEqual(later(8.572));
  expect(nextQuota({ ...run, devicesPerMinute: 20 }, now)).toEqual(later(3));
});

test('a limit is counted for the run or for all versions of its campaign, and a test has none', () => {
  const limited = (of: 'RUN' | 'CAMPAIGN', isTest = false) =>
    runLimitOf({ ...run, isTest, settings: { audienceLimit: { users: 40, of } } });
  expect(limited('RUN')).toEqual({ id: 'run', workspaceId: 'WORKSPACE', users: 40 });
  expect(limited('CAMPAIGN')).toEqual({ id: 'campaign', workspaceId: 'WORKSPACE', users: 40 });
  expect(limited('RUN', true)).toBeUndefined();
  expect(runLimitOf(run)).toBeUndefined();
});

test('what holds a run back is its settings and the workspace’s controls; a test is held back by nothing', () => {
  const caps = [{ messages: 1, hours: 24 }];
  expect(eligibilityRulesOfRun(run)).toBeUndefined();
  const capped = { ...run, controls: { ...run.controls, caps } };
  expect(eligibilityRulesOfRun(capped)).toMatchObject({ caps, zone: { attribute: 'zone', fallback: 'UTC' } });
  expect(eligibilityRulesOfRun({ ...capped, isTest: true })).toBeUndefined();
  expect(eligibilityRulesOfRun({ ...run, settings: { ownDelayHours: 2 } })).toMatchObject({ ownDelayMinutes: 120 });
  expect(keyOf({ bucket: 7, userId: 'u' })).not.toBe(keyOf({ bucket: 8, userId: 'u' }));
});

test('a run leaves out the workspace’s control group when its campaign says so, with the share of its start', () => {
  const leaving = { ...run, settings: { leavesOutGlobalControlGroup: true, controlGroupPercent: 5 } };
  expect(globalControlPercentNow(leaving)).toBe(10);
  expect(globalControlPercentNow(run)).toBeNull();
  const of = { workspaceId: 'WORKSPACE', canonicalCampaignId: 'campaign' };
  expect(controlSharesOf(leaving, 3)).toEqual({ ...of, globalPercent: 3, campaignPercent: 5 });
  expect(controlSharesOf(run, null)).toEqual({ ...of, globalPercent: null, campaignPercent: null });
  expect(makeRunControlGroupOf(run)).toBeUndefined();
  expect(makeRunControlGroupOf({ ...run, globalControlPercent: 100 })!('u')).toBe('GLOBAL_CONTROL_GROUP');
  expect(makeRunControlGroupOf({ ...run, globalControlPercent: 100, isTest: true })).toBeUndefined();
});

const learning = { by: 'CLICKS', floorPercent: 10 } as const;
const twoVariations = { locales: [], percents: [50, 50], contents: [[{ ANDROID: 'A' }], [{ ANDROID: 'B' }]] } as never;

test('what a learning run has tried is each accepted message, of the variation that it was', () => {
  const learns = { ...run, variants: { ...(twoVariations as object), learning } } as RunToSend;
  const sent = (outcome: string, variation?: number) =>
    ({ bucket: 4, outcome, ...(variation && { variant: { variation, locale: 0 } }) }) as never;
  const deliveries = [sent('ACCEPTED', 2), sent('REJECTED', 1), sent('ACCEPTED'), sent('ACCEPTED', 1)];
  const trial = { workspaceId: 'WORKSPACE', runId: 'run', bucket: 4, trials: 1, successes: 0 };
  expect(trialsOf(learns, deliveries)).toEqual([
    { ...trial, variation: 2 },
    { ...trial, variation: 1 },
  ]);
  expect(trialsOf({ ...run, variants: twoVariations }, deliveries)).toEqual([]);
  expect(trialsOf(run, deliveries)).toEqual([]);
});

test('a user’s variation is drawn by the shares, unless a winner was named for the bucket', async () => {
  const users = Array.from({ length: 200 }, (_, number) => ({ bucket: number, userId: `user ${number}` }));
  const of = (more: Partial<RunToSend>) => makeRunVariationOf(noDatabase, { run: { ...run, ...more }, users });
  expect(await of({})).toBeUndefined();
  expect(await of({ variants: { ...(twoVariations as object), percents: [100] } as never })).toBeUndefined();
  const drawn = (await of({ variants: twoVariations }))!;
  const counts = [1, 2].map((variation) => users.filter((user) => drawn(user) === variation).length);
  expect(counts[0]! + counts[1]!).toBe(200);
  expect(counts[0]).toBeGreaterThan(60);
  expect(counts[1]).toBeGreaterThan(60);
  const winners = [{ bucketFrom: 0, bucketTo: 9, steps: [{ after: 3, variation: 2 }] }];
  const won = (await of({ variants: twoVariations, winners }))!;
  expect(users.slice(4, 10).map(won)).toEqual([2, 2, 2, 2, 2, 2]);
  expect(users.slice(0, 4).map(won)).toEqual(users.slice(0, 4).map(drawn));
  expect(users.slice(10).map(won)).toEqual(users.slice(10).map(drawn));
});

const devices = ['one', 'two', 'three'].map((id) => ({ device: phone(id), attempt: 1 }));

test('each variation goes out as a run of its content, and results say which and keep their order', async () => {
  const asked: [content: unknown, variant: unknown, ids: string[]][] = [];
  const results = await deliverVariants({
    database: noDatabase,
    run: { ...run, variants: twoVariations },
    devices,
    variationOf: ({ userId }) => (userId === 'user of two' ? 2 : 1),
    async deliver(part, own) {
      asked.push([part.content, part.variant, own.map(({ device }) => device.id)]);
      expect(part.language).toBeUndefined();
      return own.map(({ device }) => ({ ...accepted(device.id), gone: { code: device.id, goneSince: now } }));
    },
  });
  expect(asked).toEqual([
    [{ ANDROID: 'A' }, { variation: 1, locale: 0 }, ['one', 'three']],
    [{ ANDROID: 'B' }, { variation: 2, locale: 0 }, ['two']],
  ]);
  expect(results).toEqual(
    [1, 2, 1].map((variation, place) => {
      const { id } = devices[place]!.device;
      return { delivery: row(id, { variant: { variation, locale: 0 } }), gone: { code: id, goneSince: now } };
    }),
  );
});

test('a run with one content for all goes out as it is, and one to nobody too', async () => {
  const seen: unknown[] = [];
  const deliver = async (part: RunToSend, own: DeviceToDeliver[]) => {
    seen.push(part);
    return own.map(({ device }) => accepted(device.id));
  };
  const given = { database: noDatabase, variationOf: undefined, deliver };
  expect(await deliverVariants({ ...given, run, devices })).toEqual(['one', 'two', 'three'].map(accepted));
  const varied = { ...run, variants: twoVariations };
  expect(await deliverVariants({ ...given, run: varied, devices: [] })).toEqual([]);
  expect(seen).toEqual([run, varied]);
  // Without a draw, as of a campaign in languages alone, everybody has the variation 0.
  const [first] = await deliverVariants({ ...given, run: varied, devices });
  expect(first!.delivery.variant).toEqual({ variation: 0, locale: 0 });
});

test('who is in a control group is withheld, without an attempt, and the others are sent to in their places', async () => {
  const settings = { controlGroupPercent: 50 };
  const split = { ...run, settings };
  const group = makeRunControlGroupOf(split)!;
  const many = Array.from({ length: 40 }, (_, number) => ({ device: phone(`device ${number}`), attempt: 2 }));
  const sentTo: string[] = [];
  const deliver = makeDeliverToEligible({
    database: noDatabase,
    clock: { now: () => now } as never,
    log: undefined as never,
    personaliseDevices: async (_run, own) => own,
    async deliverToDevices(_run, addressees) {
      sentTo.push(...addressees.map(({ device }) => device.id));
      return addressees.map(({ device, attempt }) => ({ delivery: row(device.id, { attempts: attempt }) as never }));
    },
  });
  const results = await deliver(split, many);
  const isLeftOut = many.map(({ device }) => group(device.userId) !== undefined);
  expect(new Set(isLeftOut)).toEqual(new Set([true, false]));
  expect(sentTo).toEqual(many.filter((_, place) => !isLeftOut[place]).map(({ device }) => device.id));
  expect(results.map(({ delivery }) => delivery)).toEqual(
    many.map(({ device }, place) =>
      isLeftOut[place]
        ? row(device.id, { outcome: 'WITHHELD', code: 'CAMPAIGN_CONTROL_GROUP', attempts: 1 })
        : row(device.id, { attempts: 2 }),
    ),
  );
  // Nor is it counted for the variation that would have come.
  const varied = await deliver({ ...split, variants: twoVariations }, many);
  expect(varied.map(({ delivery }) => delivery.variant !== undefined)).toEqual(isLeftOut.map((isOut) => !isOut));
});

test('a device that is set aside, and a recipient on whom this service failed, have nothing sent to them', () => {
  const nothing = { outcome: 'FAILED', providerMessageId: null, retryAt: null };
  expect(quarantine(phone('one'))).toEqual({ delivery: row('one', { ...nothing, code: 'SET_ASIDE' }) });
  expect(failRecipient(phone('one'), 5)).toEqual({
    delivery: row('one', { ...nothing, code: 'RECIPIENT_FAULT', attempts: 5 }),
  });
});

test('dead addresses are in one order, by bucket and then by device', () => {
  const gone = { code: '410', goneSince: now };
  const dead = (id: string, bucket: number): DeviceResult => ({
    delivery: row(id, { bucket }) as never,
    gone,
  });
  const results = [dead('b', 9), dead('c', 2), accepted('alive'), dead('a', 9), dead('d', 2)];
  expect(goneDevices(results)).toEqual(
    [
      { bucket: 2, deviceId: 'c' },
      { bucket: 2, deviceId: 'd' },
      { bucket: 9, deviceId: 'a' },
      { bucket: 9, deviceId: 'b' },
    ].map((one) => ({ ...one, ...gone })),
  );
});

test('a device waits for its credential under the provider’s code, until its message is over', () => {
  const waiting = waitForCredential({ run, device: phone('one'), attempt: 3 }, { refusal, by: 'what is known' });
  expect(waiting).toEqual({
    delivery: row('one', { outcome: 'WAITING', code: 'SENDER_ID', attempts: 2, retryAt: later(3600) }),
    refused: { refusal, by: 'what is known', reaches: 'others' },
  });
});

test('nobody is reached once no app of the run’s platforms has a credential that is not refused', () => {
  const waiting = waitForCredential({ run, device: phone('one'), attempt: 1 }, { refusal, by: 'the provider' });
  const results = [accepted('two'), waiting];
  const credentialsOf = (apps: CredentialsOfApps['apps']): CredentialsOfApps => ({
    apps,
    find: ({ provider, appId }) => ({
      credentials: provider === 'fcm' ? { fcm: {} as never } : {},
      name: { provider: provider!, appId: appId ?? 'default', version: 'v1' },
    }),
  });
  const nobody = [accepted('two'), { ...waiting, refused: { ...waiting.refused, reaches: 'nobody' } }];
  const told = (more: Partial<RunToSend>, apps: CredentialsOfApps['apps'] = []) =>
    markReach(results, { run: { ...run, ...more }, credentialsOf: credentialsOf(apps) });
  expect(told({})).toEqual(nobody);
  // Another platform of Firebase is stopped with it; another app has a credential of its own.
  expect(told({ platforms: ['ANDROID', 'WEB'] })).toEqual(nobody);
  const other = { platform: 'ANDROID', appId: 'other' } as const;
  expect(told({}, [other])).toEqual(results);
  expect(told({ settings: { appIds: ['default'] } }, [other])).toEqual(nobody);
  expect(told({ refusals: [{ ...refusal, appId: 'other' }] }, [other])).toEqual(nobody);
  // Two that are refused in one window are two refusals.
  const refusalOfOther = { ...refusal, appId: 'other' };
  const ofOther = waitForCredential(
    { run, device: phone('b'), attempt: 1 },
    { refusal: refusalOfOther, by: 'the provider' },
  );
  const reaches = markReach([waiting, ofOther], { run, credentialsOf: credentialsOf([other]) });
  expect(reaches.map(({ refused }) => refused!.reaches)).toEqual(['nobody', 'nobody']);
  const free = { run, credentialsOf: credentialsOf([]) };
  expect(markReach([accepted('two')], free)).toEqual([accepted('two')]);
});
