import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { Integration } from './integration/integration.js';

const run = promisify(execFile);

let bundle: CarillonBundle;
/** The caller's own server: its file, and where callbacks go. */
const callbacks: Record<string, unknown>[] = [];
const site = createServer((request, response) => {
  if (request.method === 'GET') return void response.end('ada\nnobody\n');
  let text = '';
  request.on('data', (piece) => (text += String(piece)));
  request.on('end', () => {
    callbacks.push(JSON.parse(text) as Record<string, unknown>);
    response.end();
  });
});
let siteUrl: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  siteUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  bundle = await startCarillonBundle();
});
afterAll(async () => {
  await bundle.stop();
  site.close();
});

const advance = async (seconds: number) => {
  const answer = await bundle.call('POST', '/sandbox/clock', { body: { advanceSeconds: seconds } });
  expect(answer.status).toBe(200);
  // On a busy machine an advance takes more than 20 seconds: it answers on the way, and the clock says when it has come.
  const advancing = async () => (await bundle.call('GET', '/sandbox/clock')).json().advancing;
  await expect.poll(advancing, { timeout: 50_000, interval: 250 }).toBeNull();
};

test('an integration by curl, written against the interface alone, gets what it says with one base URL changed', async () => {
  const { stdout } = await run('bash', [join(import.meta.dirname, 'integration', 'integration.sh')], {
    env: {
      PATH: process.env.PATH,
      BASE_URL: bundle.url,
      CLIENT_ID: bundle.workspaceId,
      OAUTH_KEY: bundle.keys.oauth,
      DATA_KEY: bundle.keys.data,
      PUSH_KEY: bundle.keys.push,
      DB_NAME: bundle.block.dbName,
      FILE_URL: `${siteUrl}/users.csv`,
      CALLBACK_URL: `${siteUrl}/callback`,
    },
  });
  const answers: Record<string, unknown> = Object.fromEntries(
    stdout
      .trim()
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf(' ')), JSON.parse(line.slice(line.indexOf(' ') + 1)) as unknown]),
  );
  const text = expect.any(String) as string;
  const token = { access_token: text, token_type: 'Bearer', expires_in: 900 };
  // There may be more beside; what the interface names is as it says.
  expect(answers).toMatchObject({
    token: { status: 'SUCCESS', data: { ...token, refresh_token: text } },
    refresh: { status: 'SUCCESS', data: token },
    segment: { message: text, success: true, cs_name: 'By curl', cs_id: text },
    'v2.1': { status: 'Success', requestId: text, responseId: text, cid: text },
    v2: { status: 'Success', requestId: text, responseId: text, cid: text },
  });
  expect(answers.refresh).not.toHaveProperty('data.refresh_token');
  const [callback] = await until(async () => callbacks.length > 0 && callbacks);
  expect(callback).toEqual({
    ...{ db_name: bundle.block.dbName, segment_name: 'By curl', request_id: text, status: 201 },
    ...{ values_found: 2, values_processed: 2, user_count: 1 },
  });
  await until(async () => (await bundle.inbox()).length === 2);
});

test('an integration by fetch lives through 30 days of a daily campaign and the end of its token', async () => {
  const { keys, url: baseUrl, workspaceId: clientId } = bundle;
  const integration = new Integration({ baseUrl, clientId, oauthKey: keys.oauth, pushKey: keys.push });
  const endDate = new Date(Date.now() + 60 * 86_400_000).toISOString().replace(/^(\d+)-(\d+)-(\d+)T.*/, '$2/$3/$1');
  const cid = await integration.sendDaily('Each morning', { time: '09:00 AM', endDate, timezone: 'Europe/Berlin' });
  expect(await integration.findCampaigns('Each morning')).toMatchObject([{ id: cid }]);
  expect(integration.tokensAsked).toBe(1);
  await advance(30 * 86_400);
  const executions = await integration.executions(cid);
  expect(executions.map(({ status }) => status)).toEqual(Array.from({ length: 30 }, () => 'SENT'));
  expect(new Set(executions.map((execution) => execution.sent_time.slice(0, 10))).size).toBe(30);
  expect(integration.tokensAsked).toBe(2);
});
