import type { CarillonBundle } from '../carillon-bundle.ts';

/** The secret that signs the demo's callbacks, as the console shows it. A reset makes another one. */
export async function readWebhookSecret(bundle: CarillonBundle): Promise<string> {
  const code = (await bundle.carillon.createConsoleLink()).split('#sign-in=')[1];
  const session = await bundle.call('POST', '/console/api/session', { body: { code } });
  const cookie = session.headers.getSetCookie().map((line) => line.split(';')[0]!);
  const path = `/console/api/webhook-secret?workspaceId=${bundle.workspaceId}`;
  return (await bundle.call('GET', path, { headers: { cookie: cookie.join('; ') } })).json().secret;
}
