/**
 * Measures file segments (budget P6): a file of 150 MB and 15 million lines against 5 million users, through the whole path
 * (download over HTTP, checks, distinct, match, members). The peer is a hand-written psql script that does COPY and join on the
 * same database in the same run. Prints every round, medians, the ratio, and the memory of the filling process.
 *
 * Usage: npm run bench -- segment [--users 5000000] [--lines 15000000] [--matching 2000000] [--rounds 5] [--warm 0]
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '../../server/src/start/embedded-postgres/embedded-postgres.ts';
import { prepareDatabase } from '../../server/src/start/database/prepare-database.ts';
import { openDatabase } from '../../server/src/storage/database.ts';
import { tellComparison } from './comparison.ts';
import { median } from './median.ts';

const { values } = parseArgs({
  args: process.argv.slice(2).filter((word) => word !== 'segment'),
  options: {
    users: { type: 'string', default: '5000000' },
    lines: { type: 'string', default: '15000000' },
    matching: { type: 'string', default: '2000000' },
    rounds: { type: 'string', default: '5' },
    // The number of files of a thousand lines before the timed one, in its process: they warm up the runtime.
    warm: { type: 'string', default: '0' },
  },
});
const [users, lines, matching, rounds] = [values.users, values.lines, values.matching, values.rounds].map(Number) as [
  number,
  number,
  number,
  number,
];

/** `u`, eight digits and the line's end. */
const lineBytes = 10;
const goals = { times: 1.1, megabytes: 200 };

if (spawnSync('psql', ['--version']).status !== 0) {
  process.stderr.write('bench segment: psql is needed as the peer (Debian: apt install postgresql-client)\n');
  process.exit(2);
}

const folder = await mkdtemp(join(tmpdir(), 'carillon-bench-'));
const file = join(folder, 'values.csv');
const server = await startEmbeddedPostgres({ folder: join(folder, 'postgres') });
const database = openDatabase({ url: server.ownerUrl, connections: 4, name: 'bench' });
const files = createServer(({ url = '' }, response) => {
  response.writeHead(200, { 'content-type': 'text/csv' });
  const someLines = Number(new URL(url, 'http://localhost').searchParams.get('lines') ?? lines);
  createReadStream(file, { highWaterMark: 256 * 1024, end: someLines * lineBytes - 1 }).pipe(response);
});

try {
  await prepareDatabase(server.ownerUrl, { application: 'carillon_app' });
  await prepare();
  files.listen(0, '127.0.0.1');
  await once(files, 'listening');
  const url = `http://127.0.0.1:${(files.address() as AddressInfo).port}/values.csv`;
  const results: { ours: number; psql: number; rssMegabytes: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const psql = await runPsql(round);
    const { seconds: ours, rssMegabytes } = await runFill(round, url);
    results.push({ ours, psql, rssMegabytes });
    report(`round ${round + 1}: carillon ${ours.toFixed(2)} s, psql ${psql.toFixed(2)} s, memory ${rssMegabytes} MB`);
  }
  const [ours, psql] = [median(results.map((one) => one.ours)), median(results.map((one) => one.psql))];
  const megabytes = Math.max(...results.map((one) => one.rssMegabytes));
  const work = `a file of ${lines} lines against ${users} users`;
  tellComparison({
    ...{ budget: 'P6', work, ours: `${ours.toFixed(2)} s`, peer: `psql, COPY and join by hand ${psql.toFixed(2)} s` },
    ...{ ratio: psql / ours, goal: `≤ ${goals.times} × its time`, isMet: ours / psql <= goals.times },
  });
  tellComparison({
    ...{ budget: 'P6', work: `${work}: memory`, ours: `${megabytes} MB at most`, peer: '–', ratio: null },
    ...{ goal: `< ${goals.megabytes} MB`, isMet: megabytes < goals.megabytes },
  });
} finally {
  files.closeAllConnections();
  files.close();
  await database.end();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}

function report(line: string): void {
  process.stdout.write(`${line}\n`);
}

/**
 * Inserts the users. Values are `u` and eight digits; the file's first `matching` values belong to users, the others to none,
 * all shuffled by a stride.
 */
async function prepare(): Promise<void> {
  report(`machine: ${cpus().length} × ${cpus()[0]!.model}, Node ${process.version}`);
  const [row] = await database<{ version: string }[]>`select version() as version`;
  report(row!.version);
  await database`
    insert into workspaces (id, db_name, name, created_at) values ('BENCH', 'bench', 'Bench', '2026-01-01')`;
  const startedAt = performance.now();
  // The bucket of a real user is a hash of the customer id; for the join only its distribution matters.
  await database`
    insert into users (workspace_id, bucket, id, customer_id, attributes, created_at, updated_at)
    select 'BENCH', n % 256, lpad(to_hex(n), 24, '0'), 'customer-' || n, '{}', '2026-01-01', '2026-01-01'
    from generate_series(0, ${users - 1}::int) as n`;
  await database`
    insert into identifiers (workspace_id, bucket, user_id, attribute, type, value)
    select 'BENCH', n % 256, lpad(to_hex(n), 24, '0'), 'u_ref', 'string', 'u' || lpad(n::text, 8, '0')
    from generate_series(0, ${users - 1}::int) as n`;
  await database`analyze users, identifiers`;
  await pipeline(Readable.from(filePieces()), createWriteStream(file));
  const { size } = await stat(file);
  report(
    `${users} users, file of ${lines} lines and ${(size / 1e6).toFixed(1)} MB prepared in ${((performance.now() - startedAt) / 1000).toFixed(0)} s`,
  );
}

function* filePieces(): Generator<string> {
  // 15,485,863 is prime, so the stride visits every line once, unrelated to the order of the values.
  const stride = 15_485_863 % lines || 1;
  let at = 0;
  let piece: string[] = [];
  for (let line = 0; line < lines; line += 1) {
    at = (at + stride) % lines;
    const value = at < matching ? at : 50_000_000 + at;
    piece.push(`u${String(value).padStart(8, '0')}\n`);
    if (piece.length < 10_000) continue;
    yield piece.join('');
    piece = [];
  }
  yield piece.join('');
}

/**
 * Runs what a careful developer would write: COPY into an unlogged table, distinct join, insert into a table of the same form.
 */
async function runPsql(round: number): Promise<number> {
  await database`
    create table if not exists peer_members (
      workspace_id text collate "C" not null, bucket smallint not null, segment_id text collate "C" not null,
      user_id text collate "C" not null, added_in integer not null, removed_in integer,
      primary key (workspace_id, bucket, segment_id, user_id, added_in)
    )`;
  const script = `
    set work_mem = '256MB';
    create unlogged table peer_values (value text collate "C" not null);
    \\copy peer_values from '${file}'
    analyze peer_values;
    insert into peer_members (workspace_id, bucket, segment_id, user_id, added_in)
    select distinct 'BENCH', identifiers.bucket, 'peer-${round}', identifiers.user_id, 1
    from peer_values join identifiers on identifiers.workspace_id = 'BENCH' and identifiers.attribute = 'u_ref'
      and identifiers.type = 'string' and identifiers.value = peer_values.value;
    drop table peer_values;
    analyze peer_members;`;
  const startedAt = performance.now();
  const psql = spawn('psql', ['-X', '-q', '-v', 'ON_ERROR_STOP=1', server.ownerUrl], {
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  psql.stdin.end(script);
  const [code] = (await once(psql, 'exit')) as [number];
  if (code !== 0) throw new Error(`psql ended with ${code}`);
  const seconds = (performance.now() - startedAt) / 1000;
  const [row] = await database`select count(*) as members from peer_members where segment_id = ${`peer-${round}`}`;
  if (row!.members !== matching) throw new Error(`psql found ${row!.members} users`);
  return seconds;
}

/** Runs the product's own path, in a separate process so that its memory can be read. */
async function runFill(round: number, url: string): Promise<{ seconds: number; rssMegabytes: number }> {
  const warm = Number(values.warm);
  for (let file = 0; file < warm; file += 1)
    await queueFill(`${(round + 1) * 1_000 + file}`, { url: `${url}?lines=1000`, second: file });
  const operationId = await queueFill(`${round}`, { url, second: warm });
  const child = spawn(
    process.execPath,
    [
      ...['--disable-warning=ExperimentalWarning', join(import.meta.dirname, 'fill-once.ts')],
      ...[server.ownerUrl, String(warm + 1)],
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let output = '';
  child.stdout.on('data', (piece) => (output += piece));
  await once(child, 'exit');
  const result = JSON.parse(output) as { seconds: number; rssMegabytes: number };
  const [row] = await database`
    select state, values_found, values_processed, user_count from segment_operations where id = ${operationId}`;
  const isRight =
    row!.state === 'SUCCEEDED' &&
    row!.values_found === lines &&
    row!.values_processed === lines &&
    row!.user_count === matching;
  if (!isRight) throw new Error(`the fill gave ${JSON.stringify(row)}`);
  return result;
}

/** @returns the operation's id; operations of a later second are processed later */
async function queueFill(name: string, { url, second }: { url: string; second: number }): Promise<string> {
  const [operationId, segmentId] = [name.padStart(24, 'a'), name.padStart(24, 'b')];
  const at = new Date(Date.UTC(2026, 0, 1, 0, 0, second));
  await database`
    insert into segments (id, workspace_id, name, kind, state, source, attribute_name, attribute_type, user_count,
      created_by, created_at, updated_at)
    values (${segmentId}, 'BENCH', ${`Bench ${name}`}, 'FILE', 'FILLING', 'API', 'u_ref', 'string', 0, 'bench',
      ${at}, ${at})`;
  await database`
    insert into segment_operations (id, workspace_id, segment_id, number, kind, request_id, file_url, state, not_before,
      requested_by, created_at)
    values (${operationId}, 'BENCH', ${segmentId}, 1, 'CREATE', ${name.padStart(32, 'c')}, ${url}, 'QUEUED',
      ${at}, 'bench', ${at})`;
  return operationId;
}
