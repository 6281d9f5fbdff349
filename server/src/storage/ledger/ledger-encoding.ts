import type { Platform } from '../../domain/content/content.ts';
import type { Variant } from '../../domain/experiments/variants.ts';
import { packMessageId, unpackMessageId } from '../../domain/ids.ts';
import type { UserKey } from '../../domain/users/users.ts';
import type { Fragment, Queryable } from '../database.ts';

/** Platforms in the ledger's encoding, one letter each. */
export const platformLetters = { ANDROID: 'A', IOS: 'I', WEB: 'W' } as const satisfies Record<Platform, string>;

/**
 * Outcomes in the ledger's encoding, one letter each. An enumeration would take four bytes, and PostgreSQL does not use
 * its comparison in an index before it has checked a policy; it does use that of a letter.
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

/** Decodes a platform of the ledger. */
export function platformWord(tx: Queryable, column: Fragment): Fragment {
  return tx`case ${column} when 'A' then 'ANDROID' when 'I' then 'IOS' when 'W' then 'WEB' end`;
}

const variationBase = 48;
const localeBase = 64;

/** Encodes a variation for the ledger: the character code of its digit; 0 for none. */
export function variationCode(variant: Variant | null | undefined): number {
  return variant && variant.variation > 0 ? variationBase + variant.variation : 0;
}

/** Encodes a locale for the ledger: the character code of a letter, A for the first; 0 for none. */
export function localeCode(variant: Variant | null | undefined): number {
  return variant && variant.locale > 0 ? localeBase + variant.locale : 0;
}

/** Decodes the variation of a row to its number; null if there is only one. */
export function ledgerVariation(tx: Queryable): Fragment {
  return tx`deliveries.variation::integer - ${variationBase}::integer`;
}

/** Decodes the locale of a row to its number; null if there is only one. */
export function ledgerLocale(tx: Queryable): Fragment {
  return tx`deliveries.locale::integer - ${localeBase}::integer`;
}

/** A variant as a statement reads it, by number. */
export type LedgerVariant = { variation: number | null; locale: number | null };

/** Returns the content variant that a row's device got. */
export function variantOf(row: LedgerVariant): Variant | null {
  const { variation, locale } = row;
  return variation === null && locale === null ? null : { variation: variation ?? 0, locale: locale ?? 0 };
}

/** Decodes an outcome of the ledger. */
export function outcomeWord(tx: Queryable, column: Fragment): Fragment {
  return tx`case ${column} when 'A' then 'ACCEPTED' when 'G' then 'GONE' when 'R' then 'REJECTED'
    when 'E' then 'EXPIRED' when 'F' then 'FAILED' when 'H' then 'WITHHELD' when 'W' then 'WAITING' end`;
}

/** True for rows with this outcome; accepted rows have separate indexes. */
export function isOutcome(tx: Queryable, outcome: keyof typeof outcomeLetters): Fragment {
  return outcome === 'ACCEPTED'
    ? tx`outcome = 'A'`
    : tx`outcome <> 'A' and outcome = ${outcomeLetters[outcome]}::"char"`;
}

/**
 * Encodes a record id (domain/ids.ts) for the ledger: 12 bytes instead of 24 characters, because each row of the ledger
 * holds three ids and each entry of its key as many.
 */
export function idBytes(id: string): Buffer {
  return Buffer.from(id, 'hex');
}

/** Encodes several ids for a parameter that is cast to `bytea[]`. */
export function idBytesOf(ids: readonly string[]): string[] {
  return ids.map((id) => `\\x${id}`);
}

/**
 * Encodes several ids and concatenates them.
 *
 * @throws RangeError for an id of another length, which would shift all that follow
 */
export function joinIdBytes(ids: readonly string[]): Buffer {
  const bytes = Buffer.from(ids.join(''), 'hex');
  if (ids.some((id) => id.length !== 24) || bytes.length !== 12 * ids.length)
    throw new RangeError('not ids of the ledger');
  return bytes;
}

/**
 * Concatenates small numbers, one byte each.
 *
 * @throws RangeError for a number that does not fit in a byte
 */
export function joinSmallNumbers(numbers: readonly number[]): Buffer {
  const bytes = Buffer.from(numbers);
  if (numbers.some((number, place) => bytes[place] !== number)) throw new RangeError('not a byte');
  return bytes;
}

/** Decodes an id of the ledger to its text form in all other tables. */
export function idText(tx: Queryable, column: Fragment): Fragment {
  return tx`encode(${column}, 'hex') collate "C"`;
}

/**
 * Returns users as a set to join the ledger with. Their ids are passed as bytes: `decode` in the join would prevent the
 * use of an index, because PostgreSQL does not evaluate a function that might leak other rows before it has checked a
 * policy.
 */
export function givenInLedger(tx: Queryable, users: readonly UserKey[]): Fragment {
  return tx`
    unnest(${users.map(({ bucket }) => bucket)}::smallint[], ${idBytesOf(users.map(({ userId }) => userId))}::bytea[])
      as given (bucket, user_id)`;
}

/** Encodes a provider's message id for the ledger. */
export function packedOrNull(providerMessageId: string | null): Buffer | null {
  return providerMessageId === null ? null : packMessageId(providerMessageId);
}

/** Decodes a provider's message id of the ledger. */
export function unpackedOrNull(providerMessageId: Buffer | null): string | null {
  return providerMessageId === null ? null : unpackMessageId(providerMessageId);
}
