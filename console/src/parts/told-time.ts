import { useSyncExternalStore } from 'react';

// Minutes are what is told; one of them is at most this late.
const tickMilliseconds = 10_000;
// The way of an answer takes its time, which is no other clock.
const toleranceMilliseconds = 2_000;

const watchers = new Set<() => void>();
let aheadMilliseconds = 0;
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

/** What each answer of the server says: a sandbox's clock is moved, and that of a computer may be wrong. */
export function hearServerTime(at: string | null): void {
  if (at === null) return;
  const heard = Date.parse(at) - Date.now();
  if (Math.abs(heard - aheadMilliseconds) <= toleranceMilliseconds) return;
  aheadMilliseconds = heard;
  tick();
}

/** The time of the server, a few seconds late: for what is said in minutes. */
export function useServerNow(): number {
  return useSyncExternalStore(watch, () => now);
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
  now = Date.now() + aheadMilliseconds;
  for (const onTicked of watchers) onTicked();
}
