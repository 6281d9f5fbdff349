import type { ProviderName } from '../delivery/provider-name.ts';

/** What became of a message at its provider, as charts tell it. */
export const sendOutcomes = ['accepted', 'gone', 'waits', 'rejected', 'stopped'] as const;
export type SendOutcome = (typeof sendOutcomes)[number];

/** Names of what is counted; sums over nodes and minutes mean something. */
export type CountName =
  | 'pushes'
  | 'calls'
  | 'calls.refused'
  | 'calls.failed'
  | 'jobs.failed'
  | `sends.${ProviderName}.${SendOutcome}`
  | `latency.${ProviderName}.${'answers' | 'milliseconds'}`;

/** Names of what is seen at an instant; of several the greatest is told. */
export type GaugeName = 'queue.waiting' | 'queue.ageSeconds' | 'retries.waiting' | `latency.${ProviderName}.most`;

export type MinuteFigures = {
  counts: Partial<Record<CountName, number>>;
  gauges: Partial<Record<GaugeName, number>>;
};

/** The minute that an instant is in. */
export function minuteOf(at: Date): Date {
  return new Date(Math.floor(at.getTime() / 60_000) * 60_000);
}
