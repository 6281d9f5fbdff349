import { isIP } from 'node:net';

/** The proxy through which this node calls the outside, as it was set. */
export type ProxySettings = {
  host: string;
  port: number;
  /** The proxy itself is spoken to over TLS. */
  isSecure: boolean;
  /** `Basic …`; a secret. */
  authorization: string | undefined;
  bypass: readonly BypassRule[];
  /** Only the proxy can resolve names, so that host names are judged in place of addresses. */
  resolvesNames: boolean;
  /** Hosts that others may name then, besides the push services. */
  hosts: readonly string[];
};

export type BypassRule = { host: string; port: number | undefined };

/** The address of the proxy is none; the message names the form, never the value. */
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
    throw new ProxySettingsError('user and password with what is no letter or digit written as %XX');
  }
  // The first colon ends the user (RFC 7617 §2).
  if (user.includes(':')) throw new ProxySettingsError('a user without a colon');
  return `Basic ${Buffer.from(`${user}:${secret}`).toString('base64')}`;
}

/** `example.com`, `.example.com`, `*.example.com`, each with a port or not; `*`; an address. */
function parseRule(item: string): BypassRule {
  const [, bracketed, named, port] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(item) ?? [];
  // Colons without brackets are an address of IPv6, whose last group is no port.
  const host = (bracketed ?? named ?? item).toLowerCase().replace(/^\*?\./, '');
  return { host, port: port === undefined ? undefined : Number(port) };
}

/** Whether a host is called without the proxy: exactly the one of a rule, or below it. */
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
