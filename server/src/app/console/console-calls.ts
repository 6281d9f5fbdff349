import { spellAbbreviation } from '../../domain/abbreviation.ts';
import { errorAdvice } from '../../domain/error-advice.ts';
import { errorRegistry, ServiceError } from '../../domain/errors.ts';
import type { ErrorName } from '../../domain/errors.ts';
import type { Database } from '../../storage/database.ts';
import { findCall, listCalls } from '../../storage/installation/api-log.ts';
import type { ApiLogFilters, ListedCall } from '../../storage/installation/api-log.ts';
import { requireWorkspace } from '../workspaces/require-workspace.ts';

export type CallQuery = {
  workspaceId: string;
  /** Calls that named no workspace we know: a wrong id or key. */
  ofNobody: boolean;
} & Pick<ApiLogFilters, 'isRefused' | 'keyId' | 'after'>;

const perPage = 50;

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
    async list({ workspaceId, ofNobody, ...filters }: CallQuery) {
      await requireWorkspace(database, workspaceId);
      const page = { ...filters, limit: perPage + 1 };
      const found = ofNobody
        ? await listCalls(acrossWorkspaces, { ...page, workspaceId: undefined })
        : await listCalls(database, { ...page, workspaceId });
      return {
        calls: found.slice(0, perPage).map((call) => explain(call, headerPrefix)),
        hasMore: found.length > perPage,
      };
    },

    /** With its body, as far as it is kept. @throws ServiceError NOT_FOUND */
    async read(key: { workspaceId: string; id: string }) {
      const call = (await findCall(database, key)) ?? (await findCall(acrossWorkspaces, key));
      if (!call) throw new ServiceError('NOT_FOUND');
      return explain(call, headerPrefix);
    },
  };
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
