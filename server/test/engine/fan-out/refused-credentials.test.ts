import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { changeCampaignState } from '../../../src/app/campaigns/change-campaign-state.ts';
import { makeFanOutBundle } from './fan-out-bundle.ts';
import type { FanOutBundle } from './fan-out-bundle.ts';

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

async function send(windowDevices = 10) {
  const accepted = await bundle.accept();
  await bundle.release();
  await bundle.work({ windowDevices });
  return accepted;
}

test('a refused credential holds its own devices, is asked about no more, and the run goes on for the others', async () => {
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

test('when the credential is another, its devices are sent to, once each, with all their attempts', async () => {
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

test('a credential that is taken when it is checked again goes on as well', async () => {
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

test('a run whose credentials are all refused pauses, and goes on by itself when one of them is mended', async () => {
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

test('a run that somebody paused stays so, whatever is mended; who resumes it tries the credential again', async () => {
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

test("devices that wait when the message's time is over expire, and the run ends", async () => {
  refuse('IOS');
  const { campaignId, runId } = await send();
  bundle.clock.advance(86_400_000);
  while ((await bundle.retry()) > 0);
  expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 60, EXPIRED: 30 });
  await bundle.end();
  expect((await bundle.states(campaignId)).run).toBe('SENT');
});

test("what Firebase lacks for iPhones stops them alone, not the project's Android phones", async () => {
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

test('what a window held because a refusal was known is due at once when it was forgotten meanwhile', async () => {
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
