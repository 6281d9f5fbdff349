import { makeOutgoingProxy } from '../../engine/outgoing-http/outgoing-proxy.ts';
import type { OutgoingProxy } from '../../engine/outgoing-http/outgoing-proxy.ts';
import { ProxyError } from '../../engine/outgoing-http/proxy-error.ts';
import type { Logger } from '../../log.ts';
import { proxySettingsOf } from '../../start/config.ts';
import type { Config } from '../../start/config.ts';
import { diagnosing } from './diagnosis.ts';
import type { Diagnosis } from './diagnosis.ts';

const proxyCheck = diagnosing('proxy');
const urlCheck = diagnosing('public URL');
const waitMilliseconds = 5_000;
// A host that every installation with phones calls.
const probed = { host: 'fcm.googleapis.com', port: 443, isSecure: true };

/** The way out, by a tunnel that nothing is said through. */
export async function checkProxy(
  config: Config,
  log: Logger,
): Promise<{ proxy: OutgoingProxy | undefined; diagnosis: Diagnosis }> {
  const proxy = makeOutgoingProxy(proxySettingsOf(config), log);
  if (!proxy) return { proxy, diagnosis: proxyCheck.good('None is set: the internet is called directly.') };
  if (!proxy.isFor(probed)) return { proxy, diagnosis: proxyCheck.good('CARILLON_NO_PROXY excepts the providers.') };
  try {
    const socket = await proxy.openTunnel(probed, AbortSignal.timeout(waitMilliseconds));
    socket.destroy();
    return { proxy, diagnosis: proxyCheck.good(`It leads to ${probed.host}.`) };
  } catch (error) {
    const why = error instanceof ProxyError ? error.message : 'the outgoing proxy does not answer';
    const found = `Towards ${probed.host}:${probed.port} ${why}.`;
    return { proxy, diagnosis: proxyCheck.wrong(found, 'See CARILLON_OUTGOING_PROXY, and what the proxy lets pass.') };
  }
}

/** Links in emails and callers' requests go there. */
export async function checkPublicUrl({ publicUrl, mode }: Config): Promise<Diagnosis> {
  if (publicUrl === undefined)
    return mode === 'production'
      ? urlCheck.attention('CARILLON_PUBLIC_URL is not set: links name host and port of a node.', 'Set it.')
      : urlCheck.good('Not set: host and port are used.');
  const todo = 'See the name, the certificate and the proxy before the nodes; another network may still reach it.';
  try {
    const answer = await fetch(`${publicUrl}/livez`, { signal: AbortSignal.timeout(waitMilliseconds) });
    const body = (await answer.json()) as { status?: string };
    if (answer.status !== 200 || body.status !== 'ok')
      return urlCheck.attention(`${publicUrl}/livez answers ${answer.status}, and not as a node does.`, todo);
  } catch (error) {
    const { message, cause } = error as Error & { cause?: { code?: string } };
    return urlCheck.attention(`${publicUrl} cannot be reached from here: ${cause?.code ?? message}.`, todo);
  }
  if (mode === 'production' && publicUrl.startsWith('http:'))
    return urlCheck.attention(`${publicUrl} is not encrypted.`, 'Serve it by https.');
  return urlCheck.good(`A node answers at ${publicUrl}.`);
}
