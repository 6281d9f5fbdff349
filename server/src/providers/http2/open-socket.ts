import { connect as connectTcp, isIP } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls, TLSSocket } from 'node:tls';
import { before, findRoute } from '../../outgoing/guard.ts';
import { unbracket } from '../../outgoing/proxy.ts';
import type { OutgoingProxy } from '../../outgoing/proxy.ts';

export type Http2Target = {
  /** Names the pool: requests of one credential share sessions, which other requests never use. */
  key: string;
  /** Scheme, host and port as the provider knows it; becomes `:authority`. */
  origin: string;
  /** Where to connect instead, for the sandbox: a loopback origin. */
  connectTo?: string;
  /** The protocol over TLS if the server does not negotiate HTTP/2 (RFC 7301). Without it, such a server is not used. */
  fallback?: 'http/1.1' | undefined;
  /** True if a third party chose the host: every address it resolves to must be allowed (decision D29). */
  isGuarded: boolean;
};

export type OpenSocketOptions = {
  allowedNetworks: readonly string[];
  /** Used for every target except those on this machine and the exceptions in its settings. */
  proxy: OutgoingProxy | undefined;
  /** Limit for name resolution and the proxy's response together. */
  connectMilliseconds: number;
  /**
   * Called with received bytes, which are valid until it returns. Without it the socket is read like any other, which is
   * required if the server may choose HTTP/1.1.
   */
  onBytes?: (bytes: Buffer) => void;
};

const readBytes = 64 * 1024;

/**
 * Starts a connection to a target, which must speak HTTP/2 unless it has a fallback.
 *
 * @throws AddressBlockedError, ProxyError, the resolver's error, or a time-out after `connectMilliseconds`
 */
export async function openSocket(target: Http2Target, options: OpenSocketOptions): Promise<Socket> {
  const url = new URL(target.connectTo ?? target.origin);
  const host = unbracket(url.hostname);
  const isSecure = url.protocol === 'https:';
  const port = Number(url.port || (isSecure ? 443 : 80));
  const wanted = { host, port, isGuarded: target.isGuarded };
  const route = await inTime(options, async (limit) => {
    const found = await before(limit, findRoute(wanted, options));
    return { ...found, tunnel: await found.proxy?.openTunnel({ host: found.host, port, isSecure }, limit) };
  });
  const { tunnel } = route;
  // An IP address has no server name (RFC 6066 §3); its certificate is compared with the address itself.
  const tls = {
    servername: isIP(host) ? '' : host,
    ALPNProtocols: ['h2', ...(target.fallback ? [target.fallback] : [])],
  };
  const negotiate = target.fallback ? (socket: TLSSocket) => socket : requireHttp2;
  if (tunnel) {
    const socket = isSecure ? negotiate(connectTls({ ...tls, socket: tunnel, host })) : tunnel;
    // Only a connection that Node opens itself can read into our buffer.
    if (options.onBytes) socket.on('data', options.onBytes);
    return socket;
  }
  // Connecting to the checked address, under the host's own name for TLS, leaves no second resolution to attack.
  const to = { host: route.host, port, ...(options.onBytes && { onread: readInto(options.onBytes) }) };
  const socket = isSecure ? negotiate(connectTls({ ...to, ...tls })) : connectTcp(to);
  // Small requests must not wait for the acknowledgement of the last packet (RFC 896), least of all over TLS: measured, a fifth
  // of the rate.
  socket.setNoDelay(true);
  return socket;
}

function requireHttp2(socket: TLSSocket): TLSSocket {
  return socket.once('secureConnect', () => {
    if (socket.alpnProtocol !== 'h2') socket.destroy(new Error('the server does not speak HTTP/2'));
  });
}

/** @throws the connection's error */
export async function untilConnected(socket: Socket): Promise<void> {
  // A tunnel without TLS inside is already connected.
  if (!(socket instanceof TLSSocket) && !socket.connecting && !socket.destroyed) return;
  await new Promise<void>((resolve, reject) => {
    socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', () => {
      if (!socket.destroyed) resolve();
    });
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('the connection was closed')));
  });
}

/** True if the server of a connected socket did not choose HTTP/2. Without TLS, the server is known to speak HTTP/2. */
export function speaksHttp1(socket: Socket): boolean {
  return socket instanceof TLSSocket && socket.alpnProtocol !== 'h2';
}

/** Runs work with a time limit. Leaves no timer behind, while a time-out signal of Node would run until its time is over. */
async function inTime<T>(
  { connectMilliseconds }: { connectMilliseconds: number },
  work: (limit: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new Error('no connection in time')), connectMilliseconds);
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
  }
}

/** Returns one buffer for all reads of a connection: received bytes are processed before more is read. */
function readInto(onBytes: (bytes: Buffer) => void) {
  const buffer = Buffer.allocUnsafeSlow(readBytes);
  return {
    buffer,
    callback(bytes: number): boolean {
      onBytes(buffer.subarray(0, bytes));
      return true;
    },
  };
}
