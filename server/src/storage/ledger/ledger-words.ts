import type { Platform } from '../../domain/campaigns/content.ts';
import type { Fragment, Queryable } from '../database.ts';

/** Platforms as the ledger has them: a letter each. */
export const platformLetters = { ANDROID: 'A', IOS: 'I', WEB: 'W' } as const satisfies Record<Platform, string>;

/**
 * Outcomes as the ledger has them: a letter each. An enumeration would be four bytes, and its comparison is none that
 * PostgreSQL lets into an index before a policy has looked; that of a letter is.
 */
export const outcomeLetters = {
  ACCEPTED: 'A',
  GONE: 'G',
  REJECTED: 'R',
  EXPIRED: 'E',
  FAILED: 'F',
  WITHHELD: 'H',
  WAITING: 'W',
} as const;

/** A platform of the ledger as all else has it. */
export function platformWord(tx: Queryable, column: Fragment): Fragment {
  return tx`case ${column} when 'A' then 'ANDROID' when 'I' then 'IOS' when 'W' then 'WEB' end`;
}

/** An outcome of the ledger as all else has it. */
export function outcomeWord(tx: Queryable, column: Fragment): Fragment {
  return tx`case ${column} when 'A' then 'ACCEPTED' when 'G' then 'GONE' when 'R' then 'REJECTED'
    when 'E' then 'EXPIRED' when 'F' then 'FAILED' when 'H' then 'WITHHELD' when 'W' then 'WAITING' end`;
}

/** That a row was accepted, or has another outcome; what was accepted has indexes of its own. */
export function isOutcome(tx: Queryable, outcome: keyof typeof outcomeLetters): Fragment {
  return outcome === 'ACCEPTED'
    ? tx`outcome = 'A'`
    : tx`outcome <> 'A' and outcome = ${outcomeLetters[outcome]}::"char"`;
}
