import type { Platform } from '../../domain/content/content.ts';
import type { Variant } from '../../domain/experiments/variants.ts';
import { packMessageId, unpackMessageId } from '../../domain/ids.ts';
import type { UserKey } from '../../domain/users/users.ts';
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

/**
 * A record id (domain/ids.ts) as the ledger has it: its 12 bytes instead of their 24 characters, because a row of the
 * ledger holds three of them and an entry of its key as many.
 */
export function idBytes(id: string): Buffer {
  return Buffer.from(id, 'hex');
}

/** Many of them, for a parameter that is cast to `bytea[]`. */
export function idBytesOf(ids: readonly string[]): string[] {
  return ids.map((id) => `\\x${id}`);
}

/** Many of them one behind the other. @throws RangeError for one of another length, which would move all behind it */
export function joinIdBytes(ids: readonly string[]): Buffer {
  const bytes = Buffer.from(ids.join(''), 'hex');
  if (ids.some((id) => id.length !== 24) || bytes.length !== 12 * ids.length)
    throw new RangeError('not ids of the ledger');
  return bytes;
}

/** Small numbers one behind the other, a byte each. @throws RangeError for one that is no byte */
export function joinSmallNumbers(numbers: readonly number[]): Buffer {
  const bytes = Buffer.from(numbers);
  if (numbers.some((number, place) => bytes[place] !== number)) throw new RangeError('not a byte');
  return bytes;
}

/** An id of the ledger as all other tables have it. */
export function idText(tx: Queryable, column: Fragment): Fragment {
  return tx`encode(${column}, 'hex') collate "C"`;
}

/**
 * Users as a set to join the ledger with. Their ids come as bytes: `decode` in the join would keep it from an index, since
 * PostgreSQL lets no function that might tell of other rows look before a policy has.
 */
export function givenInLedger(tx: Queryable, users: readonly UserKey[]): Fragment {
  return tx`
    unnest(${users.map(({ bucket }) => bucket)}::smallint[], ${idBytesOf(users.map(({ userId }) => userId))}::bytea[])
      as given (bucket, user_id)`;
}

/** A provider's id of a message as the ledger has it. */
export function packedOrNull(providerMessageId: string | null): Buffer | null {
  return providerMessageId === null ? null : packMessageId(providerMessageId);
}

/** And back. */
export function unpackedOrNull(providerMessageId: Buffer | null): string | null {
  return providerMessageId === null ? null : unpackMessageId(providerMessageId);
}
