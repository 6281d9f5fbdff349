import ipaddr from 'ipaddr.js';

/** Whether a host is this machine by its name or address alone. */
export function isLoopback(host: string): boolean {
  if (/(?:^|\.)localhost\.?$/i.test(host)) return true;
  return ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback';
}
