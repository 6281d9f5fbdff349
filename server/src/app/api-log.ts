import type { Clock } from '../clock.ts';
import { spellAbbreviation } from '../domain/abbreviation.ts';
import { findMade } from '../domain/access/api-log.ts';
import { sourceOfAddress } from '../domain/access/rate-limits.ts';
import { errorAdvice, errorRegistry, ServiceError } from '../domain/errors.ts';
import type { ErrorName } from '../domain/errors.ts';
import { makeId } from '../domain/ids.ts';
import { maxLoggedBodyCharacters, unprovenCallsPerMinute } from '../domain/limits/api-log.ts';
import { toStorable } from '../domain/storable-text.ts';
import type { Logger } from '../log.ts';
import { isRefusedValue } from '../storage/database.ts';
import type { Database } from '../storage/database.ts';
import { insertApiLogEntries, findCall, findCallBehind, listCalls } from '../storage/installation/api-log.ts';
import type { ApiLogEntry, ApiLogFilters, ListedCall, LogPlace } from '../storage/installation/api-log.ts';
import { makeLimitBursts } from './limits.ts';
import { requireWorkspace } from './workspaces.ts';

/** A finished call, as the edge describes it. Bodies of calls that carry credentials never come here. */
export type RecordedCall = Omit<ApiLogEntry, 'id'>;

export type CallRecorder = {
  /**
   * Returns immediately; the call is stored within half a second. Calls without a key are limited by the address they came
   * from.
   */
  record(call: RecordedCall, from: { address: string }): void;
  /** Settles once every call recorded so far is stored. */
  settle(): Promise<void>;
  stop(): Promise<void>;
};

const flushMilliseconds = 500;
// So many are stored at once, and no sooner than the half second when fewer wait: a batch of hundreds holds up for 20 to 50 ms who
// is answered beside it (measured at 1,900 calls a second).
const batchCalls = 100;
// About 20 MB at most. Beyond it calls are dropped and counted: the log must never slow the answers down.
const maxWaitingCalls = 5_000;

export type RecordCallsDependencies = { database: Database; clock: Clock; log: Logger };

/** Keeps the API log: collects finished calls and stores them in batches, outside the requests. */
export function makeCallRecorder({ database, clock, log }: RecordCallsDependencies): CallRecorder {
  let waiting: RecordedCall[] = [];
  let dropped = 0;
  let unproven = 0;
  let reportUnprovenAt = 0;
  const limitUnproven = makeLimitBursts({ events: unprovenCallsPerMinute, seconds: 60 }, { clock });
  let flushing = Promise.resolve();
  let isFull = false;

  const flush = async (): Promise<void> => {
    if (dropped > 0) log.warn({ dropped }, 'API log entries dropped');
    [dropped, isFull] = [0, false];
    reportUnproven();
    while (waiting.length > 0) {
      const now = clock.now();
      await store(waiting.splice(0, batchCalls).map((call) => toEntry(call, makeId(now))));
    }
  };
  /** At most one line a minute: a flood must not fill the log of the process either. */
  const reportUnproven = (): void => {
    const now = clock.now().getTime();
    if (unproven === 0 || now < reportUnprovenAt) return;
    log.warn({ dropped: unproven }, 'API log entries without a key dropped');
    [unproven, reportUnprovenAt] = [0, now + 60_000];
  };
  /** A batch that is refused for one of its calls is stored call by call: the others are not to blame. */
  const store = async (entries: ApiLogEntry[]): Promise<void> => {
    try {
      return await insertApiLogEntries(database, entries);
    } catch (error) {
      if (!isRefusedValue(error)) return log.warn({ err: error, calls: entries.length }, 'API log entries not stored');
      if (entries.length === 1) return log.warn({ err: error, route: entries[0]!.route }, 'API log entry not stored');
    }
    for (const entry of entries) await store([entry]);
  };
  const timer = setInterval(() => {
    flushing = flushing.then(flush);
  }, flushMilliseconds);
  timer.unref();

  return {
    record(call, { address }) {
      if (call.keyId === null && limitUnproven(sourceOfAddress(address))) {
        unproven += 1;
        return;
      }
      if (waiting.length >= maxWaitingCalls) dropped += 1;
      else waiting.push(call);
      if (isFull || waiting.length < batchCalls) return;
      isFull = true;
      flushing = flushing.then(flush);
    },
    settle() {
      flushing = flushing.then(flush);
      return flushing;
    },
    async stop() {
      clearInterval(timer);
      await flushing;
      await flush();
      waiting = [];
    },
  };
}

/** What callers wrote may hold anything; the log keeps the beginning of each body. */
function toEntry(call: RecordedCall, id: string): ApiLogEntry {
  const requestBody = call.requestBody?.slice(0, maxLoggedBodyCharacters) ?? null;
  const responseBody = call.responseBody?.slice(0, maxLoggedBodyCharacters) ?? null;
  return { id, ...toStorable({ ...call, requestBody, responseBody }) };
}

export type CallQuery = {
  workspaceId: string;
  /** Calls that named no workspace we know: a wrong id or key. */
  ofNobody: boolean;
} & Omit<ApiLogFilters, 'workspaceId'>;

const perPage = 50;
// Of a filter that no index knows, as many calls are looked at for a page: a tenth of a second at most.
const maxSearched = 20_000;

export type ConsoleCallDependencies = {
  database: Database;
  /** Where the calls of nobody are: they are in no workspace. */
  acrossWorkspaces: Database;
  headerPrefix: string;
};

export type ConsoleCalls = ReturnType<typeof makeConsoleCalls>;

/** The API log as the console reads it: what callers sent, and why it was refused. */
export function makeConsoleCalls({ database, acrossWorkspaces, headerPrefix }: ConsoleCallDependencies) {
  return {
    /** Newest first. @throws ServiceError NOT_FOUND */
    async list({ workspaceId, ofNobody, ...asked }: CallQuery): Promise<CallPage> {
      await requireWorkspace(database, workspaceId);
      const tx = ofNobody ? acrossWorkspaces : database;
      const filters = { ...asked, workspaceId: ofNobody ? undefined : workspaceId };
      const isSearch = [asked.keyId, asked.statusClass, asked.path, asked.text].some((one) => one !== undefined);
      const until = isSearch ? await findCallBehind(tx, { ...filters, calls: maxSearched - 1 }) : undefined;
      const found = await listCalls(tx, { ...filters, until, limit: perPage + 1 });
      const shown = found.slice(0, perPage);
      const next = found.length > perPage ? shown.at(-1)! : until;
      return {
        calls: shown.map((call) => explain(call, headerPrefix)),
        next: next && { receivedAt: next.receivedAt, id: next.id },
        // The page is not full, and yet there may be more: older ones were not looked at.
        searchedUntil: found.length <= perPage && until ? until.receivedAt : null,
      };
    },

    /** With its body, as far as it is kept. @throws ServiceError NOT_FOUND */
    async read(key: { workspaceId: string; id: string }) {
      const call = (await findCall(database, key)) ?? (await findCall(acrossWorkspaces, key));
      if (!call) throw new ServiceError('NOT_FOUND');
      const { headers, ...told } = call;
      return { ...explain(told, headerPrefix), ...readHeaders(headers), made: findMade(call) };
    },
  };
}

type ExplainedCall = ReturnType<typeof explain<ListedCall>>;

export type CallPage = {
  calls: ExplainedCall[];
  /** Where the next page begins. */
  next: LogPlace | undefined;
  searchedUntil: Date | null;
};

/** Calls of before the headers were kept have none. */
function readHeaders(text: string | null): Record<'requestHeaders' | 'responseHeaders', Record<string, string> | null> {
  if (text === null) return { requestHeaders: null, responseHeaders: null };
  const { request, response } = JSON.parse(text) as Record<'request' | 'response', Record<string, string>>;
  return { requestHeaders: request, responseHeaders: response };
}

/** The name of an error is not enough: its public text, the private detail and the advice say what to change. */
function explain<Call extends ListedCall>(call: Call, headerPrefix: string) {
  const { errorName } = call;
  const name = errorName !== null && Object.hasOwn(errorRegistry, errorName) ? (errorName as ErrorName) : null;
  return {
    ...call,
    errorText: name && errorRegistry[name],
    advice: name && spellAbbreviation(errorAdvice[name], headerPrefix),
  };
}
