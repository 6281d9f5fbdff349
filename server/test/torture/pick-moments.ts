import type { Random } from './make-random.ts';

/**
 * Random moments of a campaign, as numbers of devices reached: spread over all of it whatever the machine's speed, and
 * the same for the same seed.
 */
export function pickOccurrences(from: { random: Random; rounds: number; devices: number }): number[] {
  const latest = Math.floor(from.devices * 0.95);
  return Array.from({ length: from.rounds }, () => from.random.between(1, latest)).sort((a, b) => a - b);
}
