import { sourceOfAddress } from '../../domain/limits/source-address.ts';
import { secondsUntilPass } from '../../domain/limits/sliding-window.ts';
import type { LimitWindow } from '../../domain/limits/sliding-window.ts';
import { limitSubject } from '../../domain/tokens/limit-subject.ts';
import { guessWindows } from '../../domain/tokens/limits.ts';
import type { LimitSubject } from '../../storage/limits/limit-windows.ts';
import type { TokenCaller } from './token-caller.ts';

export type GuessCounter = LimitSubject & { windows: readonly LimitWindow[]; refuses: boolean };

/** What counts the guesses of a caller. */
export function guessCounters({ clientId, address }: TokenCaller): GuessCounter[] {
  const source = sourceOfAddress(address);
  return [
    {
      operation: 'guess-client-address',
      subject: limitSubject([clientId, source]),
      windows: guessWindows['guess-client-address'],
      refuses: true,
    },
    {
      operation: 'guess-address',
      subject: limitSubject([source]),
      windows: guessWindows['guess-address'],
      refuses: true,
    },
    {
      operation: 'guess-client',
      subject: limitSubject([clientId]),
      windows: guessWindows['guess-client'],
      refuses: false,
    },
  ];
}

/** Whether a caller guessed too often, or asks about what many guess at, which only slows its response. */
export function readGuesses(
  counters: readonly GuessCounter[],
  { events, at }: { events: readonly Date[][]; at: Date },
): { refusedForSeconds: number; isSlowed: boolean } {
  const waits = counters.map(({ windows }, index) => secondsUntilPass(windows, { events: events[index]!, at }));
  const refusedForSeconds = Math.max(...waits.filter((_, index) => counters[index]!.refuses));
  return { refusedForSeconds, isSlowed: Math.max(...waits) > 0 };
}
