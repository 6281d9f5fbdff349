import { packMessageId, unpackMessageId } from '../../domain/ledger/message-id.ts';
import type { UserKey } from '../../domain/users/bucket.ts';
import type { Fragment, Queryable } from '../database.ts';

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
