import { useSyncExternalStore } from 'react';

// Texts show minutes, so a minute is late by at most this interval.
const tickMilliseconds = 10_000;
// Smaller differences come from the duration of the response.
const toleranceMilliseconds = 2_000;

/** `service` is the service's time, which a sandbox may move. Accounts and the audit log use `real` time. */
export type ServerClock = 'service' | 'real';

const watchers = new Set<() => void>();
const aheadMilliseconds = { service: 0, real: 0 };
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

/** Reads both clocks from a response: a sandbox's clock may be moved, and the computer's clock may be wrong. */
export function readServerTime(answer: Headers): void {
  hear('service', answer.get('carillon-time'));
  hear('real', answer.get('carillon-real-time'));
}

/** Returns the server's time by one of its clocks. It is a few seconds late, which is enough for minutes. */
export function useServerNow(clock: ServerClock): number {
  return useSyncExternalStore(watch, () => now + aheadMilliseconds[clock]);
}

function hear(clock: ServerClock, at: string | null): void {
  if (at === null) return;
  const heard = Date.parse(at) - Date.now();
  if (Math.abs(heard - aheadMilliseconds[clock]) <= toleranceMilliseconds) return;
  aheadMilliseconds[clock] = heard;
  tick();
}

function watch(onTicked: () => void): () => void {
  if (watchers.size === 0) {
    tick();
    timer = setInterval(tick, tickMilliseconds);
  }
  watchers.add(onTicked);
  return () => {
    watchers.delete(onTicked);
    if (watchers.size === 0) clearInterval(timer);
  };
}

function tick(): void {
  now = Date.now();
  for (const onTicked of watchers) onTicked();
}
