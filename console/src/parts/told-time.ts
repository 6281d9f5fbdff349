import { useSyncExternalStore } from 'react';

// Minutes are what is told; one of them is at most this late.
const tickMilliseconds = 10_000;
// The way of an answer takes its time, which is no other clock.
const toleranceMilliseconds = 2_000;

/** `service` is the time of the service, which a sandbox may move. Accounts and the audit log are in `real` time. */
export type ToldClock = 'service' | 'real';

const headers: Record<ToldClock, string> = { service: 'carillon-time', real: 'carillon-real-time' };
const watchers = new Set<() => void>();
const aheadMilliseconds: Record<ToldClock, number> = { service: 0, real: 0 };
const now: Record<ToldClock, number> = { service: Date.now(), real: Date.now() };
let timer: ReturnType<typeof setInterval> | undefined;

/** Reads both clocks from an answer of the server: a sandbox's may be moved, and that of a computer may be wrong. */
export function hearServerTime(answer: Headers): void {
  const changed = (Object.keys(headers) as ToldClock[]).filter((clock) => hear(clock, answer.get(headers[clock])));
  if (changed.length > 0) tick();
}

/** The time of the server by one of its clocks, a few seconds late: for what is said in minutes. */
export function useServerNow(clock: ToldClock): number {
  return useSyncExternalStore(watch, () => now[clock]);
}

/** Returns true when the clock is not where it was thought to be. */
function hear(clock: ToldClock, at: string | null): boolean {
  if (at === null) return false;
  const heard = Date.parse(at) - Date.now();
  if (Math.abs(heard - aheadMilliseconds[clock]) <= toleranceMilliseconds) return false;
  aheadMilliseconds[clock] = heard;
  return true;
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
  now.service = Date.now() + aheadMilliseconds.service;
  now.real = Date.now() + aheadMilliseconds.real;
  for (const onTicked of watchers) onTicked();
}
