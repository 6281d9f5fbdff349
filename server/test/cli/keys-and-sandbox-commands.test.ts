import { afterAll, beforeAll, expect, test } from 'vitest';
import { startCarillonBundle } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { runCommand } from './run-command.ts';

let bundle: CarillonBundle;
beforeAll(async () => {
  bundle = await startCarillonBundle();
});
afterAll(() => bundle?.stop());

const run = (...parameters: string[]) => runCommand(bundle, parameters);
const listKeys = async () =>
  (await run('keys', 'list', '--json')).stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: string; kind: string; state: string; name: string; lastUsed: unknown });
const bearsToken = async (secret: string): Promise<number> => {
  const form = { grant_type: 'client_credentials', client_id: bundle.workspaceId, client_secret: secret };
  return (await fetch(`${bundle.url}/v1/oauth/token`, { method: 'POST', body: new URLSearchParams(form) })).status;
};

test('keys are listed without secrets, rotated with an overlap, and revoked for good', async () => {
  const before = await listKeys();
  const old = before.find(({ kind }) => kind === 'oauth')!;
  expect(old).toMatchObject({ state: 'active', lastUsed: null });
  expect(JSON.stringify(before)).not.toContain(bundle.keys.oauth);

  const rotated = await run('keys', 'rotate', old.id, '--overlap-hours', '2');
  const [, secret] = /^Secret +(\S+)$/m.exec(rotated.stdout)!;
  expect([await bearsToken(secret!), await bearsToken(bundle.keys.oauth)]).toEqual([200, 200]);
  expect((await listKeys()).find(({ id }) => id === old.id)!.state).toMatch(/^until 20/);

  expect((await run('keys', 'revoke', old.id)).code).toBe(0);
  expect([await bearsToken(secret!), await bearsToken(bundle.keys.oauth)]).toEqual([200, 401]);
  const again = await run('keys', 'rotate', old.id);
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining(`There is no key ${old.id}`)]);
});

test('the clock and the faults of the running node are those of the command line', async () => {
  const moved = await run('sandbox', 'clock', '--advance', '2d');
  expect([moved.code, moved.stdout]).toEqual([0, expect.stringMatching(/^Moved by +172800 s$/m)]);
  expect((await run('sandbox', 'clock', '--freeze')).stdout).toContain('It stands until it is moved');
  expect((await run('sandbox', 'clock', '--reset')).stdout).toMatch(/^Moved by +0 s$/m);

  expect((await run('sandbox', 'faults', '--set', '{"api":{"route":"/v1/*","status":500}}')).code).toBe(0);
  expect(await bearsToken('any')).toBe(500);
  const refused = await run('sandbox', 'faults', '--set', '{"gcm":{}}');
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('gcm')]);
  expect(await bearsToken('any')).toBe(500);
  expect((await run('sandbox', 'reset')).stdout).toContain('without counters and faults');
  expect(await bearsToken('any')).toBe(401);
});

test.each([
  [['sandbox', 'clock', '--advance', '2 days'], 's, m, h or d'],
  [['sandbox', 'clock', '--advance', '2d', '--reset'], 'cannot be used with'],
  [['sandbox', 'faults', '--set', '[]'], 'an object in JSON'],
  [['sandbox', 'faults'], "one of '--set <json>' and '--clear' is needed"],
  [['keys', 'rotate', 'x', '--overlap-hours', '721'], '0 to 720'],
])('%j is refused before anything is opened: 2', async (parameters, reason) => {
  const refused = await run(...parameters);
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(reason)]);
});

test('credentials check says how the outgoing proxy does, where there is one', async () => {
  const check = async (environment: Record<string, string>, ...more: string[]) => {
    const beside = { config: bundle.config, environment };
    return (await runCommand(beside, ['credentials', 'check', '--workspace', bundle.workspaceId, ...more])).stdout;
  };
  // The simulators are on this machine, which no proxy is asked for.
  const proxy = { CARILLON_OUTGOING_PROXY: 'http://127.0.0.1:1' };
  expect(await check(proxy)).toMatch(/\noutgoing proxy: UNUSED\n$/);
  expect(JSON.parse((await check(proxy, '--json')).split('\n')[0]!)).toMatchObject({ proxy: 'UNUSED' });
  expect(await check({})).not.toContain('proxy');
});
