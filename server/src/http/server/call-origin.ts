import type { FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import { ServiceError } from '../../domain/errors.ts';

/**
 * Whose X-Forwarded-For is believed: nobody's, that of the given number of proxies in front of this server, or that of
 * the proxies in these networks (CIDR).
 */
export type TrustedProxies = false | number | readonly string[];

/**
 * The address a call came from, which limits on guesses and the list of sessions name: of X-Forwarded-For the right-most
 * entry that no trusted proxy stands behind, since everything left of it was written by whoever sent it. `unknown` for
 * what is no address.
 */
export function callerAddress(request: FastifyRequest): string {
  return readAddress(request.ip)?.toString() ?? 'unknown';
}

/**
 * True if the call was made on this machine: the connection comes from its loopback, and so does every caller that a proxy
 * on the way names. A proxy that hides its caller makes the call one from elsewhere. Nothing is believed that opens: a header
 * only takes away what the connection is.
 */
export function isLocalCaller({ raw, headers }: FastifyRequest): boolean {
  const named = [headers['x-forwarded-for'], headers['x-real-ip']].flatMap((value) =>
    value === undefined ? [] : String(value).split(','),
  );
  const hops = [raw.socket.remoteAddress, ...named, ...readForwarded(headers.forwarded)];
  return hops.every((hop) => readAddress(hop?.trim())?.range() === 'loopback');
}

/** The `for` of each element of a Forwarded header (RFC 7239 §4); empty for an element without one. */
function readForwarded(header: string | undefined): string[] {
  if (header === undefined) return [];
  return header
    .split(',')
    .map((element) => /(?:^|;)\s*for=(?:"([^"]*)"|([^\s;]*))/i.exec(element)?.slice(1).join('') ?? '');
}

/** What Fastify asks of each entry from the right, the socket's address first: whether to believe what it says. */
export function makeTrustProxy(proxies: TrustedProxies): false | ((address: string, hop: number) => boolean) {
  if (proxies === false) return false;
  if (typeof proxies === 'number') return (_address, hop) => hop < proxies;
  const networks = proxies.map(parseProxyNetwork);
  return (text) => {
    const address = readAddress(text);
    return networks.some(([base, bits]) => address?.kind() === base.kind() && address.match(base, bits));
  };
}

/** A network of proxies, `10.0.0.0/8` or one address. @throws if it is none, or is every address */
export function parseProxyNetwork(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  const [base, bits] = ipaddr.parseCIDR(text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`);
  if (bits === 0) throw new RangeError('every address would be a proxy');
  return [base, bits];
}

/** Some proxies write the port too, which differs with each connection: `203.0.113.7:4711`, `[2001:db8::1]:443`. */
function readAddress(text: string | undefined): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const [, inBrackets, beforePort] = /^(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)$/.exec(text ?? '') ?? [];
  const bare = inBrackets ?? beforePort ?? text;
  // `process` makes 127.0.0.1 of ::ffff:127.0.0.1, which a socket of both families says.
  return bare !== undefined && ipaddr.isValid(bare) ? ipaddr.process(bare) : undefined;
}

/**
 * Browsers say where a request comes from; another site's is refused, whatever cookies came along. What is no browser
 * says nothing and passes.
 */
export function refuseCrossSite(request: FastifyRequest): void {
  const site = request.headers['sec-fetch-site'];
  const { origin } = request.headers;
  const isOwn = site === undefined || site === 'same-origin';
  const isOwnOrigin = origin === undefined || (URL.canParse(origin) && new URL(origin).host === request.host);
  if (!isOwn || !isOwnOrigin) throw new ServiceError('SCOPE_MISSING', { reason: 'a request from another site' });
}

/** Whether a person followed a link or wrote the address: a page is shown then, and the site before cannot read it. */
export function isNavigation({ method, headers }: FastifyRequest): boolean {
  return method === 'GET' && headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
}
