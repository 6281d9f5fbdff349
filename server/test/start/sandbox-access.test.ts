import { networkInterfaces } from 'node:os';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readConfig } from '../../src/start/config.ts';
import { formatStartBlock } from '../../src/start/start-block.ts';
import { startCarillonBundle } from '../carillon-bundle.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { makeFolder, startNode } from './start-bundle.ts';
import type { StartLine } from './start-bundle.ts';

/** An address of this machine that is not its loopback, as a neighbour in the network calls it. */
const ownAddress = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

describe('a sandbox that listens on all addresses', () => {
  let database: TestDatabase;
  let folder: Awaited<ReturnType<typeof makeFolder>>;
  beforeEach(async () => {
    database = await createTestDatabase();
    folder = await makeFolder();
  });
  afterEach(async () => {
    await database.drop();
    await folder.remove();
  });

  /** Starts a node, asks the inbox over both addresses, and stops it. */
  async function walk(environment: Record<string, string>) {
    const node = startNode(['--host', '0.0.0.0', '--port', '0', '--json', '--data-dir', folder.path], {
      DATABASE_URL: database.url,
      ...environment,
    });
    const { url } = JSON.parse((await node.firstLine)!) as StartLine;
    const ask = async (host: string, headers: Record<string, string> = {}) => {
      const response = await fetch(`http://${host}:${new URL(url).port}/sandbox/inbox`, { headers });
      return [response.status, ((await response.json()) as { code?: string }).code];
    };
    const answers = {
      here: await ask('127.0.0.1'),
      forwarded: await ask('127.0.0.1', { 'x-forwarded-for': '198.51.100.7' }),
      network: ownAddress === undefined ? undefined : await ask(ownAddress),
    };
    node.process.kill('SIGTERM');
    const { stderr } = await node.exited;
    const warnings = stderr
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as { level: number | string; msg: string; host?: string })
      .filter(({ msg }) => msg.includes('sandbox'));
    return { ...answers, warnings: warnings.map(({ msg, host }) => [msg, host]) };
  }

  test('answers this machine alone, and warns', async () => {
    const { here, forwarded, network, warnings } = await walk({});
    expect(here).toEqual([200, undefined]);
    expect(forwarded).toEqual([403, 'SANDBOX_NOT_LOCAL']);
    expect(network).toEqual(ownAddress && [403, 'SANDBOX_NOT_LOCAL']);
    expect(warnings).toEqual([['the sandbox listens on the network; its routes answer this machine only', '0.0.0.0']]);
  });

  test('answers everybody where the setting says so, and warns of that', async () => {
    const { here, forwarded, network, warnings } = await walk({ CARILLON_SANDBOX_ACCESS: 'network' });
    expect([here, forwarded]).toEqual([
      [200, undefined],
      [200, undefined],
    ]);
    expect(network).toEqual(ownAddress && [200, undefined]);
    expect(warnings).toEqual([['the routes of the sandbox are open to the network without credentials', '0.0.0.0']]);
  });
});

describe('what the start prints of it', () => {
  const start = async (environment: Record<string, string>): Promise<string> => {
    const bundle = await startCarillonBundle(environment);
    try {
      return formatStartBlock(bundle.block);
    } finally {
      await bundle.stop();
    }
  };

  test('is nothing on the loopback, and what to do elsewhere', async () => {
    expect(await start({})).not.toMatch(/CARILLON_SANDBOX_ACCESS/);
    expect(await start({ CARILLON_HOST: '0.0.0.0' })).toMatch(
      /^ {2}Sandbox +answers this machine only, although 0\.0\.0\.0 is in the network; CARILLON_SANDBOX_ACCESS=network opens it/m,
    );
    expect(await start({ CARILLON_SANDBOX_ACCESS: 'network' })).toMatch(
      /^ {2}Sandbox +open without credentials to every caller that reaches 127\.0\.0\.1/m,
    );
  });
});

test('the setting is refused in production, which has no sandbox', () => {
  const environment = { CARILLON_SANDBOX_ACCESS: 'network', CARILLON_MODE: 'production' };
  expect(() => readConfig({ environment, arguments: [] })).toThrow(/CARILLON_SANDBOX_ACCESS/);
});
