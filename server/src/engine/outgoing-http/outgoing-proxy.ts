import type { Socket } from 'node:net';
import type { ProxyState } from '../../domain/readiness/proxy-state.ts';
import type { Logger } from '../../log.ts';
import { isLoopback } from './is-loopback.ts';
import { openTunnel } from './open-tunnel.ts';
import type { TunnelTarget } from './open-tunnel.ts';
import { ProxyError } from './proxy-error.ts';
import { isBypassed } from './proxy-settings.ts';
import type { ProxySettings } from './proxy-settings.ts';

/** The way out of a node that may not call the internet itself. One for all that it calls. */
export type OutgoingProxy = Pick<ProxySettings, 'resolvesNames' | 'hosts'> & {
  /** Whether a host is called through it: neither this machine nor one that the settings except. */
  isFor(target: { host: string; port: number }): boolean;
  /** @throws ProxyError */
  openTunnel(target: TunnelTarget, signal: AbortSignal): Promise<Socket>;
  state(): ProxyState;
};

// It may serve one host and refuse another in turn, thousands of times.
const quietMilliseconds = 60_000;

/** @param settings undefined where the internet is called directly */
export function makeOutgoingProxy(settings: ProxySettings | undefined, log: Logger): OutgoingProxy | undefined {
  if (settings === undefined) return undefined;
  let state: ProxyState = 'UNUSED';
  let toldAt = -quietMilliseconds;

  function note(next: ProxyState, error?: ProxyError): void {
    const isNews = next !== state && performance.now() - toldAt >= quietMilliseconds;
    state = next;
    if (!isNews || !error) return;
    toldAt = performance.now();
    // Its own message, not what it was made of: that may name an address.
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
