import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { changeCampaignState } from '../../../src/app/campaigns/change-campaign-state.ts';
import { makeProbeHeldKeys, probeMilliseconds } from '../../../src/engine/governor/provider-evidence.ts';
import { classifyApnsAnswer } from '../../../src/providers/apns/classify.ts';
import { classifyFcmAnswer } from '../../../src/providers/fcm/classify.ts';
import { classifyHmsAnswer } from '../../../src/providers/hms/classify.ts';
import type { Answer, Outcome } from '../../../src/providers/provider.ts';
import { classifyWebPushAnswer } from '../../../src/providers/webpush/classify.ts';
import { makeFanOutBundle } from './fan-out-bundle.ts';
import type { FanOutBundle } from './fan-out-bundle.ts';

describe('provider evidence', () => {
  // What providers answer in the field, as public bug reports have it, through this product's own classification.
  let bundle: FanOutBundle;
  beforeAll(async () => {
    bundle = await makeFanOutBundle();
  });
  afterAll(() => bundle.drop());
  beforeEach(async () => {
    bundle.sent.length = 0;
    bundle.version('');
    bundle.credentials(() => bundle.simulatedCredentials);
    const { database } = bundle;
    for (const table of ['provider_credentials', 'run_refusals', 'provider_evidence', 'deliveries', 'devices', 'users'])
      await database.unsafe(`delete from ${table}`);
    bundle.clock.advance(86_400_000 + 1_000);
  });

  const accepted: Outcome = { kind: 'accepted' };
  const answer = (status: number, body: unknown, headers: Record<string, string> = {}): Answer => ({
    ...{ kind: 'answer', status, headers, body: JSON.stringify(body) },
  });
  const fcm = (status: number, name: string, more: { details?: object[]; message?: string } = {}): Outcome =>
    classifyFcmAnswer(answer(status, { error: { code: status, status: name, ...more } }), bundle.clock.now());
  const fcmCode = (errorCode: string) => ({
    '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError',
    errorCode,
  });
  const apns = (status: number, reason: string): Outcome =>
    classifyApnsAnswer(answer(status, { reason }), bundle.clock.now());

  const deviceQuota = (token: string): Outcome =>
    fcm(429, 'RESOURCE_EXHAUSTED', {
      details: [
        fcmCode('QUOTA_EXCEEDED'),
        {
          '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
          violations: [{ subject: `device:${token}`, description: 'Device message rate exceeded' }],
        },
      ],
    });
  const appleKey = (): Outcome =>
    fcm(401, 'UNAUTHENTICATED', {
      message: 'Request is missing required authentication credential. Expected OAuth 2 access token',
      details: [fcmCode('THIRD_PARTY_AUTH_ERROR')],
    });

  const only = async (platform: string, provider: string | null = null) =>
    void (await bundle.database`update devices set platform = ${platform}, push_provider = ${provider}`);
  const probe = () =>
    makeProbeHeldKeys({ database: bundle.database, clock: bundle.clock, onDue: () => {} }).runOnce(bundle.clock.now());
  const gone = async (): Promise<number> =>
    (await bundle.database<{ gone: number }[]>`select count(*) as gone from devices where state <> 'ACTIVE'`)[0]!.gone;
  const codes = async (runId: string) =>
    Object.fromEntries(
      (
        await bundle.database<{ code: string; devices: number }[]>`
          select coalesce(code, outcome) as code, count(*) as devices from readable_deliveries
          where run_id = ${runId} group by 1 order by 1`
      ).map(({ code, devices }) => [code, devices]),
    );

  describe('a device that Google reports as over its own quota (A1)', () => {
    test('waits alone, while 24 pushes to another user of the project arrive immediately', async () => {
      await bundle.addDevices(2);
      await only('ANDROID');
      bundle.answer(({ pushId }) => (pushId === 'push-user-0' ? deviceQuota(pushId) : accepted));
      const [busy, healthy] = [await bundle.userOf('user-0'), await bundle.userOf('user-1')];
      const runs: string[] = [];
      for (let push = 0; push < 24; push += 1) {
        await send({ platforms: ['ANDROID'], audience: { kind: 'user' } as never, targetUsers: [busy] });
        const { runId } = await send({
          ...{ platforms: ['ANDROID'], audience: { kind: 'user' } as never, targetUsers: [healthy] },
        });
        runs.push(runId);
        bundle.clock.advance(5_000);
      }
      for (const runId of runs) expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 1 });
    });

    test('waits alone in a broadcast, even if Google does not name the owner of the quota', async () => {
      await bundle.addDevices(300);
      await only('ANDROID');
      const bare = fcm(429, 'RESOURCE_EXHAUSTED', { details: [fcmCode('QUOTA_EXCEEDED')] });
      bundle.answer(({ pushId }) => {
        if (pushId === 'push-user-7') return deviceQuota(pushId);
        return pushId === 'push-user-8' ? bare : accepted;
      });
      const { runId } = await send({ platforms: ['ANDROID'] });
      expect(await codes(runId)).toEqual({ ACCEPTED: 298, QUOTA_EXCEEDED: 2 });
    });

    test('is no evidence against the credential while it has registered itself and was never accepted', async () => {
      await bundle.addDevices(60);
      await only('ANDROID');
      await bundle.database`update devices set is_from_app = true`;
      const bare = fcm(429, 'RESOURCE_EXHAUSTED', { details: [fcmCode('QUOTA_EXCEEDED')] });
      bundle.answer(() => bare);
      await send({ platforms: ['ANDROID'] }, { windowDevices: 20 });
      expect(bundle.sent).toHaveLength(60);
      expect(await bundle.database`select 1 from provider_evidence where held_at is not null`).toHaveLength(0);
    });

    test('makes the credential pause if nine of ten devices get the same response, and then continue', async () => {
      await bundle.addDevices(300);
      await only('ANDROID');
      const bare = fcm(429, 'RESOURCE_EXHAUSTED', { details: [fcmCode('QUOTA_EXCEEDED')] });
      bundle.answer(() => bare);
      const { runId } = await send({ platforms: ['ANDROID'] }, { windowDevices: 20 });
      expect(bundle.sent.length).toBeLessThan(150);
      expect(await bundle.counters(runId)).toEqual({ WAITING: 300 });
      bundle.answer(() => accepted);
      for (let minute = 0; minute < 4; minute += 1) {
        bundle.clock.advance(60_000);
        await retryAll();
      }
      expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 300 });
    });
  });

  describe('a credential of the wrong environment, for which Apple rejects every token (A2)', () => {
    test.each([
      ['3,000 iPhones: the credential is held with the reason', 3_000],
      ['one iPhone', 1],
      ['three iPhones', 3],
    ])('removes no device: %s', async (_what, devices) => {
      await bundle.addDevices(devices);
      await only('IOS');
      bundle.answer(() => apns(400, 'BadDeviceToken'));
      const { campaignId, runId } = await send({ platforms: ['IOS'] });
      bundle.clock.advance(30_000);
      await retryAll();
      expect(await gone()).toBe(0);
      if (devices < 20) return expect(await codes(runId)).toEqual({ BadDeviceToken: devices });
      expect((await bundle.states(campaignId)).reason).toContain('BadDeviceToken');
      expect(bundle.sent.length).toBeLessThan(600);
      expect(await bundle.mend()).toBe(0);
      await correctCredential();
      bundle.answer(() => accepted);
      expect(await bundle.mend()).toBe(1);
      await bundle.work();
      await retryAll();
      expect(await bundle.counters(runId)).toEqual({ ACCEPTED: devices });
    });

    test('removes no device even if one token of 3,000 is of the right environment', async () => {
      await bundle.addDevices(3_000);
      await only('IOS');
      bundle.answer(({ pushId }) => (pushId === 'push-user-1234' ? accepted : apns(400, 'BadDeviceToken')));
      await send({ platforms: ['IOS'] });
      bundle.clock.advance(30_000);
      await retryAll();
      expect(await gone()).toBe(0);
    });

    test('is held in a small workspace whose three phones were all accepted before', async () => {
      await bundle.addDevices(3);
      await only('IOS');
      bundle.answer(() => accepted);
      await send({ platforms: ['IOS'] });
      bundle.version('2');
      bundle.clock.advance(60_000);
      bundle.answer(() => apns(400, 'BadDeviceToken'));
      const { runId } = await send({ platforms: ['IOS'] });
      expect(await bundle.counters(runId)).toEqual({ WAITING: 3 });
      expect(await gone()).toBe(0);
    });
  });

  describe('a key for Apple that Google occasionally rejects for a few iPhones (A3)', () => {
    test('affects only those, which are retried, then rejected with the true reason', async () => {
      await bundle.addDevices(1_350);
      await only('IOS', 'fcm');
      const bad = new Set(['push-user-0', 'push-user-300', 'push-user-600', 'push-user-900', 'push-user-1349']);
      bundle.answer(({ pushId }) => (bad.has(pushId) ? appleKey() : accepted));
      const { campaignId, runId } = await send({ platforms: ['IOS'] });
      expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 1_345, WAITING: 5 });
      for (let tries = 0; tries < 4; tries += 1) {
        bundle.clock.advance(120_000);
        await retryAll();
      }
      expect(await codes(runId)).toEqual({ ACCEPTED: 1_345, THIRD_PARTY_AUTH_ERROR: 5 });
      await bundle.end();
      expect((await bundle.states(campaignId)).run).toBe('SENT');
      expect(await gone()).toBe(0);
    });

    test('holds the platform if all iPhones get the response, until a probe of one succeeds', async () => {
      await bundle.addDevices(60);
      await only('IOS', 'fcm');
      await bundle.database`
        update devices set platform = 'ANDROID', push_provider = null where push_id in ('push-user-0', 'push-user-1')`;
      bundle.answer(({ pushId }) => (/user-[01]$/.test(pushId) ? accepted : appleKey()));
      const { runId } = await send({ platforms: ['IOS', 'ANDROID'] });
      bundle.clock.advance(30_000);
      await retryAll();
      expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 2, WAITING: 58 });
      const before = bundle.sent.length;
      bundle.clock.advance(probeMilliseconds);
      await probe();
      await retryAll();
      // Still bad: one message was let through, and the others wait.
      expect(bundle.sent.length - before).toBe(1);
      bundle.answer(() => accepted);
      bundle.clock.advance(60_000);
      await probe();
      await retryAll();
      expect((await bundle.counters(runId)).ACCEPTED).toBe(3);
      expect(await bundle.mend()).toBe(1);
      bundle.clock.advance(1_000);
      await retryAll();
      expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 60 });
    });
  });

  describe.each([1, 2] as const)('with %i nodes, credentials of other providers that reject every device', (nodes) => {
    const webPushAnswer = (status: number): Outcome =>
      classifyWebPushAnswer({ kind: 'answer', status, headers: {}, body: '' }, bundle.clock.now());
    const hmsAnswer = (code: string): Outcome =>
      classifyHmsAnswer(answer(200, { code, msg: 'no' }), bundle.clock.now());
    const subscribe = async (origin: string): Promise<void> => {
      const keys = { p256dh: Buffer.alloc(65, 4).toString('base64url'), auth: Buffer.alloc(16).toString('base64url') };
      await bundle.database`
        update devices set platform = 'WEB', push_provider = null, push_id =
          ${`{"endpoint":"${origin}/`}::text || push_id || ${`","keys":${JSON.stringify(keys)}}`}::text`;
    };
    const providers = {
      'a proxy that answers 404 for every browser': {
        platform: 'WEB',
        reach: () => subscribe('https://fcm.googleapis.com'),
        bad: () => webPushAnswer(404),
      },
      'a contact address that every browser’s push service refuses': {
        platform: 'WEB',
        reach: () => subscribe('https://web.push.apple.com'),
        bad: () => webPushAnswer(403),
      },
      'Huawei’s client of another app': {
        platform: 'ANDROID',
        reach: () => only('ANDROID', 'hms'),
        bad: () => hmsAnswer('80300007'),
      },
    } as const;
    beforeEach(() =>
      bundle.credentials(() => ({
        ...bundle.simulatedCredentials,
        webpush: { publicKey: 'B'.repeat(87) } as never,
        hms: { owner: { kind: 'app', id: '1' } } as never,
      })),
    );

    test.each(Object.entries(providers))('remove no device: %s', async (_what, { platform, reach, bad }) => {
      for (const right of [undefined, 'push-user-700']) {
        await bundle.database`delete from provider_evidence`;
        await bundle.database`delete from devices`;
        await bundle.database`delete from users`;
        bundle.clock.advance(1_000);
        await bundle.addDevices(1_500);
        await reach();
        bundle.answer(({ pushId }) => (right !== undefined && pushId.includes(right) ? accepted : bad()));
        const { runId } = await send({ platforms: [platform] }, { nodes });
        bundle.clock.advance(30_000);
        await retryAll();
        expect(await gone()).toBe(0);
        expect((await bundle.counters(runId)).WAITING).toBeGreaterThan(1_400);
        await bundle.database`delete from run_refusals`;
        await bundle.database`delete from deliveries`;
        await bundle.database`update runs set status = 'STOPPED', status_reason = 'over', ended_at = now() where id = ${runId}`;
      }
    });

    test.each(Object.entries(providers).filter(([what]) => !what.startsWith('a contact')))(
      'remove nine of ten devices in one run if the rest is accepted: %s',
      async (_what, { platform, reach, bad }) => {
        await bundle.addDevices(1_000);
        await reach();
        bundle.answer(({ pushId }) => (/user-\d*7\b/.test(pushId) ? accepted : bad()));
        const { runId } = await send({ platforms: [platform] }, { nodes });
        bundle.clock.advance(30_000);
        await retryAll();
        expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 100, GONE: 900 });
        expect(await gone()).toBe(900);
      },
    );

    test('keep iPhones with tokens of the wrong environment, and send to them after the correction', async () => {
      await bundle.addDevices(3_000);
      await only('IOS');
      bundle.answer(() => apns(400, 'BadDeviceToken'));
      const { runId } = await send({ platforms: ['IOS'] }, { nodes });
      expect(await gone()).toBe(0);
      await correctCredential();
      bundle.answer(() => accepted);
      await bundle.mend();
      await bundle.work({ nodes });
      await retryAll();
      expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 3_000 });
    });

    test('are not affected by one browser at an unknown host that responds arbitrarily', async () => {
      await bundle.addDevices(120);
      await subscribe('https://fcm.googleapis.com');
      await bundle.database`
        update devices set push_id = replace(push_id, 'fcm.googleapis.com', 'push.evil.example')
        where push_id not like '%user-1_"%'`;
      let asked = 0;
      bundle.answer(({ pushId }) => {
        if (!pushId.includes('evil')) return accepted;
        asked += 1;
        return asked % 3 === 0 ? accepted : webPushAnswer(asked % 3 === 1 ? 429 : 403);
      });
      const { runId } = await send({ platforms: ['WEB'] }, { nodes });
      const [row] = await bundle.database`
        select count(*) as accepted from readable_deliveries as delivery
        join devices on devices.id = delivery.device_id and devices.bucket = delivery.bucket
        where run_id = ${runId} and outcome = 'ACCEPTED' and push_id like '%googleapis%'`;
      expect(row!.accepted).toBe(10);
      const [holds] = await bundle.database`select count(*) as held from provider_evidence where held_at is not null`;
      expect(holds!.held).toBe(0);
    });
  });

  test('removes nine of ten devices in the same run if they are certainly gone', async () => {
    await bundle.addDevices(1_000);
    await only('IOS');
    bundle.answer(({ pushId }) => (pushId.endsWith('7') ? accepted : apns(410, 'Unregistered')));
    const { runId } = await send({ platforms: ['IOS'] });
    expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 100, GONE: 900 });
    expect(await gone()).toBe(900);
  });

  describe('a malformed token (A8)', () => {
    const malformed = (): Outcome =>
      fcm(400, 'INVALID_ARGUMENT', {
        message: 'The registration token is not a valid FCM registration token',
        details: [fcmCode('INVALID_ARGUMENT')],
      });

    test('is suspected, and leaves the audience after three sends over 72 hours, unless a user keeps it', async () => {
      await bundle.addDevices(40);
      await only('ANDROID');
      bundle.answer(({ pushId }) => (pushId === 'push-user-3' ? malformed() : accepted));
      const suspected = () => bundle.database`
        select suspected_code as code, suspected_sends as sends, state from devices where push_id = 'push-user-3'`;
      for (const [hours, sends, state] of [
        [0, 1, 'ACTIVE'],
        [30, 2, 'ACTIVE'],
        [50, 3, 'GONE'],
      ] as const) {
        bundle.clock.advance(hours * 3_600_000);
        const { runId } = await send({ platforms: ['ANDROID'] });
        expect(await codes(runId)).toEqual({ ACCEPTED: 39, INVALID_ARGUMENT: 1 });
        expect([...(await suspected())]).toEqual([{ code: 'INVALID_ARGUMENT', sends, state }]);
      }
    });

    test('is not suspected if the message of every device is rejected, because the message is the cause', async () => {
      await bundle.addDevices(40);
      await only('ANDROID');
      bundle.answer(() => malformed());
      const { runId } = await send({ platforms: ['ANDROID'] });
      bundle.clock.advance(30_000);
      await retryAll();
      expect(await codes(runId)).toEqual({ INVALID_ARGUMENT: 40 });
      const [row] = await bundle.database`select count(*) as suspected from devices where suspected_code is not null`;
      expect(row!.suspected).toBe(0);
    });

    test('is cleared when the device is accepted in between', async () => {
      await bundle.addDevices(40);
      await only('ANDROID');
      for (const isBad of [true, true, false, true]) {
        bundle.answer(({ pushId }) => (isBad && pushId === 'push-user-3' ? malformed() : accepted));
        await send({ platforms: ['ANDROID'] });
        bundle.clock.advance(40 * 3_600_000);
      }
      const [row] =
        await bundle.database`select suspected_sends as sends, state from devices where push_id = 'push-user-3'`;
      expect(row).toMatchObject({ sends: 1, state: 'ACTIVE' });
    });
  });

  describe('a one-time password to a healthy phone', () => {
    test('is sent immediately although 100 failing phones hold the credential', async () => {
      await bundle.addDevices(105);
      await only('IOS');
      const healthy = new Set(Array.from({ length: 5 }, (_, index) => `push-user-${index}`));
      bundle.answer(({ pushId }) => (healthy.has(pushId) ? accepted : apns(400, 'BadDeviceToken')));
      await send({ platforms: ['IOS'] }, { windowDevices: 200 });
      const user = await bundle.userOf('user-2');
      for (let push = 0; push < 3; push += 1) {
        const { runId } = await send({ platforms: ['IOS'], audience: { kind: 'user' } as never, targetUsers: [user] });
        expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 1 });
        // The phones that fail are tried meanwhile, too.
        await send({ platforms: ['IOS'] }, { windowDevices: 200 });
        bundle.clock.advance(2_000);
      }
      // After half a quiet day as well.
      bundle.clock.advance(12 * 3_600_000);
      const { runId } = await send({ platforms: ['IOS'], audience: { kind: 'user' } as never, targetUsers: [user] });
      expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 1 });
    });
  });

  async function send(
    options: Parameters<FanOutBundle['accept']>[0] = {},
    { windowDevices = 100, nodes = 1 }: { windowDevices?: number; nodes?: 1 | 2 } = {},
  ) {
    const accepted = await bundle.accept(options);
    await bundle.release();
    await bundle.work({ windowDevices, nodes });
    return accepted;
  }

  /** Sends what is due again, as workers do, until nothing is. */
  async function retryAll(): Promise<void> {
    while ((await bundle.retry()) > 0);
  }

  /** The credential of Apple is stored again, with another environment. */
  async function correctCredential(): Promise<void> {
    const [row] = await bundle.database`
      insert into provider_credentials (workspace_id, provider, app_id, sealed, summary, simulated, updated_at)
      values (${bundle.workspaceId}, 'apns', 'default', '\\x00', '{}', true, ${bundle.clock.now()})
      returning '1 ' || extract(epoch from updated_at) as version`;
    bundle.version(row!.version as string);
  }
});

describe('rejected credentials', () => {
  let bundle: FanOutBundle;
  beforeAll(async () => {
    bundle = await makeFanOutBundle();
    await bundle.addDevices(90);
  });
  afterAll(() => bundle.drop());
  beforeEach(async () => {
    bundle.version('');
    bundle.sent.length = 0;
    bundle.messages.length = 0;
    bundle.credentials(() => bundle.simulatedCredentials);
    await bundle.database`delete from provider_credentials`;
    await bundle.database`delete from run_refusals`;
    await bundle.database`delete from provider_evidence`;
    // What a node knows of held credentials is at most a second old.
    bundle.clock.advance(1_000);
  });

  const refuseAll = { kind: 'stopped', code: 'InvalidProviderToken', detail: 'key K1 of team T1' } as const;
  const appleKey = { ifDevice: 'reject', ifAccount: 'hold' } as const;
  const platformOf = (pushId: string) => (['ANDROID', 'IOS', 'WEB'] as const)[Number(pushId.split('-').at(-1)) % 3]!;
  const refuse = (platform: 'ANDROID' | 'IOS') =>
    bundle.answer(({ pushId }) => (platformOf(pushId) === platform ? refuseAll : { kind: 'accepted' }));

  /** A credential of the provider is stored, as another than the one that was refused. */
  const mend = async (provider: string, at = bundle.clock.now()): Promise<void> => {
    const [row] = await bundle.database`
      insert into provider_credentials (workspace_id, provider, app_id, sealed, summary, simulated, updated_at)
      values (${bundle.workspaceId}, ${provider}, 'default', '\\x00', '{}', true, ${at})
      returning '1 ' || extract(epoch from updated_at) as version`;
    bundle.version(row!.version as string);
  };

  test('hold their own devices without further requests, while the run continues for the others', async () => {
    refuse('IOS');
    const { campaignId, runId } = await send();
    expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 60, WAITING: 30 });
    expect(await bundle.states(campaignId)).toMatchObject({
      run: 'SENDING',
      reason: 'refused, so these devices wait: InvalidProviderToken: key K1 of team T1',
    });
    // One window of each of the slots may have been open; the others knew.
    expect(bundle.sent.filter(({ pushId }) => platformOf(pushId) === 'IOS').length).toBeLessThan(25);
    await bundle.end();
    expect((await bundle.states(campaignId)).run).toBe('SENDING');
    bundle.clock.advance(3_600_000);
    expect(await bundle.retry()).toBe(0);
    expect(await bundle.mend()).toBe(0);
  });

  test('release their devices when they are replaced, which are sent to once with all their attempts', async () => {
    refuse('IOS');
    const { campaignId, runId } = await send();
    const before = bundle.sent.length;
    bundle.answer(() => ({ kind: 'accepted' }));
    await mend('apns');
    expect(await bundle.mend()).toBe(1);
    expect((await bundle.states(campaignId)).reason).toBeNull();
    while ((await bundle.retry()) > 0);
    expect(bundle.sent.length - before).toBe(30);
    expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 90 });
    const [row] = await bundle.database`select max(attempts) as attempts from deliveries`;
    expect(row!.attempts).toBe(1);
    await bundle.end();
    expect((await bundle.states(campaignId)).run).toBe('SENT');
  });

  test('release their devices when a check accepts them, too', async () => {
    await mend('fcm', new Date(0));
    refuse('ANDROID');
    const { runId } = await send();
    expect(await bundle.mend()).toBe(0);
    bundle.clock.advance(1_000);
    await bundle.database`
      update provider_credentials set check_verdict = 'REFUSED', check_words = 'no', checked_at = ${bundle.clock.now()}`;
    expect(await bundle.mend()).toBe(0);
    await bundle.database`update provider_credentials set check_verdict = 'ACCEPTED'`;
    expect(await bundle.mend()).toBe(1);
    bundle.answer(() => ({ kind: 'accepted' }));
    while ((await bundle.retry()) > 0);
    expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 90 });
  });

  test('pause a run if all are rejected, which continues when one is replaced', async () => {
    bundle.answer(() => refuseAll);
    const { campaignId, runId } = await send();
    expect(await bundle.states(campaignId)).toMatchObject({
      run: 'PAUSED',
      reason: 'InvalidProviderToken: key K1 of team T1',
    });
    await mend('fcm');
    bundle.answer(() => ({ kind: 'accepted' }));
    expect(await bundle.mend()).toBe(1);
    await bundle.work();
    while ((await bundle.retry()) > 0);
    expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 90 });
    expect((await bundle.states(campaignId)).run).toBe('SENDING');
  });

  test('leave a run paused that a user paused; resuming it tries the credential again', async () => {
    refuse('IOS');
    const { campaignId, runId } = await send();
    const change = (action: 'pause' | 'resume') =>
      changeCampaignState(bundle, {
        workspaceId: bundle.workspaceId,
        campaignId,
        action,
        actor: { kind: 'system', name: 'Olga' },
      });
    await change('pause');
    await mend('apns');
    await bundle.mend();
    expect((await bundle.states(campaignId)).run).toBe('PAUSED');
    bundle.answer(() => ({ kind: 'accepted' }));
    await change('resume');
    while ((await bundle.retry()) > 0);
    expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 90 });
  });

  test('let waiting devices expire with the lifetime of the message, and the run ends', async () => {
    refuse('IOS');
    const { campaignId, runId } = await send();
    bundle.clock.advance(86_400_000);
    while ((await bundle.retry()) > 0);
    expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 60, EXPIRED: 30 });
    await bundle.end();
    expect((await bundle.states(campaignId)).run).toBe('SENT');
  });

  test('stop only the iPhones if Firebase lacks their key, and not the Android phones of the project', async () => {
    await bundle.database`update devices set push_provider = 'fcm' where platform = 'IOS'`;
    bundle.answer(({ pushId }) =>
      platformOf(pushId) === 'IOS'
        ? { ...{ kind: 'ambiguous', code: 'THIRD_PARTY_AUTH_ERROR', detail: 'no key of Apple' }, ...appleKey }
        : { kind: 'accepted' },
    );
    const { runId } = await send();
    expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 60, WAITING: 30 });
    await bundle.database`update devices set push_provider = null`;
  });

  test('make the devices that a window held due immediately if the rejection was forgotten in the meantime', async () => {
    // No provider was asked, so there is no hold that others could end.
    const missing = { kind: 'stopped', code: 'NO_CREDENTIAL', detail: 'none for IOS' } as const;
    bundle.answer(({ pushId }) => (platformOf(pushId) === 'IOS' ? missing : { kind: 'accepted' }));
    const { campaignId, runId } = await bundle.accept({ platforms: ['IOS', 'WEB'] });
    await bundle.release();
    const chunk = (await bundle.claim('one'))!;
    const first = await bundle.sendWindow({ run: await bundle.run(runId), chunk, cursor: { bucket: 0, position: '' } });
    if (first.kind !== 'sent') throw new Error(first.kind);
    let forget: Promise<unknown> | undefined;
    bundle.answer(async () => {
      forget ??= bundle.database`delete from run_refusals`;
      await forget;
      return { kind: 'accepted' };
    });
    await bundle.sendWindow({ run: await bundle.run(runId), chunk, cursor: first.cursor });
    const rows = await bundle.database`
      select retry_at <= ${bundle.clock.now()} as due, count(*) as devices from readable_deliveries
      where run_id = ${runId} and outcome = 'WAITING' group by 1 order by 1`;
    expect(rows.map(({ due }) => due)).toEqual([false, true]);
    expect((await bundle.states(campaignId)).run).toBe('SENDING');
  });

  async function send(windowDevices = 10) {
    const accepted = await bundle.accept();
    await bundle.release();
    await bundle.work({ windowDevices });
    return accepted;
  }
});
