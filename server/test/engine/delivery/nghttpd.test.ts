import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, test } from 'vitest';
import { makeSimulatedCredentials } from '../../../src/app/sandbox/simulated-credentials.ts';
import { makeManualClock } from '../../../src/clock.ts';
import type { Platform } from '../../../src/domain/content/content.ts';
import { forAllProviders } from '../../../src/domain/delivery/providers.ts';
import { makeDelivery } from '../../../src/providers/deliver.ts';
import { realProviderEndpoints, simulatorEndpointsAt } from '../../../src/providers/registry.ts';
import type { Http2Client } from '../../../src/providers/http2/transport.ts';
import { makeLog } from '../../../src/log.ts';
import { isFull } from '../../full-test.ts';
import { makeMessage } from './delivery-bundle.ts';
import { findFreePort } from '../../find-free-port.ts';

const program = '/usr/sbin/nghttpd';
const hasProgram = existsSync(program);

const pushIds = { ANDROID: `token-${'a'.repeat(140)}`, IOS: 'ab'.repeat(32) };
const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

/** Frames and stream ends of one connection, as nghttpd's log tells them. */
type Connection = { open: Set<string>; maxOpen: number; requests: number };

/** The server of nghttp2 over files, with its log read as it comes. */
async function startNghttpd(files: Record<string, string>, streams: number) {
  const root = await mkdtemp(join(tmpdir(), 'carillon-nghttpd-'));
  undo.push(() => rm(root, { recursive: true, force: true }));
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
  const port = await findFreePort();
  const words = ['--no-tls', '-v', `--htdocs=${root}`, '-a', '127.0.0.1', '-m', String(streams), String(port)];
  const server = spawn(program, words, { stdio: ['ignore', 'pipe', 'ignore'] });
  const connections = new Map<string, Connection>();
  const faults: string[] = [];
  const lines = createInterface({ input: server.stdout });
  const isListening = new Promise<void>((resolve) => {
    lines.on('line', (line) => {
      if (/listen/.test(line)) resolve();
      readLine(line, { connections, faults });
    });
  });
  const isEnded = new Promise<void>((resolve) => lines.on('close', () => resolve()));
  undo.push(() => {
    server.kill();
    return isEnded;
  });
  await isListening;
  return { origin: `http://127.0.0.1:${port}`, faults, connections };
}

function readLine(line: string, found: { connections: Map<string, Connection>; faults: string[] }): void {
  const [, id] = /^\[id=(\d+)\]/.exec(line) ?? [];
  if (id === undefined) return;
  let connection = found.connections.get(id);
  if (!connection) found.connections.set(id, (connection = { open: new Set(), maxOpen: 0, requests: 0 }));
  const [, stream] = /recv HEADERS frame <.*stream_id=(\d+)>/.exec(line) ?? [];
  if (stream !== undefined) {
    connection.open.add(stream);
    connection.requests += 1;
    connection.maxOpen = Math.max(connection.maxOpen, connection.open.size);
  }
  const [, closed] = /stream_id=(\d+) closed/.exec(line) ?? [];
  if (closed !== undefined) connection.open.delete(closed);
  // nghttpd resets what goes beyond its limit, and ends a connection whose frames it cannot read.
  if (/RST_STREAM frame|error_code=(?!NO_ERROR)/.test(line)) found.faults.push(line);
}

async function makeSender(origin: string, http2Client: Http2Client) {
  const { fcm, apns } = await makeSimulatedCredentials('abcdef123456');
  const delivery = makeDelivery({
    clock: makeManualClock(new Date('2026-11-21T12:00:00Z')),
    log: makeLog({ level: 'silent', pretty: false }),
    allowedNetworks: [],
    http2Client,
    endpoints: {
      ...realProviderEndpoints,
      simulators: simulatorEndpointsAt(forAllProviders(origin)),
    },
  });
  undo.push(() => delivery.close());
  return (platform: Exclude<Platform, 'WEB'>, number: number) =>
    delivery.deliver({
      message: makeMessage(platform, String(number)),
      device: { deviceId: String(number), platform, pushId: pushIds[platform] },
      credentials: { fcm, apns },
    });
}

const files = {
  token: JSON.stringify({ access_token: 'token-of-nghttpd', expires_in: 3600, token_type: 'Bearer' }),
  [`3/device/${pushIds.IOS}`]: '',
  'v1/projects/carillon-abcdef123456/messages:send': JSON.stringify({ name: 'projects/p/messages/1' }),
};

type Run = [Http2Client, Exclude<Platform, 'WEB'>, number];
const runs: Run[] = [
  ['carillon', 'ANDROID', 100],
  ['carillon', 'IOS', 1],
  ['node', 'IOS', 8],
];
const fullRuns: Run[] = [
  ...runs,
  ['carillon', 'ANDROID', 1],
  ['carillon', 'ANDROID', 8],
  ['carillon', 'IOS', 8],
  ['carillon', 'IOS', 100],
  ['node', 'ANDROID', 100],
];

describe.skipIf(!hasProgram)(`our senders against nghttpd${hasProgram ? '' : ` (skipped: no ${program})`}`, () => {
  test.each(isFull ? fullRuns : runs)(
    '%s, %s: 2,000 requests at once are all answered, with at most %d streams open',
    async (client, platform, streams) => {
      const server = await startNghttpd(files, streams);
      const send = await makeSender(server.origin, client);
      const outcomes = await Promise.all(Array.from({ length: 2_000 }, (_, number) => send(platform, number)));
      expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(['accepted']));
      // Only when the server has ended is its log complete.
      for (const step of undo.splice(0).reverse()) await step();
      const connections = [...server.connections.values()];
      // One more for FCM's access token.
      const requests = connections.reduce((sum, connection) => sum + connection.requests, 0);
      expect(requests).toBe(platform === 'ANDROID' ? 2_001 : 2_000);
      expect(Math.max(...connections.map(({ maxOpen }) => maxOpen))).toBeLessThanOrEqual(streams);
      expect(server.faults).toEqual([]);
      // With room for many the room is used.
      if (streams > 1) expect(Math.max(...connections.map(({ maxOpen }) => maxOpen))).toBeGreaterThan(1);
    },
  );
});
