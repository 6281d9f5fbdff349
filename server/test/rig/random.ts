export type Random = {
  /** 0 ≤ number < 1. */
  next(): number;
  /** A whole number from `from` to `to`, both possible. */
  between(from: number, to: number): number;
};

/** A sequence that a seed repeats (mulberry32), so that a failing run can be made again. */
export function makeRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return { next, between: (from, to) => from + Math.floor(next() * (to - from + 1)) };
}

/**
 * Random moments of a campaign, as numbers of devices reached: spread over all of it whatever the machine's speed, and
 * the same for the same seed.
 */
export function pickOccurrences(from: { random: Random; rounds: number; devices: number }): number[] {
  const latest = Math.floor(from.devices * 0.95);
  return Array.from({ length: from.rounds }, () => from.random.between(1, latest)).sort((a, b) => a - b);
}

/** FNV-1a: a number that follows from a text. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ character.codePointAt(0)!, 0x01000193);
  return hash >>> 0;
}
