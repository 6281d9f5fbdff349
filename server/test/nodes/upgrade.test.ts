import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StartLine } from '../start/start-bundle.ts';
import { addNextMigration } from '../next-migrations.ts';
import { makeCaller } from '../rig/caller.ts';
import { findDatabaseRefusal, startFleetDatabase } from '../rig/fleet.ts';
import type { FleetDatabase } from '../rig/fleet.ts';
import { startPushLoad } from '../rig/load.ts';
import { until } from '../rig/until.ts';
import { projectFolder } from '../deploy/files.ts';

const run = promisify(execFile);
const plain = ['--disable-warning=ExperimentalWarning'];
const refusal = findDatabaseRefusal('empty');

let folder: string;
let database: FleetDatabase;
let environment: Record<string, string>;

/** This version with one migration more, which changes a table that every push writes and one that every node reads. */
async function makeNextVersion(): Promise<string> {
  const next = join(folder, 'next');
  for (const part of ['server/src', 'server/migrations', 'server/package.json', 'package.json'])
    await cp(join(projectFolder, part), join(next, part), { recursive: true });
  for (const part of ['node_modules', 'console', 'docs', 'client'])
    await symlink(join(projectFolder, part), join(next, part));
  await addNextMigration(
    join(next, 'server', 'migrations'),
    `alter table push_requests add column of_next text;
     alter table installation add column of_next text;
     create index runs_of_next on runs (created_at);`,
  );
  return next;
}

type Running = { process: ReturnType<typeof spawn>; line: StartLine };

/** @throws Error with the code of a node that ended before it was ready */
async function start(version: string): Promise<Running> {
  const words = [...plain, join(version, 'server', 'src', 'main.ts'), '--port', '0', '--json'];
  const child = spawn(process.execPath, words, { env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  child.stderr.on('data', (piece) => (stderr += piece));
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (piece) => {
      stdout += piece;
      if (stdout.includes('\n')) resolve(stdout.slice(0, stdout.indexOf('\n')));
    });
    child.once('close', (code) => reject(new Error(`ended with ${code}: ${stderr}`)));
  });
  return { process: child, line: JSON.parse(line) as StartLine };
}

async function stop({ process: child }: Running): Promise<number> {
  child.kill('SIGTERM');
  const [code] = (await once(child, 'close')) as [number];
  return code;
}

describe.runIf(process.env.FULL === '1' && refusal === undefined)('from one version to the next (FULL=1)', () => {
  const running = new Set<Running>();
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'carillon-upgrade-'));
    database = await startFleetDatabase('empty', []);
    environment = {
      ...{ PATH: process.env.PATH!, HOME: process.env.HOME!, CARILLON_DATA_DIR: join(folder, 'data') },
      ...{ DATABASE_URL: database.url, CARILLON_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') },
    };
  }, 60_000);
  afterAll(async () => {
    for (const { process: child } of running) child.kill('SIGKILL');
    await database?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  test('nodes are replaced one at a time under load: no request fails, each push is sent once, and the old version does not start any more', async () => {
    const migrate = (version: string) =>
      run(process.execPath, [...plain, join(version, 'server', 'src', 'cli', 'carillon.ts'), 'migrate'], {
        env: { ...environment, CARILLON_DATABASE_OWNER_URL: database.ownerUrl },
      });
    await migrate(projectFolder);
    const nodes = [await start(projectFolder), await start(projectFolder)];
    for (const node of nodes) running.add(node);
    // Like a proxy that asks /readyz: a node that is about to be stopped gets no more requests.
    let inService = [...nodes];
    let turn = 0;
    const caller = makeCaller(nodes[0]!.line, () => inService[(turn += 1) % inService.length]!.line.url);
    const load = startPushLoad(caller, { clients: 2, users: 'grace', prefix: 'upgrade' });
    const { answered } = load;
    const moreThan = (count: number) => until('more pushes', { seconds: 60, look: () => answered.length > count });
    const next = await makeNextVersion();
    await moreThan(20);

    expect((await migrate(next)).stdout).toContain('_of_the_next_version.sql');
    await moreThan(answered.length + 50);
    await expect(start(projectFolder)).rejects.toThrow(/ended with 13: .*_of_the_next_version\.sql/s);
    for (const old of nodes) {
      inService = inService.filter((node) => node !== old);
      expect(await stop(old)).toBe(0);
      running.delete(old);
      const replaced = await start(next);
      running.add(replaced);
      expect((await fetch(`${replaced.line.url}/readyz`)).status).toBe(200);
      inService.push(replaced);
      await moreThan(answered.length + 20);
    }
    await load.stop();
    expect(load.faults).toEqual([]);
    const sent = await until('every push is sent', {
      seconds: 60,
      async look() {
        const rows = await database.observer<{ requestId: string; messages: number }[]>`
          select push_requests.request_id as "requestId", count(*)::int as messages
          from push_requests
          join readable_deliveries as deliveries
            on deliveries.run_id = push_requests.run_id and deliveries.outcome = 'ACCEPTED'
          group by push_requests.request_id`;
        return rows.length >= answered.length && rows;
      },
    });
    expect(new Set(sent.map(({ requestId }) => requestId))).toEqual(new Set(answered));
    expect(new Set(sent.map(({ messages }) => messages))).toEqual(new Set([1]));
    for (const node of running) expect(await stop(node)).toBe(0);
    running.clear();
  }, 240_000);
});
