import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { generation, makeTokenBundle, refreshing } from './token-bundle.ts';
import type { TokenBundle } from './token-bundle.ts';
import { propertyRuns } from '../property-runs.ts';
import { anyText } from '../any-text.ts';

let bundle: TokenBundle;
beforeAll(async () => {
  bundle = await makeTokenBundle();
});
afterAll(() => bundle.end());

test('no issued key or token is in the database, the log or the API log, wherever it was sent', async () => {
  const workspaceId = await bundle.makeWorkspace();
  const { secret } = await bundle.makeKey({ workspaceId });
  const push = await bundle.makeKey({ workspaceId, kind: 'push' });
  const headers = { 'idempotency-key': 'once' };
  const issued = (await bundle.post('/v1/oauth/token', generation(workspaceId, secret), { headers })).json();
  const refreshed = (await bundle.post('/v1/oauth/refresh', refreshing(workspaceId, issued.refresh_token))).json();
  const secrets = [secret, push.secret, issued.access_token, issued.refresh_token, refreshed.access_token];
  for (const canary of secrets) {
    await bundle.guarded(canary);
    await bundle.post(`/v1/oauth/token?client_secret=${canary}`, generation(workspaceId, canary));
    await bundle.post('/v1/oauth/token', `${canary}&${canary}=${canary}`);
    await bundle.post('/v1/oauth/token', { ...generation(canary, canary), [canary]: canary });
    await bundle.post('/v1/oauth/refresh', { ...refreshing(workspaceId, canary), client_secret: canary });
    await bundle.post('/v1/oauth/token', canary, { headers: { 'content-type': 'text/plain' } });
    await bundle.server.inject({ url: `/guarded/data?access_token=${canary}` });
    await bundle.server.inject({ url: `/v1/oauth/token?client_secret=${canary}` });
  }
  const kept = [await dump(), bundle.logLines.join(''), JSON.stringify(bundle.calls)];
  expect(bundle.logLines.length).toBeGreaterThan(40);
  expect(kept[0]).toContain(workspaceId);
  for (const canary of secrets) {
    const spellings = [
      canary,
      canary.slice(4),
      Buffer.from(canary).toString('hex'),
      Buffer.from(canary).toString('base64'),
    ];
    for (const spelling of spellings) for (const text of kept) expect(text.includes(spelling)).toBe(false);
  }
});

/** Every row of every table as text; bytes as hexadecimal. */
async function dump(): Promise<string> {
  const tables = await bundle.database<{ name: string }[]>`
    select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE'`;
  const texts: string[] = [];
  for (const { name } of tables) {
    texts.push(JSON.stringify(await bundle.database`select t::text as row from ${bundle.database(name)} as t`));
  }
  return texts.join('\n');
}

const fields = ['grant_type', 'client_id', 'client_secret', 'refresh_token', 'token', '__proto__', 'constructor', ''];
const naughty = [
  '\0',
  '%00',
  '%',
  '%zz',
  '\ud800',
  "'; drop table users; --",
  '../..',
  'null',
  '=',
  '&',
  '{{7*7}}',
  '\r\n',
];

test('whatever a form holds, the answer is a refusal in the token error shape, never a fault of ours', async () => {
  const value = fc.oneof(
    anyText({ maxLength: 60 }),
    fc.constantFrom(...naughty),
    fc.constantFrom('client_credentials', 'refresh_token'),
  );
  const pair = fc.tuple(fc.oneof(fc.constantFrom(...fields), fc.string({ maxLength: 8 })), value, fc.boolean());
  const body = fc.oneof(
    fc
      .array(pair, { maxLength: 8 })
      .map((pairs) =>
        pairs
          .map(([name, text, escaped]) => `${name}=${escaped ? encodeURIComponent(text.toWellFormed()) : text}`)
          .join('&'),
      ),
    anyText({ maxLength: 200 }),
  );
  const request = fc.record({
    path: fc.constantFrom('/v1/oauth/token', '/v1/oauth/refresh', '/v1/oauth/revoke'),
    body,
    authorization: fc.option(
      fc.oneof(
        fc.base64String({ maxLength: 40 }).map((text) => `Basic ${text}`),
        fc.string({ maxLength: 20 }).map((text) => `Basic ${Buffer.from(text).toString('base64')}`),
      ),
      { nil: undefined },
    ),
    // Addresses vary, or the guess limit would answer most of them.
    address: fc.ipV4(),
  });
  await fc.assert(
    fc.asyncProperty(request, async ({ path, body: text, authorization, address }) => {
      const headers = authorization === undefined ? {} : { authorization };
      const answer = await bundle.post(path, text, { headers, address });
      expect([400, 401, 429]).toContain(answer.statusCode);
      expect(answer.json()).toMatchObject({ status: 'FAILURE', error_type: expect.any(String) });
    }),
    { numRuns: propertyRuns(400) },
  );
});

test('a form of raw bytes that are not UTF-8 is refused, not a fault', async () => {
  const payload = Buffer.concat([
    Buffer.from('grant_type=client_credentials&client_id='),
    Buffer.from([0xff, 0xfe, 0x00]),
  ]);
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const answer = await bundle.server.inject({ method: 'POST', url: '/v1/oauth/token', headers, payload });
  expect([answer.statusCode, answer.json().error_type]).toEqual([400, 'ER020']);
});
