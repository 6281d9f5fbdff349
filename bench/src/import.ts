/**
 * Measures loading users: a file of users with 10 attributes each, a text file for `carillon import`, into an embedded
 * PostgreSQL with its durable settings. Prints the seconds, users and identifiers per second, and the memory of the loading
 * process. Goal: 1,000,000 users under 90 s on two cores.
 *
 * Usage: npm run bench -- import [--users 1000000] [--format ndjson|csv]
 */
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { importFile } from '../../server/src/app/import/import-file.ts';
import { makeClock } from '../../server/src/clock.ts';
import { makeLog } from '../../server/src/log.ts';
import { startEmbeddedPostgres } from '../../server/src/start/embedded-postgres/embedded-postgres.ts';
import { prepareDatabase } from '../../server/src/start/database/prepare-database.ts';
import { openDatabase } from '../../server/src/storage/database.ts';

const { values } = parseArgs({
  args: process.argv.slice(2).filter((word) => word !== 'import'),
  options: {
    users: { type: 'string', default: '1000000' },
    format: { type: 'string', default: 'ndjson' },
  },
});
const users = Number(values.users);
const goalSeconds = (90 * users) / 1_000_000;
const linesPerPiece = 1_000;

const folder = await mkdtemp(join(tmpdir(), 'carillon-bench-'));
const file = join(folder, `people.${values.format}`);
const server = await startEmbeddedPostgres({ folder: join(folder, 'postgres') });
const database = openDatabase({ url: server.ownerUrl, connections: 4, name: 'bench' });
try {
  await prepareDatabase(server.ownerUrl, { application: 'carillon_app' });
  await database`
    insert into workspaces (id, db_name, name, created_at) values ('BENCH', 'bench', 'Bench', '2026-01-01')`;
  report(`machine: ${cpus().length} × ${cpus()[0]!.model}, Node ${process.version}`);
  await pipeline(Readable.from(pieces()), createWriteStream(file));
  report(`${users} users in ${((await stat(file)).size / 1e6).toFixed(1)} MB of ${values.format}`);
  await load('into an empty workspace');
  await load('again, every user there');
} finally {
  await database.end();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}

async function load(what: string): Promise<void> {
  let maxMegabytes = 0;
  const sampling = setInterval(() => {
    maxMegabytes = Math.max(maxMegabytes, Math.round(process.memoryUsage.rss() / 1e6));
  }, 100);
  const [startedAt, cpuBefore] = [performance.now(), process.cpuUsage()];
  const result = await importFile(
    { database, clock: makeClock(), log: makeLog({ level: 'warn', pretty: false }), prefixes: ['svc'] },
    { workspaceId: 'BENCH', kind: 'users', path: file, onProgress: () => {} },
  );
  clearInterval(sampling);
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  const [row] = await database`
    select (select count(*) from users) as users, (select count(*) from identifiers) as identifiers`;
  if (result.users !== users || row!.users !== users) throw new Error(`loaded ${JSON.stringify({ result, row })}`);
  report(
    `${what}: ${seconds.toFixed(1)} s (goal ${goalSeconds.toFixed(1)}), ${Math.round(users / seconds)} users/s, ` +
      `${row!.identifiers as number} identifiers, ${((user + system) / 1e6).toFixed(1)} s of CPU and at most ${maxMegabytes} MB in the loader`,
  );
}

function* pieces(): Generator<string> {
  const isCsv = values.format === 'csv';
  let piece = isCsv
    ? 'customer_id,u_fn,u_ln,u_em,u_mb,city,plan,visits:number,spent:number,vip:boolean,tags:json\n'
    : '';
  for (let number = 0; number < users; number += 1) {
    piece += isCsv ? csvLine(number) : `${JSON.stringify(makeUser(number))}\n`;
    if (number % linesPerPiece !== linesPerPiece - 1) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}

function makeUser(number: number) {
  return {
    customer_id: `customer-${number}`,
    attributes: {
      u_fn: `First${number % 5_000}`,
      u_ln: `Last${number % 50_000}`,
      u_em: `person.${number}@example.com`,
      u_mb: `+4179${String(number).padStart(7, '0')}`,
      city: `City ${number % 300}`,
      plan: ['free', 'basic', 'gold'][number % 3]!,
      visits: number % 100,
      spent: (number % 10_000) / 4,
      vip: number % 10 === 0,
      tags: [`tag${number % 7}`, `tag${number % 11}`],
    },
  };
}

function csvLine(number: number): string {
  const { customer_id: id, attributes } = makeUser(number);
  const cells = Object.values(attributes).map((value) =>
    Array.isArray(value) ? `"${JSON.stringify(value).replaceAll('"', '""')}"` : String(value),
  );
  return `${id},${cells.join(',')}\n`;
}

function report(line: string): void {
  process.stdout.write(`${line}\n`);
}
