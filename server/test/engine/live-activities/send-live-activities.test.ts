import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makeManualClock } from '../../../src/clock.ts';
import type { CredentialsOfApps } from '../../../src/domain/credentials/credentials.ts';
import { maxDeliveryAttempts } from '../../../src/domain/limits/delivery.ts';
import type { Outcome } from '../../../src/providers/provider.ts';
import { makeOutcomeBuffer } from '../../../src/engine/jobs/outcome-buffer.ts';
import { makeEvidence } from '../../../src/engine/governor/provider-evidence.ts';
import { makeSendLiveActivities } from '../../../src/engine/live-activities.ts';
import type { SendLiveActivitiesDependencies } from '../../../src/engine/live-activities.ts';
import { makeLog } from '../../../src/log.ts';
import { createTestDatabase } from '../../test-database.ts';
import type { TestDatabase } from '../../test-database.ts';
import { insertTestWorkspace } from '../../test-workspace.ts';

const now = new Date('2026-03-01T12:00:00Z');
const later = (seconds: number): Date => new Date(now.getTime() + seconds * 1000);

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

type Asked = Parameters<SendLiveActivitiesDependencies['delivery']['deliverLiveActivity']>[0];

const credential = { teamId: 'TEAM', topic: 'com.example.shop' } as never;
const withCredential: CredentialsOfApps['find'] = () => ({
  credentials: { apns: credential },
  name: { provider: 'apns', appId: 'default', version: 'v1' },
});

type Given = {
  row?: { attempts?: number; sendUntil?: Date; appId?: string };
  find?: CredentialsOfApps['find'];
  outcome?: Outcome;
  turn?: Date;
  aheadMilliseconds?: number;
};

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

test('a due message is sent with its app’s credential, before campaigns, and its outcome stored', async () => {
  const { asked, looks, turns, stored, tokens, job, clock } = await send();
  expect(asked).toEqual([
    {
      message: expect.objectContaining({ id: 'message', token: 'c1', priority: 5, body: '{}', expiresAt: later(3600) }),
      credential,
    },
  ]);
  expect(looks).toEqual([[workspaceId, { platform: 'IOS', appId: 'shop' }]]);
  expect(turns).toEqual([{ account: 'apns:TEAM', lane: 0, messages: 1 }]);
  expect(stored).toEqual({ state: 'ACCEPTED', code: null, attempts: 1, nextAt: null });
  expect(tokens).toEqual(['c1', 'c2']);
  expect(await job.runOnce(clock.now())).toBe(0);
});

test('a message of the default app asks for the credential of no other', async () => {
  const { looks } = await send({ row: { appId: 'default' } });
  expect(looks).toEqual([[workspaceId, { platform: 'IOS', appId: null }]]);
});

test('a token that Apple knows no more is removed, and no other', async () => {
  const { stored, tokens } = await send({ outcome: { kind: 'gone', code: 'Unregistered' } });
  expect(stored).toMatchObject({ state: 'GONE', code: 'Unregistered' });
  expect(tokens).toEqual(['c2']);
});

describe('a token that Apple calls bad, as it does with every token of the wrong environment (field report A2)', () => {
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

  test('is tried again, and in the end its message is rejected; the token stays', async () => {
    const first = await send({ outcome: bad });
    expect(first.stored).toMatchObject({ state: 'WAITING', code: 'BadDeviceToken', attempts: 1 });
    await testDatabase.database.unsafe('delete from live_activity_messages; delete from live_activity_tokens');
    const { stored, tokens } = await send({ row: { attempts: 2 }, outcome: bad });
    expect(stored).toMatchObject({ state: 'REJECTED', code: 'BadDeviceToken' });
    expect(tokens).toEqual(['c1', 'c2']);
  });

  test('waits for the credential where twenty others got the same', async () => {
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

test('a message whose time is over is not sent, at the very instant either', async () => {
  const { asked, looks, stored } = await send({ row: { sendUntil: now } });
  expect([asked, looks]).toEqual([[], []]);
  expect(stored).toMatchObject({ state: 'EXPIRED', code: 'TTL' });
});

test('a message whose workers died until no attempt was left is set aside', async () => {
  expect((await send({ row: { attempts: maxDeliveryAttempts - 1 } })).stored).toMatchObject({ state: 'ACCEPTED' });
  await testDatabase.database.unsafe('delete from live_activity_messages; delete from live_activity_tokens');
  const { asked, stored } = await send({ row: { attempts: maxDeliveryAttempts } });
  expect(asked).toEqual([]);
  expect(stored).toMatchObject({ state: 'FAILED', code: 'SET_ASIDE' });
});

test('an app without a credential while others have one is rejected; without one at all somebody may add it', async () => {
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

test('while the account is silent nothing is sent, and no attempt counts', async () => {
  const { asked, stored } = await send({ turn: later(30) });
  expect(asked).toEqual([]);
  expect(stored).toEqual({ state: 'WAITING', code: 'PROVIDER_WAIT', attempts: 0, nextAt: later(32.5) });
});

test('Apple is told the end of a message by real time, whatever the sandbox’s clock says', async () => {
  const { asked } = await send({ aheadMilliseconds: 600_000 });
  expect(asked[0]!.message.expiresAt).toEqual(later(3000));
});
