import type { Queryable } from '../pool.ts';

export type SealedToken = { sealed: Buffer; issuedAt: Date };

/** Locks the name of a token until the transaction ends, so that one node makes it and the others wait for it. */
export async function lockProviderToken(tx: Queryable, key: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`provider-token:${key}`}, 0))`;
}

/** Index: primary key. */
export async function findProviderToken(tx: Queryable, key: string): Promise<SealedToken | undefined> {
  const [row] = await tx<SealedToken[]>`
    select sealed, issued_at as "issuedAt" from provider_tokens where key = ${key}`;
  return row;
}

/** Index: primary key. */
export async function upsertProviderToken(tx: Queryable, token: SealedToken & { key: string }): Promise<void> {
  await tx`
    insert into provider_tokens (key, sealed, issued_at) values (${token.key}, ${token.sealed}, ${token.issuedAt})
    on conflict (key) do update set sealed = excluded.sealed, issued_at = excluded.issued_at`;
}

/** Drops tokens that no provider takes any more; keys that were replaced leave theirs behind. */
export async function deleteOldProviderTokens(tx: Queryable, issuedBefore: Date): Promise<number> {
  const rows = await tx`delete from provider_tokens where issued_at < ${issuedBefore}`;
  return rows.count;
}
