import { makeConsoleClient } from '../../../console/src/api/console-client.ts';
import type { ConsoleClient } from '../../../console/src/api/console-client.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';

/** The console's own client with a session of its own, as a browser with the session's cookie would call. */
export async function openSignedInClient(bundle: CarillonBundle): Promise<{ client: ConsoleClient; cookie: string }> {
  const code = (await bundle.carillon.createConsoleLink()).split('#sign-in=')[1]!;
  const answer = await bundle.call('POST', '/console/api/session', { body: { code } });
  const cookie = answer.headers.get('set-cookie')!.split(';')[0]!;
  const client = makeConsoleClient({
    fetch: (path, init) => fetch(`${bundle.url}${path as string}`, { ...init, headers: { ...init?.headers, cookie } }),
  });
  return { client, cookie };
}
