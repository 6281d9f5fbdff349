import { useSyncExternalStore } from 'react';

// Minutes are what is told; one of them is at most this late.
const tickMilliseconds = 10_000;
// The way of an answer takes its time, which is no other clock.
const toleranceMilliseconds = 2_000;

/** `service` is the time of the service, which a sandbox may move. Accounts and the audit log are in `real` time. */
export type ServerClock = 'service' | 'real';

const watchers = new Set<() => void>();
const aheadMilliseconds = { service: 0, real: 0 };
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

/** Reads both clocks from an answer of the server: a sandbox's may be moved, and that of a computer may be wrong. */
export function hearServerTime(answer: Headers): void {
  hear('service', answer.get('carillon-time'));
  hear('real', answer.get('carillon-real-time'));
}

/** The time of the server by one of its clocks, a few seconds late: for what is said in minutes. */
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
