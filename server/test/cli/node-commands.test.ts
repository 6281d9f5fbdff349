import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { startCarillonBundle } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { makeCertificate } from '../engine/delivery/make-certificate.ts';
import { createTestDatabase, onServer } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { runCommand, runProcess, startCommand } from './run-command.ts';

describe('start command', () => {
  const run = promisify(execFile);
  const root = join(import.meta.dirname, '..', '..', '..');

  let folder: string;
  let database: TestDatabase;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'carillon-start-command-'));
    database = await createTestDatabase();
  });
  afterAll(async () => {
    await database?.drop();
    await rm(folder, { recursive: true, force: true });
  });

  const beside = () => ({ config: { databaseUrl: database.applicationUrl, dataFolder: folder } });

  test('start runs a node with the settings of its options until it is stopped; npm gives a command the folder of its caller', async () => {
    const node = startCommand(beside(), ['start', '--port', '0', '--json']);
    let said = '';
    for await (const piece of node.stdout) {
      said += String(piece);
      if (said.includes('\n')) break;
    }
    expect(JSON.stringify(JSON.parse(said))).toContain('http://127.0.0.1:');

    // As npm calls it: in the folder of the project, and says where it was called.
    const script = 'server/src/cli/carillon.ts';
    const words = ['sandbox', 'generate-users', '--users', '2', '--out', 'users.jsonl'];
    await run(process.execPath, ['bootstrap.js', script, ...words], {
      cwd: root,
      env: {
        ...process.env,
        DATABASE_URL: database.applicationUrl,
        CARILLON_DATA_DIR: folder,
        INIT_CWD: folder,
        npm_lifecycle_script: `exec node bootstrap.js ${script} "sandbox"`,
        npm_config_user_agent: '',
      },
    });
    expect([existsSync(join(folder, 'users.jsonl')), existsSync(join(root, 'users.jsonl'))]).toEqual([true, false]);

    const ended = once(node, 'close');
    node.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });

  test('a setting that is not usable is refused as by npm start: 2; the version is that of the manifest', async () => {
    const refused = await runProcess(beside(), ['start', '--port', 'eighty']);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('CARILLON_PORT takes a whole number')]);
    const unknown = await runCommand(beside(), ['start', '--prot', '80']);
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('--prot')]);
    expect(await runCommand(beside(), ['--version'])).toEqual({ code: 0, stdout: `${manifest.version}\n`, stderr: '' });
  });
});

describe('status command', () => {
  let bundle: CarillonBundle;
  beforeAll(async () => {
    bundle = await startCarillonBundle();
  });
  afterAll(() => bundle?.stop());

  const run = (...parameters: string[]) => runCommand(bundle, parameters);

  test('status says where the node answers and gives the keys of the demo, without a password; a revoked key is none', async () => {
    const { url, workspaceId, keys, database } = bundle;
    const status = JSON.parse((await runProcess(bundle, ['status', '--json'])).stdout) as Record<string, unknown>;
    const demo = { workspaceId, dbName: bundle.block.dbName, inbox: `${url}/sandbox/inbox` };
    expect(status).toMatchObject({ isRunning: true, url, console: `${url}/console/`, ...demo, keys });
    expect(status.nodes).toMatchObject([{ role: 'all', url }]);
    expect(JSON.stringify(status)).not.toContain(new URL(bundle.config.databaseUrl!).password);

    await database`update api_keys set archived_at = now() where kind = 'data'`;
    const variables = (await run('status', '--env')).stdout.trim().split('\n');
    expect(variables).toContain(`CARILLON_API_URL=${url}`);
    expect(variables).toContain(`CARILLON_PUSH_KEY=${keys.push}`);
    expect(variables.filter((line) => line.startsWith('CARILLON_DATA_KEY'))).toEqual([]);
    expect((await run('status')).stdout).toMatch(/^Key: data +revoked or regenerated/m);
  });

  describe('the doctor', () => {
    const all = [
      'settings',
      'data folder',
      'disk',
      'proxy',
      'reach',
      'public URL',
      'certificate',
      'database',
      'clock',
      'migrations',
    ].concat(
      ...[
        'connections',
        'master key',
        'page checksums',
        'extensions',
        'partitions',
        'nodes',
        'queues',
        'backups',
        'credentials',
      ],
    );
    const allGood = Object.fromEntries(all.map((check) => [check, 'good']));

    test('finds a running sandbox well, by transactions that cannot write', async () => {
      const readOnly = new URL(bundle.config.databaseUrl!);
      readOnly.searchParams.set('options', '-c default_transaction_read_only=on');
      const { code, states, lines } = await diagnose({ DATABASE_URL: readOnly.href });
      // The command reports that the database accepts no writes.
      expect(states).toEqual({ ...allGood, database: 'wrong' });
      expect(lines.find(({ check }) => check === 'database')!.found).toContain('accepts no writes');
      expect(lines.find(({ check }) => check === 'credentials')!.found).toContain('fcm (simulated)');
      expect(code).toBe(2);
      const well = await diagnose({});
      expect([well.code, well.states]).toEqual([0, allGood]);
    });

    test('tells every fault of the settings, and of what is around the node, with what to do', async () => {
      const faulty = await diagnose({ CARILLON_PORT: 'x', CARILLON_HOTS: 'y', CARILLON_ROLE: 'z' });
      expect(faulty.lines.map(({ found }) => found.split(' ', 1)[0]).sort()).toEqual([
        'CARILLON_HOTS',
        'CARILLON_PORT',
        'CARILLON_ROLE',
      ]);
      const around = await diagnose({
        ...{ CARILLON_HOTS: 'y', CARILLON_MASTER_KEY: '01'.repeat(32), CARILLON_PUBLIC_URL: `${bundle.url}1` },
        CARILLON_OUTGOING_PROXY: 'http://127.0.0.1:9',
      });
      const { credentials: _unasked, disk: _disk, 'data folder': folder, ...states } = around.states;
      const wrong = { settings: 'wrong', proxy: 'wrong', 'master key': 'wrong', 'public URL': 'attention' };
      expect({ ...allGood, ...wrong }).toMatchObject(states);
      expect([around.code, folder, around.stderr]).toEqual([
        2,
        'good',
        'carillon: Wrong: settings, proxy, master key.\n',
      ]);
      expect(around.lines.every(({ state, todo }) => (state === 'good') === (todo === null))).toBe(true);
    });

    test('a node whose certificate is not trusted here is told as that, not as one that does not answer', async () => {
      const server = createServer(makeCertificate(), (_request, response) => response.end('{"troubles":[]}'));
      await once(server.listen(0, '127.0.0.1'), 'listening');
      const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
      await bundle.database`
        insert into nodes select (jsonb_populate_record(null::nodes,
          to_jsonb(nodes) || jsonb_build_object('id', 'encrypted', 'url', ${url}::text))).* from nodes limit 1`;
      const { lines } = await diagnose({});
      await bundle.database`delete from nodes where id = 'encrypted'`;
      server.close();
      expect(lines.filter(({ found }) => found.includes(url))).toMatchObject([
        { check: 'nodes', state: 'attention', todo: expect.stringContaining('NODE_EXTRA_CA_CERTS') },
      ]);
    });

    test('tells extensions and days that are missing, with what to do', async () => {
      const [{ day }] = (await bundle.database`
        select to_char(max(to_date(right(inhrelid::regclass::text, 8), 'YYYYMMDD')), 'YYYYMMDD') as day
        from pg_inherits where inhparent = 'events'::regclass`) as unknown as [{ day: string }];
      await bundle.database`drop extension pg_trgm cascade`;
      await bundle.database`drop table ${bundle.database(`events_${day}`)}`;
      const { states, lines } = await diagnose({});
      expect(states).toMatchObject({ extensions: 'attention', partitions: 'attention' });
      const of = (name: string) => lines.find(({ check }) => check === name)!;
      expect(of('extensions')).toMatchObject({
        found: 'Without pg_trgm searches for names and tags of campaigns read all of them.',
        todo: 'Create them and their indexes as docs/operations.md says.',
      });
      expect(of('partitions').found).toBe('events have no partition for tomorrow.');
      // The statements of the page make it whole again, as often as they are sent.
      const page = await readFile(join(import.meta.dirname, '../../../docs/operations.md'), 'utf8');
      const statements = /```sql\n(create extension[^`]+)```/.exec(page)![1]!;
      await bundle.database.unsafe(statements);
      expect((await diagnose({})).states).toMatchObject({ extensions: 'good', partitions: 'attention' });
    });

    test('makes neither folder nor table where nothing is', async () => {
      const folder = join(bundle.config.dataFolder!, 'mistyped');
      const name = `doctor_${process.pid}`;
      const server = inject('postgresUrl');
      await onServer(server, `create database ${name}`);
      const url = new URL(server);
      url.pathname = `/${name}`;
      const { code, states } = await diagnose({ DATABASE_URL: url.href }, '--data-dir', folder);
      const again = await diagnose({ DATABASE_URL: url.href });
      const nowhere = await diagnose({ DATABASE_URL: '' }, '--data-dir', folder);
      await onServer(server, `drop database ${name} with (force)`);
      expect([code, states['data folder'], states.migrations]).toEqual([2, 'wrong', 'wrong']);
      expect(again.lines.find(({ check }) => check === 'migrations')!.found).toBe(
        'There is no Carillon in this database.',
      );
      expect([nowhere.states.database, existsSync(folder)]).toEqual(['wrong', false]);
    });
  });

  describe('a command that makes nothing', () => {
    test.each([['workspaces list'], ['keys create --kind push'], ['import nobody.csv']])(
      '%s refuses a folder without an installation: 20, and makes neither folder nor key',
      async (words) => {
        const folder = join(bundle.config.dataFolder!, 'mistyped');
        const { databaseUrl: _databaseUrl, ...config } = bundle.config;
        const refused = await runCommand({ ...bundle, config: { ...config, databaseUrl: '' } }, [
          ...['--data-dir', folder],
          ...words.split(' '),
        ]);
        expect(refused).toEqual({ code: 20, stdout: '', stderr: expect.stringContaining(`no Carillon in ${folder}`) });
        expect(existsSync(folder)).toBe(false);
      },
    );

    test('refuses an empty database and leaves it empty; beside a database, a folder without its key is refused and gets none', async () => {
      const folder = join(bundle.config.dataFolder!, 'mistyped');
      const wrong = await run('--data-dir', folder, 'workspaces', 'list');
      expect([wrong.code, wrong.stdout]).toEqual([16, '']);
      expect(existsSync(folder)).toBe(false);

      const name = `empty_${process.pid}`;
      const server = inject('postgresUrl');
      await onServer(server, `create database ${name}`);
      const url = new URL(server);
      url.pathname = `/${name}`;
      const config = { ...bundle.config, databaseUrl: url.href };
      const refused = await runCommand({ ...bundle, config }, ['workspaces', 'list']);
      const again = await runCommand({ ...bundle, config }, ['status']);
      await onServer(server, `drop database ${name} with (force)`);
      expect([refused.code, again.code]).toEqual([20, 20]);
    });
  });

  /** What the doctor says, by check; the state of a check is its worst. */
  async function diagnose(environment: Record<string, string>, ...parameters: string[]) {
    const { code, stdout, stderr } = await runCommand({ ...bundle, environment }, [...parameters, 'doctor', '--json']);
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { check: string; state: string; found: string; todo: string | null });
    const states = Object.fromEntries(
      ['good', 'attention', 'wrong'].flatMap((state) =>
        lines.filter((line) => line.state === state).map(({ check }) => [check, state]),
      ),
    );
    return { code, stderr, lines, states };
  }
});
