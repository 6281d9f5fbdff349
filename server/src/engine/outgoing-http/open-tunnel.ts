import { once } from 'node:events';
import { connect as connectTcp, isIP } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { ProxyError } from './proxy-error.ts';
import type { ProxySettings } from './proxy-settings.ts';

export type TunnelTarget = {
  host: string;
  port: number;
  /** TLS follows inside, where the caller speaks first: bytes that come before are not the target's. */
  isSecure: boolean;
};

const maxHeadBytes = 16 * 1024;
// Proxies and what stands between forget connections that carry nothing for minutes.
const keepAliveMilliseconds = 30_000;

/**
 * Asks a proxy for a tunnel (RFC 9110 §9.3.6) and gives the connection once it leads to the target.
 *
 * @param signal ends the wait for everything: the connection, TLS with the proxy, its answer
 * @throws ProxyError
 */
export async function openTunnel(
  proxy: ProxySettings,
  { signal, ...target }: TunnelTarget & { signal: AbortSignal },
): Promise<Socket> {
  let socket: Socket | undefined;
  try {
    socket = connectToProxy(proxy);
    // Between two waits nobody else listens, and an error without a listener would end the process.
    socket.on('error', ignore);
    await once(socket, proxy.isSecure ? 'secureConnect' : 'connect', { signal });
    socket.write(connectRequest(proxy, target));
    const { status, early } = await readHead(socket, signal);
    // tinyproxy says 401 of a wrong password; nobody else can, before there is a tunnel.
    if (status === 407 || status === 401)
      throw new ProxyError('PROXY_AUTH', `does not take its credentials (${status})`);
    if (status < 200 || status > 299) throw new ProxyError('PROXY_REFUSED', `refused (${status})`);
    if (early.length > 0 && target.isSecure) throw new ProxyError('PROXY_REFUSED', 'sent what nobody asked for');
    if (early.length > 0) socket.unshift(early);
    return socket;
  } catch (error) {
    socket?.destroy();
    if (error instanceof ProxyError) throw error;
    if (signal.aborted) throw new ProxyError('PROXY_UNREACHABLE', 'did not answer in time');
    const { code } = error as NodeJS.ErrnoException;
    throw new ProxyError('PROXY_UNREACHABLE', `could not be reached${code === undefined ? '' : ` (${code})`}`);
  }
}

function connectToProxy({ host, port, isSecure }: ProxySettings): Socket {
  const to = { host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: keepAliveMilliseconds };
  if (!isSecure) return connectTcp(to);
  // An address has no server name (RFC 6066 §3); its certificate is compared with the address itself.
  return connectTls({ ...to, servername: isIP(host) ? '' : host, ALPNProtocols: ['http/1.1'] });
}

function connectRequest({ authorization }: ProxySettings, { host, port }: { host: string; port: number }): string {
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const lines = [`CONNECT ${authority} HTTP/1.1`, `Host: ${authority}`];
  if (authorization !== undefined) lines.push(`Proxy-Authorization: ${authorization}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** Reads to the end of the answer's head and no further than what came with it. */
function readHead(socket: Socket, signal: AbortSignal): Promise<{ status: number; early: Buffer }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; early: Buffer }>();
  let read = Buffer.alloc(0);
  const onReadable = (): void => {
    for (let piece = socket.read() as Buffer | null; piece !== null; piece = socket.read() as Buffer | null)
      read = Buffer.concat([read, piece]);
    const end = read.indexOf('\r\n\r\n');
    if (end > maxHeadBytes || (end === -1 && read.length > maxHeadBytes))
      return reject(new ProxyError('PROXY_REFUSED', `answered with a head of over ${maxHeadBytes} bytes`));
    if (end === -1) return;
    const status = /^HTTP\/1\.[01] (\d{3})(?: |\r|$)/.exec(read.toString('latin1', 0, end))?.[1];
    if (status === undefined) return reject(new ProxyError('PROXY_REFUSED', 'did not answer by HTTP'));
    resolve({ status: Number(status), early: read.subarray(end + 4) });
  };
  const onEnd = (): void => reject(new ProxyError('PROXY_UNREACHABLE', 'ended the connection before it answered'));
  const onAbort = (): void => reject(signal.reason);
  socket.on('readable', onReadable).on('end', onEnd).on('close', onEnd).on('error', reject);
  signal.addEventListener('abort', onAbort, { once: true });
  return promise.finally(() => {
    socket.off('readable', onReadable).off('end', onEnd).off('close', onEnd).off('error', reject);
    signal.removeEventListener('abort', onAbort);
  });
}

function ignore(): void {}
