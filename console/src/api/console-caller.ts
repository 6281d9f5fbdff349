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
  /** What stands for the `:names` of the path. */
  params?: Record<ParameterOf<Of>, string>;
  /** A member that is undefined is not sent. */
  query?: Record<string, string | undefined>;
  body?: unknown;
  signal?: AbortSignal | undefined;
};

/** How the console's server is called; the session travels in a cookie. Refusals are thrown as CarillonError. */
export function makeConsoleCaller(request: typeof fetch) {
  async function call(path: string, init: RequestInit = {}): Promise<Response> {
    const answer = await request(path, { credentials: 'same-origin', ...init });
    if (!answer.ok) throw await toCarillonError(answer);
    return answer;
  }
  return {
    call,
    /** Asks a route by its name in `ConsoleAnswers`, which says what it answers. */
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

/** The address of a path of the console's API, as a link or a request has it. */
export function addressOf(path: string, query: Record<string, string | undefined> = {}): string {
  const sent = Object.entries(query).filter((member): member is [string, string] => member[1] !== undefined);
  const text = new URLSearchParams(sent).toString();
  return `/console/api/${path}${text === '' ? '' : `?${text}`}`;
}

/** @throws Error for a parameter that was not given */
function fill(path: string, params: Record<string, string> = {}): string {
  return path.replace(/:([A-Za-z]+)/g, (_whole, name: string) => {
    const value = params[name];
    if (value === undefined) throw new Error(`${path} is asked without ${name}`);
    return encodeURIComponent(value);
  });
}

/** Names a row of a workspace. */
export type Key = { workspaceId: string; id: string };
