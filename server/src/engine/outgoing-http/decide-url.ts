import ipaddr from 'ipaddr.js';
import { decideAddress } from './decide-address.ts';

export type UrlDecision = { allowed: true; url: URL } | { allowed: false; reason: string };

const portOfScheme: Record<string, string> = { 'http:': '80', 'https:': '443' };

/**
 * Whether a URL chosen by somebody else may be called at all, before anything is resolved: http or https, no
 * credentials, the scheme's own port unless the operator opened networks. A host that is an address in any spelling
 * (decimal, octal, short, mapped) is decided here; `new URL` has already unfolded it. A name is decided when
 * connecting.
 */
export function decideUrl(text: string, allowedNetworks: readonly string[]): UrlDecision {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return { allowed: false, reason: 'not a URL' };
  }
  const ownPort = portOfScheme[url.protocol];
  if (ownPort === undefined) return { allowed: false, reason: 'scheme' };
  if (url.username !== '' || url.password !== '') return { allowed: false, reason: 'credentials in the URL' };
  if (url.port !== '' && url.port !== ownPort && allowedNetworks.length === 0)
    return { allowed: false, reason: 'port' };
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (ipaddr.isValid(host)) {
    const decision = decideAddress(host, allowedNetworks);
    if (!decision.allowed) return decision;
  }
  return { allowed: true, url };
}
