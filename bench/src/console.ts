/**
 * Measures every list and search of the console (goal: below 300 ms each) in a workspace with a million users, ten thousand
 * campaigns and five million rows of the ledger: whole HTTP responses of a node, one after the other, p50 and p99.
 *
 * Usage: npm run bench -- console [--users 1000000] [--campaigns 10000] [--ledger 5000000] [--looks 40] [--only <text>]
 * [--data-dir <folder>], a folder that is kept and reused if it is already filled. DATABASE_URL names an empty database to use;
 * else an embedded one is started in a temporary folder and removed.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, loadavg, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { findRunningPostgres } from '../../server/src/start/embedded-postgres/embedded-postgres.ts';
import { openDatabase } from '../../server/src/storage/database.ts';
import type { Database } from '../../server/src/storage/database.ts';
import { listConsoleCases } from './console-cases.ts';
import type { ConsoleCase } from './console-cases.ts';
import { seedConsole } from './console-seed.ts';

type StartLine = { url: string; console: string; workspaceId: string };

const { values } = parseArgs({
  args: process.argv.slice(2).filter((word) => word !== 'console'),
  options: {
    users: { type: 'string', default: '1000000' },
    campaigns: { type: 'string', default: '10000' },
    ledger: { type: 'string', default: '5000000' },
    looks: { type: 'string', default: '40' },
    only: { type: 'string', default: '' },
    'data-dir': { type: 'string' },
  },
});
const goalMilliseconds = 300;
const looks = Number(values.looks);
const folder = values['data-dir'] ?? (await mkdtemp(join(tmpdir(), 'carillon-bench-')));
const main = join(import.meta.dirname, '..', '..', 'server', 'src', 'main.ts');
// A node that sends nothing: this measures the lists, not the engine.
const parameters = ['--data-dir', folder, '--port', '0', '--json', '--role', 'api', '--log-level', 'error'];
const node = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main, ...parameters], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const say = (line: string): void => void process.stdout.write(`${line}\n`);
try {
  const [line] = (await once(createInterface({ input: node.stdout }), 'line')) as [string];
  await measureAll(JSON.parse(line) as StartLine);
} finally {
  node.kill('SIGTERM');
  await once(node, 'exit');
  if (values['data-dir'] === undefined) await rm(folder, { recursive: true, force: true });
}

async function measureAll({ url, console: link, workspaceId }: StartLine): Promise<void> {
  const running = await findRunningPostgres(join(folder, 'postgres'));
  // The owner's URL, for the vacuum.
  const database = openDatabase({ url: process.env.DATABASE_URL ?? running!.ownerUrl, connections: 2, name: 'bench' });
  try {
    const [users, campaigns, ledgerRows] = [values.users, values.campaigns, values.ledger].map(Number) as [
      number,
      number,
      number,
    ];
    // Rounded to an hour, so that a reused folder has the same days.
    const until = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000);
    const seeded = await seedConsole(database, { workspaceId, users, campaigns, ledgerRows, until, say });
    await printMachine(database);
    const cookie = await signIn(url, link);
    const cases = await listConsoleCases(database, { workspaceId, users, campaigns, ...seeded });
    say(`${'answer'.padEnd(46)} asked     p50     p99  (ms)`);
    const over: string[] = [];
    for (const each of cases.filter(({ name }) => name.includes(values.only)))
      if ((await measure({ each, url, cookie })) > goalMilliseconds) over.push(each.name);
    say(
      over.length === 0
        ? `every p99 is below ${goalMilliseconds} ms`
        : `over ${goalMilliseconds} ms: ${over.join(', ')}`,
    );
  } finally {
    await database.end();
  }
}

/** Signs in with the start link of a sandbox, which works once. */
async function signIn(url: string, link: string): Promise<string> {
  const code = new URLSearchParams(new URL(link).hash.slice(1)).get('sign-in');
  const answer = await fetch(`${url}/console/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  });
  if (answer.status !== 204) throw new Error(`the console did not open: ${answer.status}`);
  return answer.headers.get('set-cookie')!.split(';', 1)[0]!;
}

/** Follows pages by the previous response's cursor, and starts over without one. @returns p99 */
async function measure({ each, url, cookie }: { each: ConsoleCase; url: string; cookie: string }): Promise<number> {
  const times: number[] = [];
  let next: string | undefined;
  // The first request of each kind is not measured: it prepares statements and connections.
  for (let look = 0; look <= looks; look += 1) {
    const { path, body } = each.ask(look, next);
    const begun = performance.now();
    const answer = await fetch(`${url}/console/api/${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { cookie, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    const took = performance.now() - begun;
    if (answer.status !== 200) throw new Error(`${each.name}: ${answer.status} ${text}`);
    if (look > 0) times.push(took);
    if (each.isPaged) next = (JSON.parse(text) as { next?: string | null }).next ?? undefined;
  }
  const [p50, p99] = [percentile(times, 0.5), percentile(times, 0.99)];
  const cells = [p50, p99].map((time) => time.toFixed(1).padStart(8)).join('');
  say(`${each.name.padEnd(46)} ${String(times.length).padStart(5)}${cells}${p99 > goalMilliseconds ? '  over' : ''}`);
  return p99;
}

async function printMachine(database: Database): Promise<void> {
  const [row] = await database`
    select split_part(version(), ' on ', 1) as version, current_setting('shared_buffers') as buffers,
      (select count(*) from users) as users, (select count(*) from devices) as devices,
      (select count(*) from campaigns) as campaigns, (select count(*) from readable_deliveries as deliveries) as deliveries,
      (select count(*) from events) as events, pg_size_pretty(pg_database_size(current_database())) as size`;
  const { stdout } = spawnSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: import.meta.dirname, encoding: 'utf8' });
  const { version, buffers, users, devices, campaigns, deliveries, events, size } = row!;
  say(`npm run bench -- console   (commit ${stdout.trim()})`);
  say(
    `machine: ${cpus().length} × ${cpus()[0]!.model}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}, ` +
      `load ${loadavg()
        .map((load) => load.toFixed(2))
        .join(' ')}`,
  );
  say(`${version}, shared_buffers ${buffers}, database ${size}`);
  say(
    `${users} people, ${devices} devices, ${campaigns} campaigns, ${deliveries} rows of the ledger, ${events} events`,
  );
}

function percentile(times: number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)]!;
}
