import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makeManualClock } from '../../src/clock.ts';
import type { CredentialsOfApps } from '../../src/domain/credentials/credentials.ts';
import { writeLivePayload } from '../../src/domain/events/live-activities.ts';
import { maxDeliveryAttempts } from '../../src/domain/limits/delivery.ts';
import { makeEvidence } from '../../src/engine/governor/provider-evidence.ts';
import { makeOutcomeBuffer } from '../../src/engine/jobs/outcome-buffer.ts';
import { makeSendLiveActivities, settleLiveOutcome } from '../../src/engine/live-activities.ts';
import type { SendLiveActivitiesDependencies } from '../../src/engine/live-activities.ts';
import { makeLog } from '../../src/log.ts';
import { checkLiveActivity } from '../../src/providers/apns/simulator.ts';
import type { Outcome } from '../../src/providers/provider.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';
import { makeRecordingGovernor } from './governor/recording-governor.ts';

const now = new Date('2026-03-01T12:00:00Z');
const later = (seconds: number): Date => new Date(now.getTime() + seconds * 1000);

type Asked = Parameters<SendLiveActivitiesDependencies['delivery']['deliverLiveActivity']>[0];

type Given = {
  row?: { attempts?: number; sendUntil?: Date; appId?: string };
  find?: CredentialsOfApps['find'];
  outcome?: Outcome;
  turn?: Date;
  aheadMilliseconds?: number;
};

describe('the sender of Live Activities', () => {
  let testDatabase: TestDatabase;
  let workspaceId: string;
  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    workspaceId = await insertTestWorkspace(testDatabase.database, now);
  });
  afterAll(() => testDatabase.drop());
  beforeEach(async () => {
    await testDatabase.database.unsafe('delete from live_activity_messages; delete from live_activity_tokens');
  });

  const credential = { teamId: 'TEAM', topic: 'com.example.shop' } as never;
  const withCredential: CredentialsOfApps['find'] = () => ({
    credentials: { apns: credential },
    name: { provider: 'apns', appId: 'default', version: 'v1' },
  });

  test('sends a due message with the credential of its app, before campaigns, and stores its outcome', async () => {
    const { asked, looks, turns, stored, tokens, job, clock } = await send();
    expect(asked).toEqual([
      {
        message: expect.objectContaining({
          id: 'message',
          token: 'c1',
          priority: 5,
          body: '{}',
          expiresAt: later(3600),
        }),
        credential,
      },
    ]);
    expect(looks).toEqual([[workspaceId, { platform: 'IOS', appId: 'shop' }]]);
    expect(turns).toEqual([{ account: 'apns:TEAM', lane: 0, messages: 1 }]);
    expect(stored).toEqual({ state: 'ACCEPTED', code: null, attempts: 1, nextAt: null });
    expect(tokens).toEqual(['c1', 'c2']);
    expect(await job.runOnce(clock.now())).toBe(0);
  });

  test('requests no credential of another app for a message of the default app', async () => {
    const { looks } = await send({ row: { appId: 'default' } });
    expect(looks).toEqual([[workspaceId, { platform: 'IOS', appId: null }]]);
  });

  test('removes a token that Apple reports as unregistered, and no other', async () => {
    const { stored, tokens } = await send({ outcome: { kind: 'gone', code: 'Unregistered' } });
    expect(stored).toMatchObject({ state: 'GONE', code: 'Unregistered' });
    expect(tokens).toEqual(['c2']);
  });

  describe('a token that Apple rejects, as it does every token of the wrong environment (field report A2)', () => {
    const bad = {
      kind: 'ambiguous',
      code: 'BadDeviceToken',
      detail: 'HTTP 400 BadDeviceToken',
      ifDevice: 'suspect',
      ifAccount: 'hold',
    } as const;
    beforeEach(async () => {
      await testDatabase.database`delete from provider_evidence`;
    });

    test('is tried again, and its message finally rejected, but the token stays', async () => {
      const first = await send({ outcome: bad });
      expect(first.stored).toMatchObject({ state: 'WAITING', code: 'BadDeviceToken', attempts: 1 });
      await testDatabase.database.unsafe('delete from live_activity_messages; delete from live_activity_tokens');
      const { stored, tokens } = await send({ row: { attempts: 2 }, outcome: bad });
      expect(stored).toMatchObject({ state: 'REJECTED', code: 'BadDeviceToken' });
      expect(tokens).toEqual(['c1', 'c2']);
    });

    test('waits for the credential if twenty others got the same response', async () => {
      const remembered = Array.from({ length: 19 }, (_, index) => ({
        ...{ deviceId: `t${index}`, code: 'BadDeviceToken', at: now.getTime() },
      }));
      const { name, credentials } = withCredential({ platform: 'IOS', appId: 'shop' } as never)!;
      const { environment, topic } = credentials.apns!;
      await testDatabase.database`
        insert into provider_evidence (key, workspace_id, provider, app_id, remembered, updated_at)
        values (${[workspaceId, 'apns', name.appId, name.version, environment, topic, 'liveactivity'].join(' ')},
          ${workspaceId}, 'apns', ${name.appId}, ${JSON.stringify(remembered)}::text::jsonb, ${now})`;
      const { stored, tokens } = await send({ row: { attempts: 2 }, outcome: bad });
      expect(stored).toMatchObject({ state: 'WAITING', code: 'BadDeviceToken', attempts: 2 });
      expect(tokens).toEqual(['c1', 'c2']);
    });
  });

  test('does not send a message at or after the end of its lifetime', async () => {
    const { asked, looks, stored } = await send({ row: { sendUntil: now } });
    expect([asked, looks]).toEqual([[], []]);
    expect(stored).toMatchObject({ state: 'EXPIRED', code: 'TTL' });
  });

  test('quarantines a message whose workers died at every attempt', async () => {
    expect((await send({ row: { attempts: maxDeliveryAttempts - 1 } })).stored).toMatchObject({ state: 'ACCEPTED' });
    await testDatabase.database.unsafe('delete from live_activity_messages; delete from live_activity_tokens');
    const { asked, stored } = await send({ row: { attempts: maxDeliveryAttempts } });
    expect(asked).toEqual([]);
    expect(stored).toMatchObject({ state: 'FAILED', code: 'SET_ASIDE' });
  });

  test('rejects an app without a credential if others have one, and waits if there is none', async () => {
    expect((await send({ find: () => undefined })).stored).toMatchObject({
      state: 'REJECTED',
      code: 'NO_CREDENTIAL_FOR_APP',
    });
    await testDatabase.database.unsafe('delete from live_activity_messages; delete from live_activity_tokens');
    const { asked, turns, stored } = await send({
      find: (app) => ({ ...withCredential(app)!, credentials: {} }),
    });
    expect([asked, turns]).toEqual([[], []]);
    expect(stored).toEqual({ state: 'WAITING', code: 'NO_CREDENTIAL', attempts: 0, nextAt: later(32.5) });
  });

  test('sends nothing while the account is paused, and counts no attempt', async () => {
    const { asked, stored } = await send({ turn: later(30) });
    expect(asked).toEqual([]);
    expect(stored).toEqual({ state: 'WAITING', code: 'PROVIDER_WAIT', attempts: 0, nextAt: later(32.5) });
  });

  test('sends the expiry of a message in real time, whatever the clock of the sandbox', async () => {
    const { asked } = await send({ aheadMilliseconds: 600_000 });
    expect(asked[0]!.message.expiresAt).toEqual(later(3000));
  });

  /** Sends one message that is due, and says what was asked and what is stored. */
  async function send({ row = {}, find = withCredential, outcome = { kind: 'accepted' }, turn, ...given }: Given = {}) {
    const { database } = testDatabase;
    const { attempts = 0, sendUntil = later(3600), appId = 'shop' } = row;
    await database`
      insert into live_activity_tokens (workspace_id, app_id, activity_id, kind, token)
      values (${workspaceId}, ${appId}, 'order', 'UPDATE', 'c1'), (${workspaceId}, ${appId}, 'order', 'UPDATE', 'c2')`;
    await database`
      insert into live_activity_messages (id, workspace_id, app_id, activity_id, event, "timestamp", token, priority, body,
        attempts, next_at, send_until, created_at)
      values ('message', ${workspaceId}, ${appId}, 'order', 'update', 7, 'c1', 5, '{}', ${attempts}, ${now}, ${sendUntil},
        ${now})`;
    const clock = makeManualClock(now);
    clock.setOffset(given.aheadMilliseconds ?? 0);
    const log = makeLog({ level: 'silent', pretty: false });
    const asked: Asked[] = [];
    const looks: unknown[] = [];
    const turns: unknown[] = [];
    const job = makeSendLiveActivities({
      ...{ database, clock, log, random: () => 0.5, outcomes: makeOutcomeBuffer({ log, pause: async () => {} }) },
      evidence: makeEvidence({ database, clock, log }),
      loadCredentials: async (workspace) => ({
        apps: [],
        find(app) {
          looks.push([workspace, app]);
          return find(app);
        },
      }),
      delivery: {
        async deliverLiveActivity(one) {
          asked.push(one);
          return outcome;
        },
      },
      governor: {
        acquire(account, { onTurn, ...more }) {
          turns.push({ account: account.key, ...more });
          onTurn(turn);
        },
        pause() {},
        pauseAfterFailure: () => later(60),
        report() {},
      },
    });
    expect(await job.runOnce(clock.now())).toBe(1);
    await job.settled();
    const [stored] = await database`
      select state, code, attempts, next_at as "nextAt" from live_activity_messages`;
    const tokens = await database<{ token: string }[]>`select token from live_activity_tokens order by token`;
    return { asked, looks, turns, stored, tokens: tokens.map(({ token }) => token), job, clock };
  }
});

type Settling = Parameters<typeof settleLiveOutcome>[1];

describe('the outcome of a Live Activity event', () => {
  const account = { key: 'apns:TEAM', perMinute: undefined, throttledPerMinute: undefined };

  test('is final if Apple accepted, rejected or no longer knows the token, and the account is informed', () => {
    expect(settle({ kind: 'accepted' })).toEqual({
      settled: { state: 'ACCEPTED', code: null },
      told: [{ reported: 'apns:TEAM', kind: 'accepted' }],
    });
    expect(settle({ kind: 'gone', code: 'Unregistered' })).toEqual({
      settled: { state: 'GONE', code: 'Unregistered' },
      told: [{ reported: 'apns:TEAM', kind: 'gone' }],
    });
    expect(settle({ kind: 'rejected', code: 'BadTopic', detail: '' })).toEqual({
      settled: { state: 'REJECTED', code: 'BadTopic' },
      told: [{ reported: 'apns:TEAM', kind: 'rejected' }],
    });
    expect(settle({ kind: 'accepted' }, { account: undefined }).told).toEqual([]);
  });

  test('counts no attempt for an unsent event, which is retried some seconds after its time', () => {
    expect(settle({ kind: 'held', until: later(60) })).toEqual({
      settled: { state: 'WAITING', code: 'PROVIDER_WAIT', nextAt: later(62.5), attempts: 2 },
      told: [],
    });
    // Somebody may have mended the credential half a minute later.
    expect(settle({ kind: 'stopped', code: 'InvalidProviderToken', detail: '' })).toEqual({
      settled: { state: 'WAITING', code: 'InvalidProviderToken', nextAt: later(32.5), attempts: 2 },
      told: [{ reported: 'apns:TEAM', kind: 'stopped' }],
    });
    expect(settle({ kind: 'unreached', code: 'unreachable' })).toEqual({
      settled: { state: 'WAITING', code: 'unreachable', nextAt: later(122.5), attempts: 2 },
      told: [{ unreached: 'apns:TEAM' }],
    });
    expect(settle({ kind: 'unreached', code: 'unreachable' }, { account: undefined })).toEqual({
      settled: { state: 'WAITING', code: 'unreachable', nextAt: later(2.5), attempts: 2 },
      told: [],
    });
  });

  test('is a retry like that of a campaign, up to the same number of attempts', () => {
    const wait = { kind: 'wait', code: 'ServiceUnavailable', scope: 'device' } as const;
    const unknown = { kind: 'unknown', code: 'timeout' } as const;
    // The third attempt: between 10 and 80 seconds, and the draw is 0.5.
    expect(settle(wait)).toEqual({
      settled: { state: 'WAITING', code: 'ServiceUnavailable', nextAt: later(45), attempts: 3 },
      told: [{ reported: 'apns:TEAM', kind: 'wait' }],
    });
    expect(settle(unknown).settled).toEqual({ state: 'WAITING', code: 'timeout', nextAt: later(45), attempts: 3 });
    expect(settle({ ...wait, retryAfterSeconds: 300 }).settled).toMatchObject({ nextAt: later(302.5) });
    for (const outcome of [wait, unknown]) {
      const message = { attempts: maxDeliveryAttempts, sendUntil: later(3600) };
      expect(settle(outcome, { message }).settled).toEqual({ state: 'FAILED', code: outcome.code });
      expect(settle(outcome, { message: { ...message, attempts: message.attempts - 1 } }).settled.state).toBe(
        'WAITING',
      );
    }
  });

  test('pauses the account that Apple asked to wait, even after the last attempt', () => {
    const wait = { kind: 'wait', code: 'TooManyRequests', scope: 'credential', retryAfterSeconds: 600 } as const;
    const message = { attempts: maxDeliveryAttempts, sendUntil: later(3600) };
    const { settled, told } = settle(wait, { message });
    expect(settled).toEqual({ state: 'FAILED', code: 'TooManyRequests' });
    expect(told).toContainEqual({ silenced: 'apns:TEAM', until: later(602.5), reason: 'TooManyRequests' });
  });

  test('pauses the account for a wait of the whole account, and for no other wait', () => {
    const ofAccount = { kind: 'wait', code: 'TooManyRequests', scope: 'credential' } as const;
    expect(settle(ofAccount)).toEqual({
      settled: { state: 'WAITING', code: 'TooManyRequests', nextAt: later(105), attempts: 3 },
      told: [
        { reported: 'apns:TEAM', kind: 'wait' },
        { silenced: 'apns:TEAM', until: later(105), reason: 'TooManyRequests' },
      ],
    });
    expect(settle(ofAccount, { account: undefined }).told).toEqual([]);
  });

  test('is final if the event would be sent after its lifetime', () => {
    const at = (seconds: number) =>
      settle({ kind: 'held', until: later(60) }, { message: { attempts: 1, sendUntil: later(seconds) } }).settled;
    expect(at(62.5)).toEqual({ state: 'EXPIRED', code: 'PROVIDER_WAIT' });
    expect(at(62.501)).toEqual({ state: 'WAITING', code: 'PROVIDER_WAIT', nextAt: later(62.5), attempts: 0 });
  });

  /** Of the third attempt, with a draw of 0.5, of a message that lives an hour. */
  function settle(outcome: Settling['outcome'], more: Partial<Settling> = {}) {
    const { governor, told } = makeRecordingGovernor(later(120));
    const message = { attempts: 3, sendUntil: later(3600) };
    const deps = { clock: makeManualClock(now), governor, random: () => 0.5 };
    return { settled: settleLiveOutcome(deps, { message, account, outcome, ...more }), told };
  }
});

describe('the checks of the simulator', () => {
  const headers = { 'apns-topic': 'com.example.shop.push-type.liveactivity', 'apns-priority': '10' };
  const update = { timestamp: 1_790_000_000, event: 'update', 'content-state': { step: 2 } };
  const start = {
    ...{ ...update, event: 'start', 'attributes-type': 'OrderAttributes', attributes: { order: '17' } },
    alert: { title: 'Order 17', body: 'On its way' },
  };
  const reasonOf = (aps: object, { more = {}, beside = {} } = {}) =>
    checkLiveActivity({ aps, ...beside }, { ...headers, ...more });
  const without = (aps: Record<string, unknown>, name: string) => {
    const { [name]: _left, ...rest } = aps;
    return rest;
  };

  test('accept the events that the server writes', () => {
    const event = { kind: 'update', contentState: { step: 2 }, staleDate: 1_790_003_600, priority: 5 } as const;
    expect(checkLiveActivity(JSON.parse(writeLivePayload(event, 1_790_000_000)), headers)).toBeUndefined();
    const { attributes, alert } = start;
    const begin = { ...event, kind: 'start', attributesType: 'OrderAttributes', attributes, alert } as const;
    expect(checkLiveActivity(JSON.parse(writeLivePayload(begin, 1_790_000_000)), headers)).toBeUndefined();
    expect(reasonOf({ ...update, event: 'end', 'dismissal-date': 1_790_003_600 })).toBeUndefined();
  });

  test.each<[string, { aps: object; more?: object; beside?: object }, string]>([
    ['an update without a time', { aps: without(update, 'timestamp') }, 'BadMessage'],
    ['an update without a state', { aps: without(update, 'content-state') }, 'BadMessage'],
    ['a start without a type', { aps: without(start, 'attributes-type') }, 'BadMessage'],
    ['a start without attributes', { aps: without(start, 'attributes') }, 'BadMessage'],
    ['a start without an alert', { aps: without(start, 'alert') }, 'BadMessage'],
    ['an update with attributes', { aps: { ...update, attributes: {} } }, 'BadMessage'],
    ['an event that there is not', { aps: { ...update, event: 'stop' } }, 'BadMessage'],
    ['milliseconds', { aps: { ...update, timestamp: 1_790_000_000_000 } }, 'BadMessage'],
    ['a member of another kind of push', { aps: { ...update, badge: 1 } }, 'BadMessage'],
    ['a member next to aps', { aps: update, beside: { svc: {} } }, 'BadMessage'],
    ['the topic of the app', { aps: update, more: { 'apns-topic': 'com.example.shop' } }, 'BadTopic'],
    ['a priority of 1', { aps: update, more: { 'apns-priority': '1' } }, 'BadPriority'],
  ])('reject %s', (_, { aps, ...more }, reason) => {
    expect(reasonOf(aps, more)).toBe(reason);
  });
});
