import type { Platform } from '../../domain/campaigns/content.ts';
import type { Variant } from '../../domain/experiments/variants.ts';
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

const variationBase = 48;
const localeBase = 64;

/** A variation as the ledger has it: the digit, as a number; 0 for none. */
export function variationCode(variant: Variant | null | undefined): number {
  return variant && variant.variation > 0 ? variationBase + variant.variation : 0;
}

/** A locale as the ledger has it: A for the first, as a number; 0 for none. */
export function localeCode(variant: Variant | null | undefined): number {
  return variant && variant.locale > 0 ? localeBase + variant.locale : 0;
}

/** The number of a row's variation; null where there is one. */
export function ledgerVariation(tx: Queryable): Fragment {
  return tx`deliveries.variation::integer - ${variationBase}::integer`;
}

/** The number of a row's locale; null where there is one. */
export function ledgerLocale(tx: Queryable): Fragment {
  return tx`deliveries.locale::integer - ${localeBase}::integer`;
}

/** As a statement reads it, by number. */
export type LedgerVariant = { variation: number | null; locale: number | null };

/** What a row says of the content that its device got. */
export function variantOf(row: LedgerVariant): Variant | null {
  const { variation, locale } = row;
  return variation === null && locale === null ? null : { variation: variation ?? 0, locale: locale ?? 0 };
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
