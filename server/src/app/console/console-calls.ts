import { spellAbbreviation } from '../../domain/abbreviation.ts';
import { errorAdvice } from '../../domain/error-advice.ts';
import { errorRegistry, ServiceError } from '../../domain/errors.ts';
import type { ErrorName } from '../../domain/errors.ts';
import type { Database } from '../../storage/database.ts';
import { findMade } from '../../domain/api-log/find-made.ts';
import { findCall, findCallBehind, listCalls } from '../../storage/installation/api-log.ts';
import type { ApiLogFilters, ListedCall, LogPlace } from '../../storage/installation/api-log.ts';
import { requireWorkspace } from '../workspaces/require-workspace.ts';

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
