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

/** The URL may not be called, whatever its host resolves to. The reason never contains an address. */
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
  method: 'GET' | 'POST';
  headers: Readonly<Record<string, string>>;
  body?: string | Buffer;
  /** Limit on the whole call, the answer's body included. */
  totalMilliseconds?: number;
  signal?: AbortSignal;
};

export type OutgoingAnswer = {
  status: number;
  headers: IncomingHttpHeaders;
  /** The raw body: encoded, unlimited. Whoever opened the response must read it to the end or destroy it. */
  body: Readable;
  url: URL;
};

export type OutgoingClient = {
  /**
   * Calls a URL chosen by somebody else and returns the response as soon as its headers have arrived. Follows no
   * redirects.
   *
   * @throws OutgoingRefusedError, AddressBlockedError, the signal's reason, a `TimeoutError` after `totalMilliseconds`,
   * or the connection's error
   */
  open(request: OutgoingRequest): Promise<OutgoingAnswer>;
  /** Ends every call that is under way. */
  close(): Promise<void>;
};

export type OutgoingClientOptions = {
  /** CIDR ranges the operator opened in addition to the public internet (decision D29). */
  allowedNetworks: readonly string[];
  /** Who chose the hosts: others, or the operator, whose may be internal. */
  hosts?: 'guarded' | 'trusted';
  proxy?: OutgoingProxy | undefined;
  resolver?: Resolver;
  /** Until the connection is established: name resolution, TCP, the proxy's answer and TLS together. */
  connectMilliseconds?: number;
  /** The longest silence while waiting for headers, and between two pieces of a body. */
  silenceMilliseconds?: number;
};

/** The codes of errors that say how long nothing came: before a connection, before an answer, within its body. */
export const silenceCodes = {
  connect: 'UND_ERR_CONNECT_TIMEOUT',
  headers: 'UND_ERR_HEADERS_TIMEOUT',
  body: 'UND_ERR_BODY_TIMEOUT',
} as const;

/**
 * The only way to call addresses chosen by others. It knows no proxy but the one it is given, reads none from the
 * environment and keeps no cookies: a plain undici `Agent` does neither, and a test in a network namespace verifies it.
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
  // At the first call: a hundred modules, which a start would wait for.
  const makeAgent = async (): Promise<Agent> => {
    const undici = await import('undici');
    return new undici.Agent({
      // 0 closes each connection after its answer: addresses are checked when connecting, so a reused connection would
      // rely on an outdated check, and one that the other side has dropped would fail a call needlessly.
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
        // Some hosts refuse a caller who gives no name.
        headers: { 'user-agent': 'Carillon', ...headers },
        body: body ?? null,
        signal: limit,
      });
      // undici looks at the signal only once it is connected.
      const { statusCode, headers: answerHeaders, body: answerBody } = await before(limit, answer);
      // Destroying a body that nobody reads emits an error, which would end the process.
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
 * Connects to the address that was checked, so there is no second resolution to attack; the name stays in `Host` and
 * SNI. Not one byte is sent before the connected socket's own address was checked too, hence TLS as a second step. A proxy is
 * asked for the checked address, and for nothing else.
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
      // Between two waits nobody else listens, and an error without a listener would end the process.
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
      // An address is no name for SNI (RFC 6066 §3); the certificate is then compared with `host`.
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
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string | Buffer;
  totalMilliseconds?: number;
};

// Enough for an honest response body; a longer one is cut off (fault F24).
const maxAnswerBytes = 64 * 1024;

/**
 * Posts once to a URL chosen by somebody else: a redirect is a response like any other. Never throws; once the status
 * has arrived, the call counts as answered whatever happens to the body.
 */
export async function postOnce(
  client: OutgoingClient,
  { url, headers, body, totalMilliseconds = 15_000 }: Post,
): Promise<PostOutcome> {
  try {
    const answer = await client.open({ url, method: 'POST', headers, body, totalMilliseconds });
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
    // The status is known, and nothing else was wanted.
  }
}

function classify(error: unknown): 'timeout' | 'unreachable' | 'refused' {
  if (error instanceof OutgoingRefusedError || error instanceof AddressBlockedError) return 'refused';
  if ((error as NodeJS.ErrnoException).code === silenceCodes.headers) return 'timeout';
  // What the limit on the whole call throws.
  return error instanceof DOMException && error.name === 'TimeoutError' ? 'timeout' : 'unreachable';
}
