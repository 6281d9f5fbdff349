import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Database } from '../../../server/src/storage/database.ts';

/** Cumulative usage; results are differences of two readings. */
export type Usage = {
  atMilliseconds: number;
  workerThreadSeconds: number;
  workerOtherSeconds: number;
  databaseSeconds: number;
  simulatorSeconds: number;
  walBytes: number;
  statements: number;
  /** Statements that open a window; the one that closes it does not read a run. */
  windows: number;
  statementMilliseconds: number;
  pageMilliseconds: number;
};

type Observed = {
  /** As a superuser, to distinguish the measuring connection from the workers. */
  superuser: Database;
  clusterFolder: string;
  workerPids: readonly number[];
};

// The kernel's clock for process times, on every Linux.
const ticksPerSecond = 100;

/**
 * Reads processor time from the kernel's accounting, which other work on the machine does not change, and the rest from
 * PostgreSQL's.
 */
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

/** Returns the time of the postmaster and of its processes, living and ended. */
async function readDatabaseSeconds(clusterFolder: string): Promise<number> {
  const postmaster = (await readFile(join(clusterFolder, 'postmaster.pid'), 'utf8')).split('\n')[0]!;
  const children = (await readFile(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8')).trim().split(' ');
  const living = await Promise.all(children.map((pid) => secondsOf(`/proc/${pid}/stat`, 'own')));
  return (await secondsOf(`/proc/${postmaster}/stat`, 'with ended children')) + sum(living);
}

/** Returns the time of a process or a thread, from its file below /proc. */
export async function secondsOf(path: string, whose: 'own' | 'with ended children'): Promise<number> {
  // A process that ended meanwhile is counted by its parent.
  const text = await readFile(path, 'utf8').catch(() => '');
  const fields = text.slice(text.lastIndexOf(') ') + 2).split(' ');
  const ticks = (whose === 'own' ? [11, 12] : [11, 12, 13, 14]).map((field) => Number(fields[field] ?? 0));
  return sum(ticks) / ticksPerSecond;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, number) => all + number, 0);
}
