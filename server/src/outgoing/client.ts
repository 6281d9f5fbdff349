import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { connect as connectTcp, isIP } from 'node:net';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import type { Agent } from 'undici';
import { before, decideAddress, decideUrl, findRoute, AddressBlockedError } from './guard.ts';
import type { RouteRules, Resolver } from './guard.ts';
import { ProxyError, unbracket } from './proxy.ts';
import type { OutgoingProxy } from './proxy.ts';

/** The URL may not be called, regardless of what its host resolves to. The reason never contains an address. */
export class OutgoingRefusedError extends Error {
  override readonly name = 'OutgoingRefusedError';
  readonly reason: string;

  constructor(reason: string) {
    super(`this URL may not be called: ${reason}`);
    this.reason = reason;
  }
}

export type OutgoingRequest = {
  url: string;
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  headers: Readonly<Record<string, string>>;
  body?: string | Buffer;
  /** Limit on the whole call, including the response's body. */
  totalMilliseconds?: number;
  signal?: AbortSignal;
};

export type OutgoingAnswer = {
  status: number;
  headers: IncomingHttpHeaders;
  /** The raw body: still encoded, unlimited in size. The caller must read it to the end or destroy it. */
  body: Readable;
  url: URL;
};

export type OutgoingClient = {
  /**
   * Calls a URL chosen by a user and returns the response as soon as its headers have arrived. Follows no redirects.
   *
   * @throws OutgoingRefusedError, AddressBlockedError, the signal's reason, a `TimeoutError` after `totalMilliseconds`, or the
   * connection's error
   */
  open(request: OutgoingRequest): Promise<OutgoingAnswer>;
  /** Ends every call in progress. */
  close(): Promise<void>;
};

export type OutgoingClientOptions = {
  /** CIDR ranges that the operator allowed in addition to the public internet (decision D29). */
  allowedNetworks: readonly string[];
  /** `guarded`: users chose the hosts. `trusted`: the operator chose them, and they may be internal. */
  hosts?: 'guarded' | 'trusted';
  proxy?: OutgoingProxy | undefined;
  resolver?: Resolver;
  /** Limit for establishing the connection: name resolution, TCP, the proxy's response and TLS together. */
  connectMilliseconds?: number;
  /** The maximum silence while waiting for headers, and between two pieces of a body. */
  silenceMilliseconds?: number;
};

/** Error codes for timeouts: before a connection, before a response, within its body. */
export const silenceCodes = {
  connect: 'UND_ERR_CONNECT_TIMEOUT',
  headers: 'UND_ERR_HEADERS_TIMEOUT',
  body: 'UND_ERR_BODY_TIMEOUT',
} as const;

/**
 * Makes the only client for addresses chosen by users. It uses no proxy except the given one, reads none from the environment
 * and keeps no cookies: a plain undici `Agent` does neither, and a test in a network namespace verifies it.
 */
export function makeOutgoingClient({
  hosts = 'guarded',
  proxy,
  resolver,
  connectMilliseconds = 10_000,
  silenceMilliseconds = 30_000,
  ...options
}: OutgoingClientOptions): OutgoingClient {
  const isGuarded = hosts === 'guarded';
  const allowedNetworks = isGuarded ? options.allowedNetworks : everyNetwork;
  const connecting = { isGuarded, allowedNetworks, proxy, connectMilliseconds, ...(resolver && { resolver }) };
  // Loaded with the first call: it is a hundred modules, which would delay the start.
  const makeAgent = async (): Promise<Agent> => {
    const undici = await import('undici');
    return new undici.Agent({
      // 0 closes each connection after its response. Addresses are checked when connecting, so a reused connection would rely
      // on an outdated check, and a connection dropped by the other side would fail a call needlessly.
      pipelining: 0,
      allowH2: false,
      headersTimeout: silenceMilliseconds,
      bodyTimeout: silenceMilliseconds,
      connect: (target, callback) => {
        connectChecked(target, connecting).then(
          (socket) => callback(null, socket),
          (error: Error) => callback(error, null),
        );
      },
    });
  };
  let agent: Promise<Agent> | undefined;
  let isClosed = false;

  return {
    async open({ url: text, method, headers, body, totalMilliseconds, signal }) {
      const decision = decideUrl(text, allowedNetworks);
      if (!decision.allowed) throw new OutgoingRefusedError(decision.reason);
      const { url } = decision;
      const limits = [signal, totalMilliseconds === undefined ? undefined : AbortSignal.timeout(totalMilliseconds)];
      const limit = AbortSignal.any(limits.filter((each) => each !== undefined));
      limit.throwIfAborted();
      if (isClosed) throw new Error('this client is closed');
      agent ??= makeAgent();
      const answer = (await agent).request({
        origin: url.origin,
        path: url.pathname + url.search,
        method,
        // Some hosts reject callers without a user agent.
        headers: { 'user-agent': 'Carillon', ...headers },
        body: body ?? null,
        signal: limit,
      });
      // undici checks the signal only once it is connected.
      const { statusCode, headers: answerHeaders, body: answerBody } = await before(limit, answer);
      // Destroying an unread body emits an error, which would end the process.
      answerBody.on('error', ignore);
      return { status: statusCode, headers: answerHeaders, body: answerBody, url };
    },

    async close() {
      isClosed = true;
      await (await agent)?.destroy();
    },
  };
}

const everyNetwork = ['0.0.0.0/0', '::/0'];

type Target = { hostname: string; protocol: string; port: string };
type Connecting = RouteRules & { isGuarded: boolean; connectMilliseconds: number };

/**
 * Connects to the address that was checked, so there is no second resolution to attack. The name stays in `Host` and SNI. No
 * byte is sent before the connected socket's remote address was checked too, so TLS is a second step. A proxy is only asked for
 * the checked address.
 */
async function connectChecked({ hostname, protocol, port: given }: Target, options: Connecting): Promise<Socket> {
  const limit = AbortSignal.timeout(options.connectMilliseconds);
  const isSecure = protocol === 'https:';
  const port = Number(given || (isSecure ? 443 : 80));
  let socket: Socket | undefined;
  try {
    const { isGuarded } = options;
    const { host, proxy } = await before(limit, findRoute({ host: unbracket(hostname), port, isGuarded }, options));
    if (proxy) socket = await proxy.openTunnel({ host, port, isSecure }, limit);
    else {
      socket = connectTcp({ host, port, noDelay: true });
      // Between two waits there is no other listener, and an error without a listener would end the process.
      socket.on('error', ignore);
      await once(socket, 'connect', { signal: limit });
      const { remoteAddress } = socket;
      if (remoteAddress === undefined) throw new Error('the connection closed at once');
      if (!decideAddress(remoteAddress, options.allowedNetworks).allowed)
        throw new AddressBlockedError('this address may not be called');
    }
    if (!isSecure) return socket;

    const secure = connectTls({
      socket,
      host: hostname,
      // An address is not a name for SNI (RFC 6066 §3); the certificate is then compared with `host`.
      ...(isIP(hostname) === 0 && { servername: hostname }),
      ALPNProtocols: ['http/1.1'],
    });
    secure.on('error', ignore);
    await once(secure, 'secureConnect', { signal: limit });
    return secure;
  } catch (error) {
    socket?.destroy();
    if (limit.aborted && !(error instanceof ProxyError))
      throw Object.assign(new Error('no connection in time', { cause: error }), { code: silenceCodes.connect });
    throw error;
  }
}

function ignore(): void {}

export type PostOutcome =
  { kind: 'answered'; status: number } | { kind: 'failed'; error: 'timeout' | 'unreachable' | 'refused' };

export type Post = {
  /** POST unless given. */
  method?: 'POST' | 'PUT';
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string | Buffer;
  totalMilliseconds?: number;
};

// Enough for a normal response body; a longer one is cut off (fault F24).
const maxAnswerBytes = 64 * 1024;

/**
 * Posts (or puts) once to a URL chosen by a user. A redirect is a response like any other. Never throws. Once the status has arrived, the
 * call counts as answered whatever happens to the body.
 */
export async function postOnce(
  client: OutgoingClient,
  { method = 'POST', url, headers, body, totalMilliseconds = 15_000 }: Post,
): Promise<PostOutcome> {
  try {
    const answer = await client.open({ url, method, headers, body, totalMilliseconds });
    await discard(answer.body);
    return { kind: 'answered', status: answer.status };
  } catch (error) {
    return { kind: 'failed', error: classify(error) };
  }
}

async function discard(body: Readable): Promise<void> {
  let bytes = 0;
  try {
    // Leaving the loop destroys the body.
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes >= maxAnswerBytes) return;
    }
  } catch {
    // The status is known, and nothing else is needed.
  }
}

function classify(error: unknown): 'timeout' | 'unreachable' | 'refused' {
  if (error instanceof OutgoingRefusedError || error instanceof AddressBlockedError) return 'refused';
  if ((error as NodeJS.ErrnoException).code === silenceCodes.headers) return 'timeout';
  // The limit on the whole call throws this error.
  return error instanceof DOMException && error.name === 'TimeoutError' ? 'timeout' : 'unreachable';
}
