import type { Timing } from './timing.ts';

/** A timing as stored in JSON, where instants are strings. */
export type StoredTiming = Exclude<Timing, { kind: 'later' }> | (Omit<LaterTiming, 'at'> & { at: string });

type LaterTiming = Extract<Timing, { kind: 'later' }>;

/** Reads a campaign's stored timing. */
export function fromStoredTiming(stored: StoredTiming): Timing {
  return stored.kind === 'later' ? { ...stored, at: new Date(stored.at) } : stored;
}
