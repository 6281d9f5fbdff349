import { afterAll, beforeAll, expect, test } from 'vitest';
import { generation, makeTokenBundle } from './token-bundle.ts';
import type { TokenBundle } from './token-bundle.ts';

let bundle: TokenBundle;
let workspaceId: string;
let accessToken: string;
beforeAll(async () => {
  bundle = await makeTokenBundle();
  workspaceId = await bundle.makeWorkspace();
  const { secret } = await bundle.makeKey({ workspaceId, scopes: ['data'] });
  accessToken = (await bundle.post('/v1/oauth/token', generation(workspaceId, secret))).json().access_token;
});
afterAll(() => bundle.end());

const invalid = { code: 'ER001', target: 'Authentication Invalid', message: 'Auth validation failed.' };

test('a call without credentials is 401 ER001 with a bare challenge (decision D16, RFC 6750 §3.1)', async () => {
  const answer = await bundle.server.inject({ url: '/guarded/data' });
  expect([answer.statusCode, answer.json()]).toEqual([401, invalid]);
  expect(answer.headers['www-authenticate']).toBe('Bearer realm="Carillon"');
  expect(answer.headers['content-type']).toMatch(/^application\/json/);
});

test('a token passes in any spelling of the scheme', async () => {
  for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
    const headers = { authorization: `${scheme} ${accessToken}` };
    expect((await bundle.server.inject({ url: '/guarded/data', headers })).statusCode).toBe(200);
  }
});

test('a route outside the scopes of the key is 403 ER007 and names the scope (decision D16)', async () => {
  const answer = await bundle.guarded(accessToken, 'campaign');
  expect([answer.statusCode, answer.json()]).toEqual([
    403,
    { code: 'ER007', target: 'Authorization Invalid', message: 'The key does not cover this operation.' },
  ]);
  expect(answer.headers['www-authenticate']).toMatch(/error="insufficient_scope".*scope="campaign"/);
});

test('a token in the query is refused, with and without a valid header', async () => {
  const headers = { authorization: `Bearer ${accessToken}` };
  const url = `/guarded/data?access_token=${accessToken}`;
  for (const answer of [await bundle.server.inject({ url }), await bundle.server.inject({ url, headers })]) {
    expect([answer.statusCode, answer.json()]).toEqual([401, invalid]);
  }
});

const flipped = (token: string, position: number) =>
  token.slice(0, position) + (token[position] === 'A' ? 'B' : 'A') + token.slice(position + 1);

test.each([
  ['one character changed', () => `Bearer ${flipped(accessToken, 20)}`],
  ['one character less', () => `Bearer ${accessToken.slice(0, -1)}`],
  ['one character more', () => `Bearer ${accessToken}A`],
  ['an empty token', () => 'Bearer '],
  ['two tokens', () => `Bearer ${accessToken} ${accessToken}`],
  ['another scheme', () => `Token ${accessToken}`],
  ['Basic', () => `Basic ${btoa(`${workspaceId}:${accessToken}`)}`],
  ['14 KB', () => `Bearer ${'x'.repeat(14_000)}`],
  ['letters beyond ASCII', () => `Bearer cat_${'é'.repeat(43)}`],
  ['no prefix', () => `Bearer ${accessToken.slice(4)}`],
])('%s is 401 ER001', async (_name, authorization) => {
  const headers = { authorization: authorization() };
  const answer = await bundle.server.inject({ url: '/guarded/data', headers });
  expect([answer.statusCode, answer.json()]).toEqual([401, invalid]);
});

test('the use of a key is noted, at most once a minute', async () => {
  const lastUse = async () => {
    const [row] = await bundle.database<{ at: Date }[]>`
      select last_used_at as at from api_keys where workspace_id = ${workspaceId}`;
    return row!.at;
  };
  const first = await lastUse();
  bundle.clock.advance(59_999);
  await bundle.guarded(accessToken);
  expect(await lastUse()).toEqual(first);
  bundle.clock.advance(1);
  await bundle.guarded(accessToken);
  expect(await lastUse()).toEqual(bundle.clock.now());
});

test('removing a scope from the key affects live tokens within a second, on every node', async () => {
  await bundle.database`update api_keys set scopes = '{push}' where workspace_id = ${workspaceId}`;
  bundle.clock.advance(1000);
  expect((await bundle.guarded(accessToken)).json().code).toBe('ER007');
});
