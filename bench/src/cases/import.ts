import { createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { importFile } from '../../../server/src/app/import/import-file.ts';
import { makeClock } from '../../../server/src/clock.ts';
import { makeLog } from '../../../server/src/log.ts';
import type { Bench, Case } from '../kit/bench.ts';
import { startDatabase } from '../kit/embedded-database.ts';
import type { BenchDatabase } from '../kit/embedded-database.ts';

/** On two cores. */
const goalSecondsPerMillion = 90;
const linesPerPiece = 1_000;

type Importing = BenchDatabase & { file: string };

export const importCase: Case<'import', Importing> = {
  async prepare(bench) {
    const { users, format } = bench.options;
    const database = await startDatabase(bench);
    await database.owner`
      insert into workspaces (id, db_name, name, created_at) values ('BENCH', 'bench', 'Bench', '2026-01-01')`;
    const file = join(await bench.makeFolder(), `people.${format}`);
    await pipeline(Readable.from(pieces(bench.options)), createWriteStream(file));
    bench.say(`${users} users in ${((await stat(file)).size / 1e6).toFixed(1)} MB of ${format}`);
    return { ...database, file };
  },

  async run(bench, importing) {
    await load(bench, { ...importing, what: 'into an empty workspace' });
    await load(bench, { ...importing, what: 'again, every user there' });
  },
};

async function load(
  bench: Bench<'import'>,
  { owner: database, file, what }: Importing & { what: string },
): Promise<void> {
  const { users } = bench.options;
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
  const goal = ((goalSecondsPerMillion * users) / 1e6).toFixed(1);
  bench.say(
    `${what}: ${seconds.toFixed(1)} s (goal ${goal}), ${Math.round(users / seconds)} users/s, ` +
      `${row!.identifiers as number} identifiers, ${((user + system) / 1e6).toFixed(1)} s of CPU and at most ${maxMegabytes} MB in the loader`,
  );
}

function* pieces({ users, format }: { users: number; format: string }): Generator<string> {
  const isCsv = format === 'csv';
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
