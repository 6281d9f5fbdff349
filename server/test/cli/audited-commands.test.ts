import { afterAll, beforeAll, expect, test } from 'vitest';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { runCommand } from './run-command.ts';

let bundle: CarillonBundle;
beforeAll(async () => {
  bundle = await startCarillonBundle();
});
afterAll(() => bundle?.stop());

async function run(...parameters: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCommand(bundle, parameters);
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  return stdout;
}

/** The lines of the audit log since the last call. */
async function takeLines(): Promise<{ action: string; object: string | null; detail: object }[]> {
  return bundle.database`
    with taken as (delete from audit_log returning id, action, object_id as object, detail, actor_id, actor_name)
    select action, object, detail from taken
    where actor_id is null and lower(actor_name) like '%command line' order by id`;
}

test('keys, segments, callbacks and campaigns that a command changes have a line in the audit log', async () => {
  await takeLines();
  const { id } = JSON.parse(await run('keys', 'create', '--kind', 'data', '--json')) as { id: string };
  const successor = JSON.parse(await run('keys', 'rotate', id, '--json')) as { id: string };
  await run('keys', 'revoke', successor.id);
  expect(await takeLines()).toEqual([
    { action: 'key.create', object: id, detail: expect.any(Object) },
    { action: 'key.rotate', object: id, detail: expect.any(Object) },
    { action: 'key.revoke', object: successor.id, detail: {} },
  ]);

  await run('callbacks', 'secret');
  const address = ['--url', 'https://files.example/users.csv', '--attribute', 'uid', '--type', 'string'];
  const created = await run('segments', 'create', '--name', 'Of a command', ...address, '--expiry-days', '5');
  const [, segmentId] = /^Segment id (\S+)$/m.exec(created)!;
  expect(await takeLines()).toEqual([
    { action: 'webhook-secret.read', object: bundle.workspaceId, detail: {} },
    { action: 'segment.fetch', object: segmentId, detail: expect.any(Object) },
  ]);

  const { cid } = (
    await bundle.push({
      ...{ campaignName: 'Every day', targetAudience: 'All Users', targetPlatform: ['ANDROID'] },
      payload: { ANDROID: { title: 'Title', message: 'Text' } },
      campaignDelivery: { type: 'periodic', endDate: '12/31/2099', time: '09:00 AM', repeatAfter: '1' },
    })
  ).json() as { cid: string };
  for (const action of ['pause', 'resume', 'stop']) await run('campaigns', action, cid);
  expect(await takeLines()).toEqual([
    { action: 'campaign.pause', object: cid, detail: { from: 'ACTIVE', to: 'PAUSED' } },
    { action: 'campaign.resume', object: cid, detail: { from: 'PAUSED', to: 'ACTIVE' } },
    { action: 'campaign.stop', object: cid, detail: { from: 'ACTIVE', to: 'STOPPED' } },
  ]);
});

test('token secrets are shown, rotated and retired, tokens end with them, and each change has a line in the audit log', async () => {
  const check = async ({ accessToken }: { accessToken: string }): Promise<number> => {
    const headers = { authorization: `Bearer ${accessToken}` };
    const path = `/v1/customers/export?app_id=${bundle.workspaceId}`;
    // Any data route: a valid token gets past the credentials, to the faults of the body.
    return (await bundle.call('POST', path, { headers, body: {} })).status;
  };
  const status = async (): Promise<string[]> => {
    const { secrets } = JSON.parse(await run('tokens', 'status', '--json')) as { secrets: { state: string }[] };
    return secrets.map(({ state }) => state);
  };
  const old = await bundle.token();
  await takeLines();
  expect(await check(old)).toBe(400);
  expect(await status()).toEqual(['issues']);

  expect(await run('tokens', 'rotate-secret')).toContain('Secret 2 issues');
  expect(await status()).toEqual(['accepts', 'issues']);
  expect(await check(old)).toBe(400);
  const refused = await runCommand(bundle, ['tokens', 'rotate-secret']);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('secret 1: is still accepted') });

  await run('tokens', 'retire-secret', '1');
  await until(async () => (await check(old)) === 401);
  expect(await status()).toEqual(['retired', 'issues']);
  expect(await runCommand(bundle, ['tokens', 'retire-secret', '7'])).toMatchObject({ code: 2 });

  const young = await bundle.token();
  expect(await check(young)).toBe(400);
  await run('tokens', 'end-all');
  await until(async () => (await check(young)) === 401);
  expect((await takeLines()).map(({ action, object }) => [action, object])).toEqual([
    ['token-secret.create', '2'],
    ['token-secret.retire', '1'],
    ['token.end-all', null],
  ]);
});
