import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeAccessTokens, makeCarillonClient } from '../src/index.ts';

/** Announces more than it sends, then ends the connection. */
const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
  response.write('{', () => response.destroy());
});
let baseUrl: string;
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

const workspaceId = 'DEMO01';
const unreachable = { name: 'CarillonError', code: 'unreachable', status: 0, fault: { kind: 'unreachable' } };

test('a token whose reply breaks off was not reached', async () => {
  await expect(makeAccessTokens({ baseUrl, workspaceId, oauthKey: 'cok_x' }).get()).rejects.toMatchObject(unreachable);
});

test('nor was a call whose reply breaks off', async () => {
  const { segments } = makeCarillonClient({ baseUrl, workspaceId, dataKey: 'cdk_x', maxRepeats: 0 });
  await expect(segments.list({ name: 'Readers' })).rejects.toMatchObject(unreachable);
});
