import { planTokenSecrets } from '../../domain/access/tokens.ts';
import type { TokenSecretDates } from '../../domain/access/tokens.ts';
import type { Queryable, Transaction } from '../database.ts';

export type StoredTokenSecret = TokenSecretDates & { encryptedSecret: Buffer };

/** Lists every secret, oldest first: five a year, and one more for each that was retired early. */
export async function listTokenSecrets(tx: Queryable): Promise<StoredTokenSecret[]> {
  return tx<StoredTokenSecret[]>`
    select number, secret_sealed as "encryptedSecret", created_at as "createdAt", succeeded_at as "succeededAt",
      retired_at as "retiredAt"
    from token_secrets order by number limit 65535`;
}

/** Returns the epoch that valid tokens have. 1 before an installation has its row. */
export async function readTokenEpoch(tx: Queryable): Promise<number> {
  const [row] = await tx<{ epoch: number }[]>`
    select coalesce(max(token_epoch), 1)::bigint as epoch from installation`;
  return row!.epoch;
}

/** True if the schema has an epoch: one that ends before migration 8 stores every token, and a backup holds none of them. */
export async function hasTokenEpoch(tx: Queryable): Promise<boolean> {
  const rows = await tx`
    select 1 from pg_attribute
    where attrelid = 'installation'::regclass and attname = 'token_epoch' and not attisdropped`;
  return rows.length > 0;
}

/**
 * Ends every token that was issued so far. The epoch is at least the time in seconds, so that two restores of one backup never
 * get the same one. Locks the row of the installation.
 *
 * @returns the new epoch; undefined if there is no installation yet
 */
export async function raiseTokenEpoch(tx: Queryable, { at }: { at: Date }): Promise<number | undefined> {
  const [row] = await tx<{ epoch: number }[]>`
    update installation set token_epoch = greatest(token_epoch + 1, ${Math.floor(at.getTime() / 1000)}::bigint)
    returning token_epoch as epoch`;
  return row?.epoch;
}

/**
 * Makes a secret issue from now on. Of two callers that choose the same number, one succeeds: the primary key decides.
 *
 * @returns whether this call added it
 */
export async function addTokenSecret(
  tx: Transaction,
  { number, encryptedSecret, at }: { number: number; encryptedSecret: Buffer; at: Date },
): Promise<boolean> {
  const rows = await tx`
    insert into token_secrets (number, secret_sealed, created_at) values (${number}, ${encryptedSecret}, ${at})
    on conflict (number) do nothing
    returning 1`;
  if (rows.length === 0) return false;
  await tx`update token_secrets set succeeded_at = ${at} where number < ${number} and succeeded_at is null`;
  return true;
}

/** Retires secrets, so that no token under them is valid. They stay, to recognise expired tokens. @returns how many */
export async function retireTokenSecrets(
  tx: Queryable,
  { numbers, at }: { numbers: readonly number[]; at: Date },
): Promise<number> {
  const rows = await tx`
    update token_secrets set retired_at = ${at}, succeeded_at = coalesce(succeeded_at, ${at}::timestamptz)
    where number = any(${[...numbers]}::int[]) and retired_at is null`;
  return rows.count;
}

export type TurnedSecrets = { retired: number[]; added: number | undefined };

/**
 * Retires the secrets that are due and adds one if none issues or the issuing one is old (`planTokenSecrets`). May run on several
 * nodes at once.
 *
 * @param encryptNew returns a new secret of this number, encrypted
 */
export async function turnTokenSecrets(
  tx: Transaction,
  { planAt, at, encryptNew }: { planAt: Date; at: Date; encryptNew: (number: number) => Buffer },
): Promise<TurnedSecrets> {
  const secrets = await listTokenSecrets(tx);
  const { retire, isNewDue } = planTokenSecrets(secrets, planAt);
  if (retire.length > 0) await retireTokenSecrets(tx, { numbers: retire, at });
  if (!isNewDue) return { retired: retire, added: undefined };
  const number = nextSecretNumber(secrets);
  const isAdded = await addTokenSecret(tx, { number, encryptedSecret: encryptNew(number), at });
  return { retired: retire, added: isAdded ? number : undefined };
}

/** Numbers are not used again, so a token never names another secret than the one that signed it. */
export function nextSecretNumber(secrets: readonly Pick<TokenSecretDates, 'number'>[]): number {
  return Math.max(0, ...secrets.map(({ number }) => number)) + 1;
}
