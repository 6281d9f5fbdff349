import type { Clock } from '../../clock.ts';
import { makeId } from '../../domain/ids.ts';
import type { Logger } from '../../log.ts';
import type { Database } from '../../storage/database.ts';
import { insertApiLogEntries } from '../../storage/installation/api-log.ts';
import type { ApiLogEntry } from '../../storage/installation/api-log.ts';
import { maxLoggedBodyCharacters } from '../../domain/api-log/limits.ts';

/** A finished call, as the edge describes it. Bodies of calls that carry credentials never come here. */
export type RecordedCall = Omit<ApiLogEntry, 'id'>;

export type CallRecorder = {
  /** Returns immediately; the call is stored within half a second. */
  record(call: RecordedCall): void;
  stop(): Promise<void>;
};

const flushMilliseconds = 500;
const batchCalls = 500;
// About 20 MB at most. Beyond it calls are dropped and counted: the log must never slow the answers down.
const maxWaitingCalls = 5_000;

export type RecordCallsDependencies = { database: Database; clock: Clock; log: Logger };

/** Keeps the API log: collects finished calls and stores them in batches, outside the requests. */
export function makeCallRecorder({ database, clock, log }: RecordCallsDependencies): CallRecorder {
  let waiting: RecordedCall[] = [];
  let dropped = 0;
  let flushing = Promise.resolve();

  const flush = async (): Promise<void> => {
    if (dropped > 0) log.warn({ dropped }, 'API log entries dropped');
    dropped = 0;
    while (waiting.length > 0) {
      const batch = waiting.splice(0, batchCalls);
      const now = clock.now();
      try {
        await insertApiLogEntries(
          database,
          batch.map((call) => ({
            ...call,
            id: makeId(now),
            requestBody: call.requestBody?.slice(0, maxLoggedBodyCharacters).replaceAll('\0', '') ?? null,
          })),
        );
      } catch (error) {
        log.warn({ err: error, calls: batch.length }, 'API log entries not stored');
        return;
      }
    }
  };
  const timer = setInterval(() => {
    flushing = flushing.then(flush);
  }, flushMilliseconds);
  timer.unref();

  return {
    record(call) {
      if (waiting.length >= maxWaitingCalls) dropped += 1;
      else waiting.push(call);
    },
    async stop() {
      clearInterval(timer);
      await flushing;
      await flush();
      waiting = [];
    },
  };
}
