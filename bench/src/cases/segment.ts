import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { inTurn, median } from '../kit/bench.ts';
import type { Bench, Case } from '../kit/bench.ts';
import { startDatabase } from '../kit/embedded-database.ts';
import type { BenchDatabase } from '../kit/embedded-database.ts';
import { processPath, runScript } from '../kit/peers.ts';

type Sizes = { users: number; lines: number; matching: number };

/** A file that a server of this process serves, and the users of its values. */
export type Filling = Sizes & {
  database: BenchDatabase;
  file: string;
  url: string;
  /** Files of a thousand lines before the timed one, in its process: they warm up the runtime. */
  warm?: number;
};

type Filled = { seconds: number; rssMegabytes: number };

/** `u`, eight digits and the line's end. */
const lineBytes = 10;
const goals = { times: 1.1, megabytes: 200 };

export const segmentCase: Case<'segment', Filling> = {
  prepare: (bench) => prepareFile(bench, bench.options),

  async run(bench, filling) {
    const { lines, users, rounds } = bench.options;
    const results = await inTurn(rounds, {
      psql: async (round) => ({ seconds: await runPsql(filling, round), rssMegabytes: 0 }),
      ours: (round) => runFill(filling, round),
    });
    for (const [index, { seconds, rssMegabytes }] of results.ours.entries())
      bench.say(
        `round ${index + 1}: carillon ${seconds.toFixed(2)} s, psql ${results.psql[index]!.seconds.toFixed(2)} s, memory ${rssMegabytes} MB`,
      );
    const [ours, psql] = [results.ours, results.psql].map((all) => median(all.map(({ seconds }) => seconds))) as [
      number,
      number,
    ];
    const megabytes = Math.max(...results.ours.map(({ rssMegabytes }) => rssMegabytes));
    const work = `a file of ${lines} lines against ${users} users`;
    bench.compare({
      ...{ work, ours: `${ours.toFixed(2)} s`, peer: `psql, COPY and join by hand ${psql.toFixed(2)} s` },
      ...{ ratio: psql / ours, goal: `≤ ${goals.times} × its time`, isMet: ours / psql <= goals.times },
    });
    bench.compare({
      ...{ work: `${work}: memory`, ours: `${megabytes} MB at most` },
      ...{ goal: `< ${goals.megabytes} MB`, isMet: megabytes < goals.megabytes },
    });
  },
};

/** Inserts users, and serves a file with the values of some of them. */
export async function prepareFile(
  bench: Pick<Bench, 'defer' | 'makeFolder' | 'say'>,
  { users, lines, matching }: Sizes,
): Promise<Filling> {
  const database = await startDatabase(bench);
  const file = join(await bench.makeFolder(), 'values.csv');
  const files = createServer(({ url = '' }, response) => {
    response.writeHead(200, { 'content-type': 'text/csv' });
    const someLines = Number(new URL(url, 'http://localhost').searchParams.get('lines') ?? lines);
    createReadStream(file, { highWaterMark: 256 * 1024, end: someLines * lineBytes - 1 }).pipe(response);
  });
  bench.defer(() => {
    files.closeAllConnections();
    files.close();
  });
  bench.say(await insertUsers(database, { users, lines, matching, file }));
  files.listen(0, '127.0.0.1');
  await once(files, 'listening');
  const url = `http://127.0.0.1:${(files.address() as AddressInfo).port}/values.csv`;
  return { users, lines, matching, database, file, url };
}

/** Fills a segment from the file several times. @returns the seconds of each */
export async function fillRepeatedly(filling: Filling, rounds: number): Promise<number[]> {
  const { ours } = await inTurn(rounds, { ours: (round) => runFill(filling, round) });
  return ours.map(({ seconds }) => seconds);
}

/**
 * Inserts the users. Values are `u` and eight digits; the file's first `matching` values belong to users, the others to none,
 * all shuffled by a stride.
 */
async function insertUsers(
  { owner: database }: BenchDatabase,
  { users, lines, matching, file }: Sizes & { file: string },
): Promise<string> {
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
  await pipeline(Readable.from(filePieces({ lines, matching })), createWriteStream(file));
  const megabytes = ((await stat(file)).size / 1e6).toFixed(1);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
  return `${users} users, file of ${lines} lines and ${megabytes} MB prepared in ${seconds} s`;
}

function* filePieces({ lines, matching }: Pick<Sizes, 'lines' | 'matching'>): Generator<string> {
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
async function runPsql({ database, file, matching }: Filling, round: number): Promise<number> {
  const { owner, ownerUrl } = database;
  await owner`
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
  const psql = spawn('psql', ['-X', '-q', '-v', 'ON_ERROR_STOP=1', ownerUrl], {
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  psql.stdin.end(script);
  const [code] = (await once(psql, 'exit')) as [number];
  if (code !== 0) throw new Error(`psql ended with ${code}`);
  const seconds = (performance.now() - startedAt) / 1000;
  const [row] = await owner`select count(*) as members from peer_members where segment_id = ${`peer-${round}`}`;
  if (row!.members !== matching) throw new Error(`psql found ${row!.members} users`);
  return seconds;
}

/** Runs the product's own path, in a separate process so that its memory can be read. */
async function runFill(filling: Filling, round: number): Promise<Filled> {
  const { database, url, lines, matching, warm = 0 } = filling;
  for (let small = 0; small < warm; small += 1)
    await queueFill(database, { name: `${(round + 1) * 1_000 + small}`, url: `${url}?lines=1000`, second: small });
  const operationId = await queueFill(database, { name: `${round}`, url, second: warm });
  const filled = (await runScript([processPath('fill-once.ts'), database.ownerUrl, String(warm + 1)])) as Filled;
  const [row] = await database.owner`
    select state, values_found, values_processed, user_count from segment_operations where id = ${operationId}`;
  const isRight =
    row!.state === 'SUCCEEDED' &&
    row!.values_found === lines &&
    row!.values_processed === lines &&
    row!.user_count === matching;
  if (!isRight) throw new Error(`the fill gave ${JSON.stringify(row)}`);
  return filled;
}

/** @returns the operation's id; operations of a later second are processed later */
async function queueFill(
  { owner: database }: BenchDatabase,
  { name, url, second }: { name: string; url: string; second: number },
): Promise<string> {
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
