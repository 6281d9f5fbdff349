import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { inTransaction, openDatabase, withSession } from '../../src/storage/database.ts';
import { until } from '../rig/fleet.ts';
import type { Fleet } from '../rig/fleet.ts';
import type { Place } from './open-network.ts';
import { startTimes } from './report-times.ts';
import type { Report } from './report-times.ts';

/** A row lock that sessions of the node wait for one behind the other, a session's own lock, and the node's statement. */
// Who gets the row after a dead one answers its node before it is known to be dead too, which is half a minute more.
const limits = { freed: 45, passedOn: 70, failed: 60 };

/** Cuts off somebody who holds locks, and waits for them as another node would. */
export async function playLocks(
  { database, observer, network }: Pick<Fleet, 'database' | 'observer' | 'network'>,
  place: Place,
): Promise<Report> {
  await observer`create table if not exists lock_probe (number int)`;
  await observer`delete from lock_probe`;
  await observer`insert into lock_probe values (0)`;
  await observer`grant all on lock_probe to public`;
  const url = new URL(database.url);
  url.hostname = network!.databaseAddress;
  const script = join(import.meta.dirname, 'lock-holder.ts');
  const words = [...place.before, process.execPath, '--disable-warning=ExperimentalWarning', script, url.href];
  const holder = spawn(words[0]!, words.slice(1), { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const ended = once(holder, 'close');
  await once(holder, 'message');
  await until('two sessions that wait', {
    seconds: 30,
    async look() {
      const rows = await observer`
        select 1 from pg_stat_activity where client_addr = ${place.address}::inet and wait_event_type = 'Lock'`;
      return rows.length === 2 ? true : undefined;
    },
  });
  await place.cut('everything');
  holder.send('cut');
  const times = startTimes(limits);
  const after = { row: false, session: false };
  const failed = once(holder, 'message') as Promise<[{ failedSeconds: number }]>;
  // The observer has two connections, which what is played meanwhile looks through.
  const waiting = openDatabase({ url: database.ownerUrl, connections: 2, name: 'lock-waiter' });
  const work = Promise.all([
    inTransaction(waiting, (tx) => tx`update lock_probe set number = number + 1`).then(() => (after.row = true)),
    withSession(waiting, (session) => session`select pg_advisory_lock(7)`).then(() => (after.session = true)),
  ]);
  times.measure('passedOn', 'a row that three of its sessions wanted was free', async () => after.row);
  times.measure('freed', 'a lock of its session was free', async () => after.session);
  let failedSeconds = Number.POSITIVE_INFINITY;
  void failed.then(([message]) => ({ failedSeconds } = message));
  times.measure(
    'failed',
    'its own statement failed, still cut off',
    async () => failedSeconds < Number.POSITIVE_INFINITY,
  );
  await times.settled();
  await place.mend();
  holder.kill('SIGKILL');
  await Promise.all([work, ended]);
  await waiting.end();
  return { numbers: times.numbers(), broken: times.broken() };
}
