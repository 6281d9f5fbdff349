import { once } from 'node:events';
import { connect as connectTcp, isIP } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import ipaddr from 'ipaddr.js';
import type { ProxyState } from '../domain/operations/readiness.ts';
import type { Logger } from '../log.ts';

/** The outgoing proxy of a node that may not call the internet directly. One proxy serves all calls. */
export type OutgoingProxy = Pick<ProxySettings, 'resolvesNames' | 'hosts'> & {
  /** True if a host is called through the proxy: it is neither this machine nor excluded by the settings. */
  isFor(target: { host: string; port: number }): boolean;
  /** @throws ProxyError */
  openTunnel(target: TunnelTarget, signal: AbortSignal): Promise<Socket>;
  state(): ProxyState;
};

// The proxy may accept one host and refuse another alternately, thousands of times.
const quietMilliseconds = 60_000;

/** @param settings undefined if the internet is called directly */
export function makeOutgoingProxy(settings: ProxySettings | undefined, log: Logger): OutgoingProxy | undefined {
  if (settings === undefined) return undefined;
  let state: ProxyState = 'UNUSED';
  let loggedAt = -quietMilliseconds;

  function note(next: ProxyState, error?: ProxyError): void {
    const isNews = next !== state && performance.now() - loggedAt >= quietMilliseconds;
    state = next;
    if (!isNews || !error) return;
    loggedAt = performance.now();
    // The error's message only, not its cause, which may name an address.
    log.warn({ code: error.code, detail: error.message }, 'the outgoing proxy failed');
  }

  return {
    resolvesNames: settings.resolvesNames,
    hosts: settings.hosts,
    isFor: (target) => !isLoopback(target.host) && !isBypassed(settings.bypass, target),
    async openTunnel(target, signal) {
      try {
        const socket = await openTunnel(settings, { ...target, signal });
        note('OK');
        return socket;
      } catch (error) {
        if (error instanceof ProxyError) note(error.code, error);
        throw error;
      }
    },
    state: () => state,
  };
}

type TunnelTarget = {
  host: string;
  port: number;
  /** TLS follows inside the tunnel and the caller speaks first, so early bytes do not come from the target. */
  isSecure: boolean;
};

const maxHeadBytes = 16 * 1024;
// Proxies and intermediaries drop connections that are idle for minutes.
const keepAliveMilliseconds = 30_000;

/**
 * Asks a proxy for a tunnel (RFC 9110 §9.3.6) and returns the connection once it reaches the target.
 *
 * @param signal limits the whole wait: the connection, TLS with the proxy, its response
 * @throws ProxyError
 */
export async function openTunnel(
  proxy: ProxySettings,
  { signal, ...target }: TunnelTarget & { signal: AbortSignal },
): Promise<Socket> {
  let socket: Socket | undefined;
  try {
    socket = connectToProxy(proxy);
    // Between two waits there is no other listener, and an error without a listener would end the process.
    socket.on('error', ignore);
    await once(socket, proxy.isSecure ? 'secureConnect' : 'connect', { signal });
    socket.write(connectRequest(proxy, target));
    const { status, early } = await readHead(socket, signal);
    // tinyproxy responds with 401 to a wrong password. Before there is a tunnel, only the proxy can send a 401.
    if (status === 407 || status === 401)
      throw new ProxyError('PROXY_AUTH', `does not take its credentials (${status})`);
    if (status < 200 || status > 299) throw new ProxyError('PROXY_REFUSED', `refused (${status})`);
    if (early.length > 0 && target.isSecure) throw new ProxyError('PROXY_REFUSED', 'sent data before the request');
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

/** Reads to the end of the response's head, and no further than what arrived with it. */
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

/** The configured proxy for this node's outgoing calls. */
export type ProxySettings = {
  host: string;
  port: number;
  /** True if the connection to the proxy itself uses TLS. */
  isSecure: boolean;
  /** `Basic …`; a secret. */
  authorization: string | undefined;
  bypass: readonly BypassRule[];
  /** Only the proxy can resolve names, so host names are checked instead of addresses. */
  resolvesNames: boolean;
  /** Hosts that users may name in that case, in addition to the push services. */
  hosts: readonly string[];
};

export type BypassRule = { host: string; port: number | undefined };

/** The proxy's address is invalid. The message describes the format, never the value. */
export class ProxySettingsError extends Error {
  override readonly name = 'ProxySettingsError';
}

export type GivenProxy = {
  url: string;
  noProxy: readonly string[];
  resolvesNames: boolean;
  hosts: readonly string[];
};

/** @throws ProxySettingsError */
export function parseProxySettings({ url: text, noProxy, resolvesNames, hosts }: GivenProxy): ProxySettings {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isOrigin = url && /^https?:$/.test(url.protocol) && url.pathname === '/' && url.search + url.hash === '';
  if (!isOrigin) throw new ProxySettingsError('http://[user:password@]host:port or the same with https');
  const isSecure = url.protocol === 'https:';
  return {
    host: unbracket(url.hostname),
    port: Number(url.port || (isSecure ? 443 : 80)),
    isSecure,
    authorization: url.username === '' && url.password === '' ? undefined : toBasic(url),
    bypass: noProxy.flatMap((item) => item.split(/\s+/)).flatMap((item) => (item === '' ? [] : [parseRule(item)])),
    resolvesNames,
    hosts: hosts.map((host) => host.toLowerCase()),
  };
}

function toBasic({ username, password }: URL): string {
  let user: string;
  let secret: string;
  try {
    [user, secret] = [decodeURIComponent(username), decodeURIComponent(password)];
  } catch {
    throw new ProxySettingsError(
      'user and password in which every character except letters and digits is written as %XX',
    );
  }
  // The first colon ends the user name (RFC 7617 §2).
  if (user.includes(':')) throw new ProxySettingsError('a user without a colon');
  return `Basic ${Buffer.from(`${user}:${secret}`).toString('base64')}`;
}

/** Parses `example.com`, `.example.com`, `*.example.com`, each with or without a port; `*`; or an address. */
function parseRule(item: string): BypassRule {
  const [, bracketed, named, port] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(item) ?? [];
  // Colons without brackets are an IPv6 address; its last group is not a port.
  const host = (bracketed ?? named ?? item).toLowerCase().replace(/^\*?\./, '');
  return { host, port: port === undefined ? undefined : Number(port) };
}

/** True if a host is called without the proxy: it equals the host of a rule, or is below it. */
export function isBypassed(rules: readonly BypassRule[], { host, port }: { host: string; port: number }): boolean {
  const name = host.toLowerCase().replace(/\.$/, '');
  return rules.some((rule) => {
    if (rule.port !== undefined && rule.port !== port) return false;
    return rule.host === '*' || name === rule.host || (isIP(name) === 0 && name.endsWith(`.${rule.host}`));
  });
}

export function unbracket(host: string): string {
  return host.replace(/^\[|\]$/g, '');
}

/** A fault of the proxy, or of its response. */
type ProxyFault = Exclude<ProxyState, 'UNUSED' | 'OK'>;

/** No tunnel was opened, so nothing was sent to the target. Neither message nor code contains credentials. */
export class ProxyError extends Error {
  override readonly name = 'ProxyError';
  readonly code: ProxyFault;

  constructor(code: ProxyFault, detail: string) {
    super(`the outgoing proxy ${detail}`);
    this.code = code;
  }
}

/** True if a host is this machine, judged only by its name or address. */
export function isLoopback(host: string): boolean {
  if (/(?:^|\.)localhost\.?$/i.test(host)) return true;
  return ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback';
}
