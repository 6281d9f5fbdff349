import type { FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import { dataCenterOfHost } from '../../domain/access/data-centers.ts';
import type { DataCenter } from '../../domain/access/data-centers.ts';
import { isPlainIpv4 } from '../../domain/access/rate-limits.ts';
import { ServiceError } from '../../domain/errors.ts';

/**
 * The proxies trusted to send X-Forwarded-For: none, the given number of proxies in front of this server, or the proxies
 * in these networks (CIDR).
 */
export type TrustedProxies = false | number | readonly string[];

/**
 * Returns the address that a call came from, for limits on guesses and the list of sessions. In X-Forwarded-For this is the
 * right-most entry that is not a trusted proxy, because the sender could have written everything left of it. Returns
 * `unknown` for a value that is not an address.
 */
export function callerAddress(request: FastifyRequest): string {
  const { ip } = request;
  return isPlainIpv4(ip) ? ip : (readAddress(ip)?.toString() ?? 'unknown');
}

/**
 * Returns the data center that the called host names, if it names one (decision D1). Without a service domain no host does, and
 * Fastify takes longer to find the host than most checks take.
 */
export function calledDataCenter(request: FastifyRequest, serviceDomain: string | undefined): DataCenter | undefined {
  return serviceDomain === undefined ? undefined : dataCenterOfHost(request.hostname, serviceDomain);
}

/**
 * True if the call was made on this machine: the connection comes from its loopback, and so does every caller that a proxy
 * on the way names. A proxy that hides its caller makes the call count as remote. Headers can only revoke access, never
 * grant it.
 */
export function isLocalCaller({ raw, headers }: FastifyRequest): boolean {
  const named = [headers['x-forwarded-for'], headers['x-real-ip']].flatMap((value) =>
    value === undefined ? [] : String(value).split(','),
  );
  const hops = [raw.socket.remoteAddress, ...named, ...readForwarded(headers.forwarded)];
  return hops.every((hop) => readAddress(hop?.trim())?.range() === 'loopback');
}

/** Returns the `for` of each element of a Forwarded header (RFC 7239 §4); empty for an element without one. */
function readForwarded(header: string | undefined): string[] {
  if (header === undefined) return [];
  return header
    .split(',')
    .map((element) => /(?:^|;)\s*for=(?:"([^"]*)"|([^\s;]*))/i.exec(element)?.slice(1).join('') ?? '');
}

/**
 * Makes the function that Fastify calls for each entry from the right, the socket's address first: true if the entry is a
 * trusted proxy.
 */
export function makeTrustProxy(proxies: TrustedProxies): false | ((address: string, hop: number) => boolean) {
  if (proxies === false) return false;
  if (typeof proxies === 'number') return (_address, hop) => hop < proxies;
  const networks = proxies.map(parseProxyNetwork);
  return (text) => {
    const address = readAddress(text);
    return networks.some(([base, bits]) => address?.kind() === base.kind() && address.match(base, bits));
  };
}

/** Parses a network of proxies, `10.0.0.0/8` or one address. @throws if it is not a network, or is every address */
export function parseProxyNetwork(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  const [base, bits] = ipaddr.parseCIDR(text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`);
  if (bits === 0) throw new RangeError('every address would be a proxy');
  return [base, bits];
}

/**
 * Parses an address. Some proxies add the port, which differs with each connection: `203.0.113.7:4711`,
 * `[2001:db8::1]:443`.
 */
function readAddress(text: string | undefined): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const [, inBrackets, beforePort] = /^(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)$/.exec(text ?? '') ?? [];
  const bare = inBrackets ?? beforePort ?? text;
  // `process` turns ::ffff:127.0.0.1, which a dual-stack socket reports, into 127.0.0.1.
  return bare !== undefined && ipaddr.isValid(bare) ? ipaddr.process(bare) : undefined;
}

/**
 * Rejects requests from other sites, regardless of cookies: browsers report where a request comes from. Clients that are
 * not browsers send no such headers and pass.
 */
export function refuseCrossSite(request: FastifyRequest): void {
  const site = request.headers['sec-fetch-site'];
  const { origin } = request.headers;
  const isOwn = site === undefined || site === 'same-origin';
  const isOwnOrigin = origin === undefined || (URL.canParse(origin) && new URL(origin).host === request.host);
  if (!isOwn || !isOwnOrigin) throw new ServiceError('SCOPE_MISSING', { reason: 'a request from another site' });
}

/** True if a user followed a link or entered the address: then a page is shown, and the previous site cannot read it. */
export function isNavigation({ method, headers }: FastifyRequest): boolean {
  return method === 'GET' && headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
}
