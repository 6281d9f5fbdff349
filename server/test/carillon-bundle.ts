import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../src/start/config.ts';
import { signPush } from '../src/domain/crypto/signatures.ts';
import { startCarillon } from '../src/start/node/start-carillon.ts';
import type { DemoKeys } from '../src/app/sandbox/find-demo-workspace.ts';
import { createTestDatabase } from './test-database.ts';
import type { Front } from './rig/installation.ts';

export type CarillonBundle = Awaited<ReturnType<typeof startCarillonBundle>>;

/** A whole node in this process: API, worker, simulators and console on a free port, with a database of its own. */
export async function startCarillonBundle(
  environment: Record<string, string> = {},
  { startFront }: { startFront?: (databaseUrl: string) => Promise<Front> } = {},
) {
  const test = await createTestDatabase();
  const front = await startFront?.(test.url);
  const folder = await mkdtemp(join(tmpdir(), 'carillon-node-'));
  const config = readConfig({
    environment: {
      DATABASE_URL: test.applicationUrl,
      CARILLON_DATA_DIR: folder,
      CARILLON_LOG_LEVEL: process.env.DEBUG_LEVEL ?? 'silent',
      // All of a pool are opened at the start, at 15 ms of the processor each.
      CARILLON_DATABASE_CONNECTIONS: '6',
      ...environment,
      ...front?.environment,
    },
    arguments: ['--port', environment.CARILLON_PORT ?? '0', '--seed', '7'],
  });
  const carillon = await startCarillon(config);
  const { url, workspaceId } = carillon.block;
  // All of them: the demo is new.
  const keys = carillon.block.keys as DemoKeys;

  async function call(
    method: string,
    path: string,
    options: { headers?: Record<string, string>; body?: unknown } = {},
  ) {
    const { headers = {}, body } = options;
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, text, json: () => JSON.parse(text) as any };
  }

  return {
    ...test,
    config,
    carillon,
    block: carillon.block,
    url,
    workspaceId: workspaceId!,
    keys,
    call,
    basic: (secret = keys.data) => ({
      authorization: `Basic ${Buffer.from(`${workspaceId}:${secret}`).toString('base64')}`,
    }),
    async token(): Promise<{ accessToken: string; refreshToken: string }> {
      const form = { grant_type: 'client_credentials', client_id: workspaceId!, client_secret: keys.oauth };
      const answer = await fetch(`${url}/v1/oauth/token`, { method: 'POST', body: new URLSearchParams(form) });
      const { data } = (await answer.json()) as any;
      return { accessToken: data.access_token, refreshToken: data.refresh_token };
    },
    push(
      body: { campaignName: string; targetAudience: string } & Record<string, unknown>,
      more: Record<string, string> = {},
    ) {
      const headers = {
        'x-svc-appkey': workspaceId!,
        'x-svc-pushapi-signature': signPush({ appId: workspaceId!, campaignName: body.campaignName, key: keys.push }),
        'x-svc-query-type': body.targetAudience.toLowerCase(),
        ...more,
      };
      return call('POST', '/v2.1/transaction/sendpush', { headers, body });
    },
    async inbox(query = ''): Promise<any[]> {
      return (await call('GET', `/sandbox/inbox${query}`)).json().messages;
    },
    async stop() {
      await carillon.stop();
      await front?.close();
      await test.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Looks again until the condition holds; the wait is bounded by the test's own time limit. */
export async function until<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
