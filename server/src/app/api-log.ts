import type { Clock } from '../clock.ts';
import { spellAbbreviation } from '../domain/abbreviation.ts';
import { isPermitted } from '../domain/access/accounts.ts';
import { findMade } from '../domain/access/api-log.ts';
import { sourceOfAddress } from '../domain/access/rate-limits.ts';
import { errorRegistry, ServiceError } from '../domain/errors.ts';
import type { ErrorName } from '../domain/errors.ts';
import { makeId } from '../domain/ids.ts';
import { maxLoggedBodyCharacters, unprovenCallsPerMinute } from '../domain/limits/retention.ts';
import { toStorable } from '../domain/storable-text.ts';
import type { Logger } from '../log.ts';
import { isRefusedValue } from '../storage/database.ts';
import type { Database } from '../storage/database.ts';
import { insertApiLogEntries, findCall, findCallBehind, listCalls } from '../storage/installation/api-log.ts';
import type { ApiLogEntry, ApiLogFilters, ListedCall, LogPlace } from '../storage/installation/api-log.ts';
import type { SignedIn } from './accounts/audit.ts';
import { makeLimitBursts } from './limits.ts';
import { requireWorkspace } from './workspaces.ts';

/** A finished call, as described by the edge. Bodies of calls that carry credentials are never included. */
export type RecordedCall = Omit<ApiLogEntry, 'id'>;

export type CallRecorder = {
  /** Returns immediately; the call is stored within half a second. Calls without a key are limited per source address. */
  record(call: RecordedCall, from: { address: string }): void;
  /** Settles once every call recorded so far is stored. */
  settle(): Promise<void>;
  stop(): Promise<void>;
};

const flushMilliseconds = 500;
// The size of a batch. Fewer calls are stored when the half second ends. A batch of hundreds delays concurrent requests by 20 to 50 ms (measured
// at 1,900 calls a second).
const batchCalls = 100;
// About 20 MB at most. Further calls are dropped and counted, because the log must never slow down responses.
const maxWaitingCalls = 5_000;

export type RecordCallsDependencies = { database: Database; clock: Clock; log: Logger };

/** Records the API log: collects finished calls and stores them in batches, outside the requests. */
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
  /** Logs at most one line a minute, so that a flood of calls does not fill the process log. */
  const reportUnproven = (): void => {
    const now = clock.now().getTime();
    if (unproven === 0 || now < reportUnprovenAt) return;
    log.warn({ dropped: unproven }, 'API log entries without a key dropped');
    [unproven, reportUnprovenAt] = [0, now + 60_000];
  };
  /** Stores a batch. If the database rejects a value of one call, the calls are stored one by one to keep the others. */
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

/** Makes the callers' text storable, because it may contain anything. Only the beginning of each body is kept. */
function toEntry(call: RecordedCall, id: string): ApiLogEntry {
  const requestBody = call.requestBody?.slice(0, maxLoggedBodyCharacters) ?? null;
  const responseBody = call.responseBody?.slice(0, maxLoggedBodyCharacters) ?? null;
  return { id, ...toStorable({ ...call, requestBody, responseBody }) };
}

export type CallQuery = {
  workspaceId: string;
  reader: SignedIn;
  /** True for calls without a known workspace, whose id or key was wrong. */
  ofNobody: boolean;
} & Omit<ApiLogFilters, 'workspaceId'>;

const perPage = 50;
// Calls examined for a page if no index supports the filter: a tenth of a second at most.
const maxSearched = 20_000;

export type ConsoleCallDependencies = {
  database: Database;
  /** Reads the calls that belong to no workspace. */
  acrossWorkspaces: Database;
  headerPrefix: string;
};

export type ConsoleCalls = ReturnType<typeof makeConsoleCalls>;

/** Reads the API log for the console: the requests, and the reasons of rejections. */
export function makeConsoleCalls({ database, acrossWorkspaces, headerPrefix }: ConsoleCallDependencies) {
  return {
    /**
     * Newest first. Calls of no workspace may come from the callers of any, so they are only for users with a role in the
     * installation.
     *
     * @throws ServiceError NOT_FOUND, ACCOUNT_NOT_PERMITTED
     */
    async list({ workspaceId, ofNobody, reader, ...asked }: CallQuery): Promise<CallPage> {
      if (ofNobody && !mayReadAll(reader)) throw new ServiceError('ACCOUNT_NOT_PERMITTED');
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
        // The page is not full, but older calls were not examined, so there may be more.
        searchedUntil: found.length <= perPage && until ? until.receivedAt : null,
      };
    },

    /** Includes the bodies, as far as they are kept. @throws ServiceError NOT_FOUND */
    async read({ reader, ...key }: { workspaceId: string; id: string; reader: SignedIn }) {
      const scope = mayReadAll(reader) ? 'installation' : 'workspace';
      const call = await findCall(scope === 'installation' ? acrossWorkspaces : database, { ...key, scope });
      if (!call) throw new ServiceError('NOT_FOUND');
      const { headers, ...rest } = call;
      return { ...explain(rest, headerPrefix), ...readHeaders(headers), made: findMade(call) };
    },
  };
}

function mayReadAll({ access }: SignedIn): boolean {
  return isPermitted(access, { permission: 'log.read', workspaceId: undefined });
}

type ExplainedCall = ReturnType<typeof explain<ListedCall>>;

export type CallPage = {
  calls: ExplainedCall[];
  /** Start of the next page. */
  next: LogPlace | undefined;
  searchedUntil: Date | null;
};

/** Returns null for calls of earlier versions, which did not store headers. */
function readHeaders(text: string | null): Record<'requestHeaders' | 'responseHeaders', Record<string, string> | null> {
  if (text === null) return { requestHeaders: null, responseHeaders: null };
  const { request, response } = JSON.parse(text) as Record<'request' | 'response', Record<string, string>>;
  return { requestHeaders: request, responseHeaders: response };
}

/** Adds the public text and the advice of the error, which explain what to change. */
function explain<Call extends ListedCall>(call: Call, headerPrefix: string) {
  const { errorName } = call;
  const name = errorName !== null && Object.hasOwn(errorRegistry, errorName) ? (errorName as ErrorName) : null;
  return {
    ...call,
    errorText: name && errorRegistry[name].text,
    advice: name && spellAbbreviation(errorRegistry[name].advice, headerPrefix),
  };
}
