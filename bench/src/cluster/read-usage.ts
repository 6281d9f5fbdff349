import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Database } from '../../../server/src/storage/database.ts';

/** What was used so far; of two readings, the difference counts. */
export type Usage = {
  atMilliseconds: number;
  workerThreadSeconds: number;
  workerOtherSeconds: number;
  databaseSeconds: number;
  simulatorSeconds: number;
  walBytes: number;
  statements: number;
  /** Statements that open a window; the one that closes it looks at no run. */
  windows: number;
  statementMilliseconds: number;
  pageMilliseconds: number;
};

type Observed = {
  /** As a superuser: who observes is told from who works. */
  superuser: Database;
  clusterFolder: string;
  workerPids: readonly number[];
};

// The kernel's clock for times of processes, on every Linux.
const ticksPerSecond = 100;

/** Processor time by the kernel's own accounts, which other work on the machine does not change; the rest by PostgreSQL's. */
export async function readUsage({ superuser, clusterFolder, workerPids }: Observed): Promise<Usage> {
  const [threads, processes] = await Promise.all([
    Promise.all(workerPids.map((pid) => secondsOf(`/proc/${pid}/task/${pid}/stat`, 'own'))),
    Promise.all(workerPids.map((pid) => secondsOf(`/proc/${pid}/stat`, 'own'))),
  ]);
  const workerThreadSeconds = sum(threads);
  const { user, system } = process.cpuUsage();
  const [row] = await superuser<Omit<Usage, `${string}Seconds` | 'atMilliseconds'>[]>`
    select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as "walBytes",
      coalesce(sum(calls), 0)::float8 as statements,
      coalesce(sum(calls) filter (where query like '%set window_opened_at = $%from runs%'), 0)::float8 as windows,
      coalesce(sum(total_exec_time), 0)::float8 as "statementMilliseconds",
      coalesce(sum(total_exec_time) filter (where query like '%from devices%' and query like '%as position%'), 0)::float8
        as "pageMilliseconds"
    from pg_stat_statements where userid <> (select oid from pg_roles where rolname = current_user)`;
  return {
    atMilliseconds: performance.now(),
    workerThreadSeconds,
    workerOtherSeconds: sum(processes) - workerThreadSeconds,
    databaseSeconds: await readDatabaseSeconds(clusterFolder),
    simulatorSeconds: (user + system) / 1e6,
    ...row!,
  };
}

export function usedBetween(before: Usage, after: Usage): Usage {
  const names = Object.keys(after) as (keyof Usage)[];
  return Object.fromEntries(names.map((name) => [name, after[name] - before[name]])) as Usage;
}

/** The postmaster, those of its processes that live, and those that have ended. */
async function readDatabaseSeconds(clusterFolder: string): Promise<number> {
  const postmaster = (await readFile(join(clusterFolder, 'postmaster.pid'), 'utf8')).split('\n')[0]!;
  const children = (await readFile(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8')).trim().split(' ');
  const living = await Promise.all(children.map((pid) => secondsOf(`/proc/${pid}/stat`, 'own')));
  return (await secondsOf(`/proc/${postmaster}/stat`, 'with ended children')) + sum(living);
}

/** Of a process or a thread, from its file below /proc. */
export async function secondsOf(path: string, whose: 'own' | 'with ended children'): Promise<number> {
  // One that ended meanwhile is counted by its parent.
  const text = await readFile(path, 'utf8').catch(() => '');
  const fields = text.slice(text.lastIndexOf(') ') + 2).split(' ');
  const ticks = (whose === 'own' ? [11, 12] : [11, 12, 13, 14]).map((field) => Number(fields[field] ?? 0));
  return sum(ticks) / ticksPerSecond;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, number) => all + number, 0);
}
