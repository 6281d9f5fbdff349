import type { ProviderName } from '../../domain/delivery/providers.ts';
import type { Fragment, Queryable } from '../database.ts';

export type EncryptedCredential = {
  workspaceId: string;
  provider: ProviderName;
  appId: string;
  encrypted: Buffer;
  simulated: boolean;
};

/** Stores or replaces the credential of one app at its provider. Index: primary key. */
export async function upsertProviderCredential(
  tx: Queryable,
  credential: EncryptedCredential & { summary: Record<string, string>; at: Date },
): Promise<void> {
  await tx`
    insert into provider_credentials (workspace_id, provider, app_id, sealed, summary, simulated, updated_at)
    values (${credential.workspaceId}, ${credential.provider}, ${credential.appId}, ${credential.encrypted},
      ${JSON.stringify(credential.summary)}::text::jsonb, ${credential.simulated}, ${credential.at})
    on conflict (workspace_id, provider, app_id) do update
      set sealed = excluded.sealed, summary = excluded.summary, simulated = excluded.simulated,
        updated_at = excluded.updated_at, checked_at = null, check_verdict = null, check_words = null`;
}

export type CheckVerdict = 'ACCEPTED' | 'REFUSED' | 'UNKNOWN';

/** The provider's response to the last check; all three are null when there was none. */
export type StoredCheck = { checkedAt: Date | null; checkVerdict: CheckVerdict | null; checkWords: string | null };

export type StoredCredential = EncryptedCredential &
  StoredCheck & {
    summary: Record<string, string>;
    updatedAt: Date;
    /** Changes with any credential of the provider in the workspace. */
    version: string;
  };

/** A version that changes when credentials of a provider are replaced. An aggregate; a window function with `window`. */
export const credentialsVersion = (tx: Queryable, window: Fragment): Fragment =>
  tx`count(*) ${window} || ' ' || extract(epoch from max(updated_at) ${window})`;

export type VersionedCredential = EncryptedCredential & Pick<StoredCredential, 'version'>;

/** Lists the credentials of several workspaces, still encrypted. Index: primary key. */
export async function listCredentialsOfWorkspaces(
  tx: Queryable,
  workspaceIds: readonly string[],
): Promise<VersionedCredential[]> {
  return tx<VersionedCredential[]>`
    select workspace_id as "workspaceId", provider, app_id as "appId", sealed as encrypted, simulated,
      ${credentialsVersion(tx, tx`over (partition by workspace_id, provider)`)} as version
    from provider_credentials where workspace_id = any (${[...workspaceIds]}::text[])
    order by workspace_id, provider, app_id`;
}

/** Lists a workspace's credentials, still encrypted, with a summary that may be shown. Index: primary key. */
export async function listProviderCredentials(tx: Queryable, workspaceId: string): Promise<StoredCredential[]> {
  return tx<StoredCredential[]>`
    select workspace_id as "workspaceId", provider, app_id as "appId", sealed as encrypted, simulated, summary, updated_at as "updatedAt",
      checked_at as "checkedAt", check_verdict as "checkVerdict", check_words as "checkWords",
      ${credentialsVersion(tx, tx`over (partition by provider)`)} as version
    from provider_credentials where workspace_id = ${workspaceId} order by provider, app_id`;
}

/**
 * Stores the result of a check, unless the credential was replaced since: the result does not apply to the new one.
 * Index: primary key.
 */
export async function noteCredentialCheck(
  tx: Queryable,
  check: {
    workspaceId: string;
    provider: ProviderName;
    appId: string;
    /** Of the credential that was checked. */
    updatedAt: Date;
    verdict: CheckVerdict;
    words: string;
    at: Date;
  },
): Promise<void> {
  await tx`
    update provider_credentials
    set checked_at = ${check.at}, check_verdict = ${check.verdict}, check_words = ${check.words}
    where workspace_id = ${check.workspaceId} and provider = ${check.provider} and app_id = ${check.appId}
      and date_trunc('milliseconds', updated_at) = ${check.updatedAt}`;
}

/** Removes a credential. Index: primary key. @returns whether there was one */
export async function deleteProviderCredential(
  tx: Queryable,
  { workspaceId, provider, appId }: { workspaceId: string; provider: ProviderName; appId: string },
): Promise<boolean> {
  const rows = await tx`
    delete from provider_credentials
    where workspace_id = ${workspaceId} and provider = ${provider} and app_id = ${appId} returning 1`;
  return rows.length === 1;
}

/** Lists every simulated credential of this installation; the simulators read from it which workspaces they serve. */
export async function listSimulatedCredentials(tx: Queryable): Promise<EncryptedCredential[]> {
  return tx<EncryptedCredential[]>`
    select workspace_id as "workspaceId", provider, app_id as "appId", sealed as encrypted, simulated
    from provider_credentials where simulated order by workspace_id, provider, app_id`;
}

export type EncryptedToken = { encrypted: Buffer; issuedAt: Date };

/** Locks the name of a token until the transaction ends, so that one node creates it and the others wait for it. */
export async function lockProviderToken(tx: Queryable, key: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`provider-token:${key}`}, 0))`;
}

/** Index: primary key. */
export async function findProviderToken(tx: Queryable, key: string): Promise<EncryptedToken | undefined> {
  const [row] = await tx<EncryptedToken[]>`
    select sealed as encrypted, issued_at as "issuedAt" from provider_tokens where key = ${key}`;
  return row;
}

/** Index: primary key. */
export async function upsertProviderToken(tx: Queryable, token: EncryptedToken & { key: string }): Promise<void> {
  await tx`
    insert into provider_tokens (key, sealed, issued_at) values (${token.key}, ${token.encrypted}, ${token.issuedAt})
    on conflict (key) do update set sealed = excluded.sealed, issued_at = excluded.issued_at`;
}

/** Deletes tokens that no provider accepts any more; replaced keys leave theirs behind. */
export async function deleteOldProviderTokens(tx: Queryable, issuedBefore: Date): Promise<number> {
  const rows = await tx`delete from provider_tokens where issued_at < ${issuedBefore}`;
  return rows.count;
}
