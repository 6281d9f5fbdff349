import { readFile } from 'node:fs/promises';
import type { Database } from '../../src/storage/database.ts';

/** User and system time of a process of this machine so far. */
export async function readProcessSeconds(pid: number): Promise<number> {
  return (await readStat(`/proc/${pid}/stat`)).own;
}

/** Peak resident memory of a process, from the kernel's own count. */
export async function readPeakMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmHWM:\s+(\d+) kB/.exec(status)![1]) / 1024);
}

/** Of a database server of this machine: the postmaster with those that have ended, and those that live. */
export async function readServerSeconds(observer: Database): Promise<number> {
  const [row] = await observer<{ pid: number }[]>`select pg_backend_pid() as pid`;
  const postmaster = (await readStat(`/proc/${row!.pid}/stat`)).parent;
  const children = (await readFile(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8')).trim().split(' ');
  const living = await Promise.all(children.map((pid) => readStat(`/proc/${pid}/stat`)));
  const { own, ended } = await readStat(`/proc/${postmaster}/stat`);
  return living.reduce((sum, child) => sum + child.own, own + ended);
}

// The kernel's clock for times of processes, on every Linux.
const ticksPerSecond = 100;

/** One that has ended meanwhile is counted by its parent. */
async function readStat(path: string): Promise<{ parent: number; own: number; ended: number }> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const fields = text
    .slice(text.lastIndexOf(') ') + 2)
    .split(' ')
    .map(Number);
  const seconds = (first: number): number => ((fields[first] ?? 0) + (fields[first + 1] ?? 0)) / ticksPerSecond;
  return { parent: fields[1] ?? 0, own: seconds(11), ended: seconds(13) };
}
