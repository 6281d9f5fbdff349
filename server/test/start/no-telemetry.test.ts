import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { until } from '../carillon-bundle.ts';
import { makeCaller } from '../rig/caller.ts';
import { createTestDatabase } from '../test-database.ts';
import { makeFolder, startNode } from './start-bundle.ts';
import type { StartLine } from './start-bundle.ts';

type Noted = { host?: string; port?: number; path?: string; name?: string; datagram?: unknown };

const daySeconds = 86_400;
const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** A node with default settings and a new database, and what it and its threads connected to. */
async function startNoted(parameters: string[], environment: Record<string, string> = {}) {
  const [database, folder] = [await createTestDatabase(), await makeFolder()];
  ends.push(database.drop, folder.remove);
  const file = join(folder.path, 'connections');
  const noted = {
    NODE_OPTIONS: `--import=${join(import.meta.dirname, 'note-connections.js')}`,
    NOTED_CONNECTIONS: file,
  };
  const own = { DATABASE_URL: database.url, CARILLON_DATA_DIR: folder.path, ...noted, ...environment };
  const node = startNode([...parameters, '--port', '0', '--json'], own);
  ends.push(async () => {
    node.process.kill('SIGTERM');
    await node.exited;
  });
  const line = await node.firstLine;
  if (line === undefined) throw new Error((await node.exited).stderr);
  const read = async (): Promise<Noted[]> =>
    (await readFile(file, 'utf8'))
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text) as Noted);
  return { line: JSON.parse(line) as StartLine, databasePort: Number(new URL(database.url).port), read };
}

const isLocal = ({ host, port, path, name, datagram }: Noted): boolean => {
  if (datagram !== undefined) return false;
  if (path !== undefined) return true;
  if (name !== undefined) return ['localhost', '127.0.0.1', '::1'].includes(name);
  return port !== undefined && ['localhost', '127.0.0.1', '::1'].includes(host!);
};

describe('a node with default settings', () => {
  test('a sandbox connects to its database and its own simulators only, also after a push and through a month', async () => {
    const { line, databasePort, read } = await startNoted([]);
    const caller = makeCaller(line, () => line.url);
    expect((await caller.push({ campaignName: 'Noted', targetAudience: 'All Users' })).body).toMatchObject({
      status: 'Success',
    });
    await until(async () => {
      const { messages } = (await (await fetch(`${line.url}/sandbox/inbox`)).json()) as { messages: unknown[] };
      return messages.length > 0;
    });
    const advanced = await fetch(`${line.url}/sandbox/clock`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ advanceSeconds: 30 * daySeconds }),
    });
    expect(advanced.status).toBe(200);
    const noted = await read();
    expect(noted.filter((one) => !isLocal(one))).toEqual([]);
    const ports = new Set(noted.flatMap(({ port }) => port ?? []));
    expect(ports).toContain(databasePort);
    // The push reached a simulator by a connection that was noted.
    expect(ports.size).toBeGreaterThan(1);
  }, 120_000);

  test('a node in production connects to its database only', async () => {
    const key = randomBytes(32).toString('base64');
    const { line, databasePort, read } = await startNoted(['--production'], { CARILLON_MASTER_KEY: key });
    expect((await fetch(`${line.url}/readyz`)).status).toBe(200);
    expect((await fetch(`${line.url}/console/`)).status).toBe(200);
    const noted = await read();
    expect(noted.filter((one) => !isLocal(one))).toEqual([]);
    expect(new Set(noted.flatMap(({ port }) => port ?? []))).toEqual(new Set([databasePort]));
  }, 60_000);
});
