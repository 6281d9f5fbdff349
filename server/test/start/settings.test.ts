import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { checkCertificate } from '../../src/cli/doctor/check-environment.ts';
import type { TlsPair } from '../../src/http/server/listener.ts';
import type { Logger } from '../../src/log.ts';
import { ConfigError, proxySettingsOf, readConfig } from '../../src/start/config.ts';
import { countConnections } from '../../src/start/node/engine.ts';
import { endOf, openServerCertificate } from '../../src/start/node/server-certificate.ts';
import { formatStartBlock } from '../../src/start/start-block.ts';
import { openDatabase } from '../../src/storage/database.ts';
import { listNodes } from '../../src/storage/installation/nodes.ts';
import { startCarillonBundle } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { runCommand } from '../cli/run-command.ts';
import { makeCertificate } from '../engine/delivery/make-certificate.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { makeFolder, startNode } from './start-bundle.ts';
import type { StartLine } from './start-bundle.ts';

describe('the connection budget', () => {
  let bundle: CarillonBundle;
  beforeAll(async () => {
    bundle = await startCarillonBundle(
      { CARILLON_DATABASE_CONNECTIONS: '30' },
      {
        // Another node, heard of now, and one that died a while ago: before this one starts.
        async startFront(databaseUrl) {
          const database = openDatabase({ url: databaseUrl, connections: 1, name: 'test' });
          await database`
            insert into nodes (id, host, process_id, role, version, started_at, seen_at, memory_bytes, duties, connections)
            values ('other', 'h', 1, 'worker', '1', now(), now() + interval '10 seconds', 1, '[]', 20),
              ('dead', 'h', 2, 'worker', '1', now(), now() - interval '60 seconds', 1, '[]', 1000)`;
          const [name] = await database<{ name: string }[]>`select current_database() as name`;
          await database.unsafe(`alter database ${name!.name} connection limit 50`);
          await database.end();
          return { environment: {}, async close() {} };
        },
      },
    );
  });
  afterAll(() => bundle?.stop());

  const what =
    'The 2 nodes may open 51 connections to the database, which has 50 for them (the connection limit of the database).';
  const todo =
    'Lower CARILLON_DATABASE_CONNECTIONS, raise the connection limit of the database to at least 51, or put a pooler in between.';

  test('a start beside nodes that together may open more connections than there are says so, and goes on', async () => {
    expect(bundle.block.tooManyConnections).toBe(`${what} ${todo}`);
    expect(formatStartBlock(bundle.block)).toMatch(/^ {2}Connections +The 2 nodes may open 51 /m);
    expect((await bundle.call('GET', '/readyz')).status).toBe(200);
  });

  test('`status` says it too, and with room for all the numbers alone', async () => {
    expect((await runCommand(bundle, ['status'])).stdout).toContain(`${what} ${todo}`);
    await bundle.database`delete from nodes where id = 'other'`;
    const { stdout } = await runCommand(bundle, ['status', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ connections: { mayOpen: 31, available: 50 } });
  });

  test('an api node listens too; behind a pooler the statements are the pooler’s to limit', () => {
    const count = (role: 'api' | 'all', databasePooler: 'none' | 'transaction') =>
      countConnections({ role, databasePooler, databaseConnections: 20 });
    expect([
      count('api', 'none'),
      count('all', 'none'),
      count('api', 'transaction'),
      count('all', 'transaction'),
    ]).toEqual([21, 21, 1, 4]);
  });
});

describe('the outgoing proxy', () => {
  const read = (environment: Record<string, string>) => readConfig({ environment, arguments: [] });
  const proxy = { CARILLON_OUTGOING_PROXY: 'http://proxy.example:3128' };

  test.each([
    'proxy.example:3128',
    'socks5://proxy.example:1080',
    'http://proxy.example:3128/path',
    'http://proxy.example:3128/?a=b',
    'http://us%3Aer:CANARY@proxy.example:3128',
    'http://user:CANARY%zz@proxy.example:3128',
    'http://CANARY:70000',
  ])('CARILLON_OUTGOING_PROXY=%s is refused, and not shown', (url) => {
    expect(() => read({ CARILLON_OUTGOING_PROXY: url })).toThrow(/^CARILLON_OUTGOING_PROXY takes .*\(hidden\)/);
    expect(() => read({ CARILLON_OUTGOING_PROXY: url })).not.toThrow(/CANARY/);
  });

  test('what only makes sense with the outgoing proxy is refused without it', () => {
    expect(() => read({ CARILLON_NO_PROXY: 'a.example' })).toThrow(/need CARILLON_OUTGOING_PROXY/);
    expect(() => read({ CARILLON_PROXY_RESOLVES: 'true' })).toThrow(/need CARILLON_OUTGOING_PROXY/);
    expect(() => read({ ...proxy, CARILLON_PROXY_HOSTS: 'a.example' })).toThrow(ConfigError);
    expect(proxySettingsOf(read({}))).toBeUndefined();
  });

  test('the settings of the outgoing proxy are read', () => {
    const all = {
      ...proxy,
      CARILLON_NO_PROXY: 'a.example b.example,c.example:81',
      CARILLON_PROXY_RESOLVES: 'true',
      CARILLON_PROXY_HOSTS: '*.D.example',
    };
    expect(proxySettingsOf(read(all))).toMatchObject({
      host: 'proxy.example',
      bypass: [{ host: 'a.example' }, { host: 'b.example' }, { host: 'c.example', port: 81 }],
      resolvesNames: true,
      hosts: ['*.d.example'],
    });
  });
});

describe('sandbox access', () => {
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
      expect(warnings).toEqual([
        ['the sandbox listens on the network; its routes answer this machine only', '0.0.0.0'],
      ]);
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
});

describe('the server certificate', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'carillon-tls-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  test('a certificate without its file, without its own key, or that is not one, is refused with the name of its setting', async () => {
    const pair = makeCertificate();
    const { log } = listen();
    const files = await write('good', pair);
    await expect(openServerCertificate({ ...files, keyFile: join(folder, 'none') }, log)).rejects.toMatchObject({
      code: 'SETTING_INVALID',
      message: expect.stringMatching(/^CARILLON_TLS_KEY: .*none cannot be read \(ENOENT\)\.$/),
    });
    for (const wrong of [
      { ...pair, key: makeCertificate().key },
      { ...pair, cert: 'nothing' },
    ])
      await expect(openServerCertificate(await write('wrong', wrong), log)).rejects.toMatchObject({
        code: 'SETTING_INVALID',
        message: expect.stringMatching(
          /^CARILLON_TLS_CERT and CARILLON_TLS_KEY are not a certificate \(PEM\) and its key: /,
        ),
      });
  });

  test('renewed files are told at the next look, once; half of a pair is not, and what was served is served on', async () => {
    const { log, lines } = listen();
    const first = makeCertificate();
    const files = await write('renewed', first);
    const certificate = await openServerCertificate(files, log);
    const told: TlsPair[] = [];
    certificate.onChange((pair) => told.push(pair));
    const look = () => certificate.job.runOnce(new Date(0));
    await look();
    expect([told, lines]).toEqual([[], []]);
    const second = makeCertificate();
    await writeFile(files.certFile, second.cert);
    await look();
    expect([told, certificate.pair(), lines]).toEqual([[], first, ['certificate cannot be read again']]);
    await writeFile(files.keyFile, second.key);
    await look();
    await look();
    expect([told, certificate.pair(), lines.slice(1)]).toEqual([[second], second, ['certificate renewed']]);
    expect(certificate.endsAt()).toEqual(endOf(second));
  });

  test('a node tells the others when its certificate ends', async () => {
    const pair = makeCertificate();
    const { certFile, keyFile } = await write('node', pair);
    const bundle = await startCarillonBundle({ CARILLON_TLS_CERT: certFile, CARILLON_TLS_KEY: keyFile });
    try {
      expect(await listNodes(bundle.database)).toMatchObject([{ certificateEndsAt: endOf(pair) }]);
    } finally {
      await bundle.stop();
    }
  });

  test('the certificate and its key are given together', () => {
    for (const name of ['CARILLON_TLS_CERT', 'CARILLON_TLS_KEY'])
      expect(() => readConfig({ environment: { [name]: '/a' }, arguments: [] })).toThrow(
        'CARILLON_TLS_CERT and CARILLON_TLS_KEY are given together.',
      );
  });

  test('the doctor tells a certificate that cannot be read, has ended, ends soon, or is for another host', async () => {
    const pair = makeCertificate(['push.example.com']);
    const { certFile: tlsCert, keyFile: tlsKey } = await write('doctor', pair);
    const endsAt = endOf(pair).getTime();
    const at = (days: number): Date => new Date(endsAt - days * 86_400_000);
    const config = { tlsCert, tlsKey, publicUrl: 'https://push.example.com' };
    const stateOf = async (changed: object, now: Date) =>
      (await checkCertificate({ ...config, ...changed }, now)).state;
    expect(await stateOf({}, at(14))).toBe('good');
    expect(await stateOf({ tlsCert: undefined, tlsKey: undefined }, at(14))).toBe('good');
    expect(await stateOf({}, at(13))).toBe('attention');
    expect(await stateOf({}, new Date(endsAt + 1))).toBe('wrong');
    expect(await stateOf({ publicUrl: 'https://other.example.com' }, at(14))).toBe('wrong');
    expect(await stateOf({ tlsKey: '/none' }, at(14))).toBe('wrong');
  });

  async function write(name: string, { cert, key }: TlsPair) {
    const files = { certFile: join(folder, `${name}.crt`), keyFile: join(folder, `${name}.key`) };
    await writeFile(files.certFile, cert);
    await writeFile(files.keyFile, key);
    return files;
  }
});

function listen() {
  const lines: string[] = [];
  const note = (_facts: unknown, words: string): void => void lines.push(words);
  return { lines, log: { info: note, error: note } as unknown as Logger };
}
