import { toCarillonError } from './carillon-error.ts';

export type ConsoleCaller = ReturnType<typeof makeConsoleCaller>;

/** How the console's server is called; the session travels in a cookie. Refusals are thrown as CarillonError. */
export function makeConsoleCaller(request: typeof fetch) {
  async function call(path: string, init: RequestInit = {}): Promise<Response> {
    const answer = await request(`/console/api/${path}`, { credentials: 'same-origin', ...init });
    if (!answer.ok) throw await toCarillonError(answer);
    return answer;
  }
  return {
    call,
    async read<Answer>(path: string, query: Record<string, string>): Promise<Answer> {
      return (await (await call(`${path}?${new URLSearchParams(query)}`)).json()) as Answer;
    },
    /** Sends a body and reads what is answered; undefined when nothing is. */
    async send<Answer>(
      method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
      ...[path, body, signal]: [path: string, body?: unknown, signal?: AbortSignal]
    ): Promise<Answer> {
      const json =
        body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
      const answer = await call(path, { method, ...json, ...(signal === undefined ? {} : { signal }) });
      return (answer.status === 204 ? undefined : await answer.json()) as Answer;
    },
  };
}
