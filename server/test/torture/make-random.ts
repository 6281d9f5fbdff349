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
