import type { Clock } from '../../clock.ts';
import { providerNames, providerOf } from '../../domain/delivery/providers.ts';
import type { ProviderName } from '../../domain/delivery/providers.ts';
import { metricDays } from '../../domain/limits/retention.ts';
import {
  batchBounds,
  durationBounds,
  makeBucketCounts,
  callbackResults,
  fillResults,
  minuteOf,
} from '../../domain/operations/metrics.ts';
import type {
  BucketCounts,
  CallbackResult,
  FillResult,
  CountName,
  GaugeName,
  MinuteFigures,
  SendOutcome,
} from '../../domain/operations/metrics.ts';
import { unknownCase } from '../../domain/unknown-case.ts';
import type { Delivery } from '../../providers/deliver.ts';
import type { Outcome } from '../../providers/provider.ts';
import type { Database } from '../../storage/database.ts';
import { deleteOldMinutes, upsertNodeMinutes } from '../../storage/installation/metrics.ts';
import { readQueues } from '../../storage/installation/queues.ts';
import type { Job } from '../jobs/job.ts';

export type CountedCall = {
  method: string;
  route: string;
  status: number;
  errorName: string | undefined;
  durationMilliseconds: number;
};

/** Counts what this process does: per minute of real time for charts, and since its start for scrapers. */
export type NodeMeter = {
  noteCall(call: CountedCall): void;
  /** Records the number of push requests that one commit stored. */
  noteCommit(pushes: number): void;
  noteSend(provider: ProviderName, sent: { outcome: Outcome; milliseconds: number }): void;
  noteCallback(result: CallbackResult): void;
  noteFill(result: FillResult): void;
  noteFailedJob(): void;
  /** Returns the minutes with counts, the current one last. Completed minutes are then dropped. */
  take(): { minute: Date; figures: MinuteFigures }[];
  /** Returns the totals since the start. */
  readTotals(): NodeTotals;
};

export type CallTotals = { method: string; route: string; statuses: Map<number, number>; durations: BucketCounts };
export type NodeTotals = {
  /** Counts of calls and sends. Other counts have separate fields here. */
  counts: MinuteFigures['counts'];
  calls: Iterable<CallTotals>;
  accepts: BucketCounts;
  commits: BucketCounts;
  providers: ReadonlyMap<ProviderName, BucketCounts>;
  callbacks: ReadonlyMap<CallbackResult, number>;
  fills: ReadonlyMap<FillResult, number>;
};

type Open = { minute: Date; figures: MinuteFigures };

// The database may be unavailable for an hour. Counts of that time are stored when it is back.
const maxMinutes = 60;

/** A message only costs a few additions: a minute's counts are added to the totals when the minute is over. */
export function makeNodeMeter({ clock }: { clock: Clock }): NodeMeter {
  const minutes = makeMinuteCounts(clock);
  const calls = new Map<string, CallTotals>();
  const accepts = makeBucketCounts(durationBounds);
  const commits = makeBucketCounts(batchBounds);
  const providers = new Map(providerNames.map((name) => [name, makeBucketCounts(durationBounds)]));
  const callbacks = new Map<CallbackResult, number>(callbackResults.map((result) => [result, 0]));
  const fills = new Map<FillResult, number>(fillResults.map((result) => [result, 0]));

  function callsOf({ method, route }: CountedCall): CallTotals {
    const key = `${method} ${route}`;
    let totals = calls.get(key);
    if (!totals)
      calls.set(key, (totals = { method, route, statuses: new Map(), durations: makeBucketCounts(durationBounds) }));
    return totals;
  }

  function add({ counts }: MinuteFigures, name: CountName, amount = 1): void {
    counts[name] = (counts[name] ?? 0) + amount;
  }
  function raise({ gauges }: MinuteFigures, name: GaugeName, value: number): void {
    gauges[name] = Math.max(gauges[name] ?? 0, value);
  }

  return {
    noteCall(call) {
      const { route, status, errorName, durationMilliseconds } = call;
      const figures = minutes.current();
      const { statuses, durations } = callsOf(call);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      durations.note(durationMilliseconds / 1000);
      add(figures, 'calls');
      if (status >= 500) add(figures, 'calls.failed');
      else if (errorName !== undefined || status >= 400) add(figures, 'calls.refused');
      else if (route.endsWith('/sendpush')) {
        add(figures, 'pushes');
        accepts.note(durationMilliseconds / 1000);
      }
    },
    noteCommit: commits.note,
    noteSend(provider, { outcome, milliseconds }) {
      const figures = minutes.current();
      add(figures, `sends.${provider}.${meteredOutcome(outcome)}`);
      add(figures, `latency.${provider}.answers`);
      add(figures, `latency.${provider}.milliseconds`, milliseconds);
      raise(figures, `latency.${provider}.most`, Math.round(milliseconds));
      providers.get(provider)!.note(milliseconds / 1000);
    },
    noteCallback(result) {
      callbacks.set(result, callbacks.get(result)! + 1);
    },
    noteFill(result) {
      fills.set(result, fills.get(result)! + 1);
    },
    noteFailedJob() {
      add(minutes.current(), 'jobs.failed');
    },
    take: minutes.take,
    readTotals: () => ({
      counts: minutes.totals(),
      calls: calls.values(),
      ...{ accepts, commits, providers, callbacks, fills },
    }),
  };
}

/** Keeps the counts of the current minute and of those that are not stored yet. */
function makeMinuteCounts(clock: Clock) {
  let over: Open[] = [];
  let open: Open = { minute: minuteOf(clock.realNow()), figures: { counts: {}, gauges: {} } };
  let endsAt = open.minute.getTime() + 60_000;
  const ended: MinuteFigures['counts'] = {};

  function current(): MinuteFigures {
    const now = clock.realNow();
    if (now.getTime() < endsAt) return open.figures;
    over = [...over, open].slice(-maxMinutes);
    addCounts(ended, open.figures.counts);
    open = { minute: minuteOf(now), figures: { counts: {}, gauges: {} } };
    endsAt = open.minute.getTime() + 60_000;
    return open.figures;
  }

  return {
    current,
    take(): Open[] {
      current();
      const taken = [...over, open].filter(({ figures }) => Object.keys(figures.counts).length > 0);
      over = [];
      return taken;
    },
    /** Returns the counts since the start. */
    totals(): MinuteFigures['counts'] {
      const { counts: ofMinute } = current();
      const counts = { ...ended };
      addCounts(counts, ofMinute);
      return counts;
    },
  };
}

function addCounts(to: MinuteFigures['counts'], from: MinuteFigures['counts']): void {
  for (const [name, amount] of Object.entries(from) as [CountName, number][]) to[name] = (to[name] ?? 0) + amount;
}

function meteredOutcome(outcome: Outcome): SendOutcome {
  switch (outcome.kind) {
    case 'accepted':
    case 'gone':
    case 'rejected':
    case 'stopped':
      return outcome.kind;
    case 'ambiguous':
      return outcome.ifDevice === 'wait' ? 'waits' : 'rejected';
    case 'wait':
    case 'unreached':
    case 'unknown':
      return 'waits';
    default:
      return unknownCase(outcome);
  }
}

export type ReportMinutesDependencies = {
  database: Database;
  clock: Clock;
  meter: NodeMeter;
  nodeId: string;
  /** True if the node sends; it then also reports the queues. */
  seesQueues: boolean;
};

const dayMilliseconds = 86_400_000;
const sending = ['chunks', 'retries'];

/**
 * The job that stores this node's counts: one row per minute, updated while the minute lasts. The cost does not depend on the
 * send volume.
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

/** Wraps a delivery to count its outcomes and the time that each took. */
export function measureDelivery(delivery: Delivery, { noteSend }: Pick<NodeMeter, 'noteSend'>): Delivery {
  return {
    ...delivery,
    async deliver(request) {
      const startedAt = performance.now();
      const outcome = await delivery.deliver(request);
      noteSend(providerOf(request.device), { outcome, milliseconds: performance.now() - startedAt });
      return outcome;
    },
    async deliverLiveActivity(request) {
      const startedAt = performance.now();
      const outcome = await delivery.deliverLiveActivity(request);
      noteSend('apns', { outcome, milliseconds: performance.now() - startedAt });
      return outcome;
    },
    openBatch(batch) {
      const provider = providerOf(batch.devices[0]!);
      const startedAt = new Float64Array(batch.devices.length);
      const send = delivery.openBatch({
        ...batch,
        onOutcome(index, outcome) {
          noteSend(provider, { outcome, milliseconds: performance.now() - startedAt[index]! });
          batch.onOutcome(index, outcome);
        },
      });
      return (index) => {
        startedAt[index] = performance.now();
        send(index);
      };
    },
  };
}
