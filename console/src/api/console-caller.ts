import { toCarillonError } from '@carillon/client';
import type { ConsoleAnswers } from './generated/routes.ts';

export type ConsoleCaller = ReturnType<typeof makeConsoleCaller>;

type Route = keyof ConsoleAnswers;
type ParameterOf<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParameterOf<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

export type Question<Of extends Route> = {
  /** Values for the `:names` of the path. */
  params?: Record<ParameterOf<Of>, string>;
  /** Undefined members are not sent. */
  query?: Record<string, string | undefined>;
  body?: unknown;
  signal?: AbortSignal | undefined;
};

/**
 * Makes the functions that call the console's server. A cookie carries the session. Errors are thrown as CarillonError.
 */
export function makeConsoleCaller(request: typeof fetch) {
  async function call(path: string, init: RequestInit = {}): Promise<Response> {
    const answer = await request(path, { credentials: 'same-origin', ...init });
    if (!answer.ok) throw await toCarillonError(answer);
    return answer;
  }
  return {
    call,
    /** Calls a route by its name in `ConsoleAnswers`, which gives the type of the response. */
    async ask<Of extends Route>(route: Of, { params, query, body, signal }: Question<Of> = {}) {
      const [method, path] = route.split(' ') as [string, string];
      const json =
        body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
      const answer = await call(addressOf(fill(path, params), query), {
        method,
        ...json,
        ...(signal === undefined ? {} : { signal }),
      });
      return (answer.status === 204 ? undefined : await answer.json()) as ConsoleAnswers[Of];
    },
  };
}

/** Returns the address of a path of the console's API, for a request or a link. */
export function addressOf(path: string, query: Record<string, string | undefined> = {}): string {
  const sent = Object.entries(query).filter((member): member is [string, string] => member[1] !== undefined);
  const text = new URLSearchParams(sent).toString();
  return `/console/api/${path}${text === '' ? '' : `?${text}`}`;
}

/** @throws Error if a parameter is missing */
function fill(path: string, params: Record<string, string> = {}): string {
  return path.replace(/:([A-Za-z]+)/g, (_whole, name: string) => {
    const value = params[name];
    if (value === undefined) throw new Error(`${path} is asked without ${name}`);
    return encodeURIComponent(value);
  });
}

/** Identifies a row of a workspace. */
export type Key = { workspaceId: string; id: string };
