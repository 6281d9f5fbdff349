import type { Clock } from '../../clock.ts';
import { minuteOf } from '../../domain/metrics/minute-figures.ts';
import { metricDays } from '../../domain/retention/limits.ts';
import type { Database } from '../../storage/database.ts';
import { deleteOldMinutes, upsertNodeMinutes } from '../../storage/installation/node-minutes.ts';
import { readQueues } from '../../storage/installation/queues.ts';
import type { Job } from '../job.ts';
import type { NodeMeter } from './node-meter.ts';

export type ReportMinutesDependencies = {
  database: Database;
  clock: Clock;
  meter: NodeMeter;
  nodeId: string;
  /** A node that sends tells what waits, too. */
  seesQueues: boolean;
};

const dayMilliseconds = 86_400_000;
const sending = ['chunks', 'retries'];

/**
 * The job that writes down what this node counted: a row a minute, written anew while the minute lasts. What it costs does
 * not depend on how much is sent.
 */
export function makeReportMinutes({ database, clock, meter, nodeId, seesQueues }: ReportMinutesDependencies): Job {
  let seenMinute = 0;
  return {
    name: 'report-minutes',
    intervalMilliseconds: 15_000,
    async runOnce(now) {
      const realNow = clock.realNow();
      const minute = minuteOf(realNow);
      const rows = meter.take().map((row) => ({ ...row, nodeId }));
      const isNewMinute = minute.getTime() !== seenMinute;
      if (isNewMinute && seesQueues) {
        const gauges = await readGauges(database, now);
        const last = rows.find((row) => row.minute.getTime() === minute.getTime());
        if (last) Object.assign(last.figures.gauges, gauges);
        else rows.push({ minute, nodeId, figures: { counts: {}, gauges } });
      }
      await upsertNodeMinutes(database, rows);
      if (isNewMinute) await deleteOldMinutes(database, new Date(realNow.getTime() - metricDays * dayMilliseconds));
      seenMinute = minute.getTime();
      return 0;
    },
  };
}

async function readGauges(database: Database, at: Date) {
  const queues = await readQueues(database, at);
  const ofSending = queues.filter(({ name }) => sending.includes(name));
  const oldest = Math.min(...ofSending.map(({ oldestAt }) => oldestAt?.getTime() ?? at.getTime()));
  const retries = queues.find(({ name }) => name === 'retries');
  return {
    'queue.waiting': ofSending.reduce((sum, { waiting }) => sum + waiting, 0),
    'queue.ageSeconds': Math.max(0, Math.round((at.getTime() - oldest) / 1000)),
    'retries.waiting': (retries?.waiting ?? 0) + (retries?.later ?? 0),
  };
}
