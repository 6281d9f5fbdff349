import type { Queryable } from '../pool.ts';

export type ProviderName = 'fcm' | 'apns' | 'webpush';

export type SealedCredential = { workspaceId: string; provider: ProviderName; sealed: Buffer; simulated: boolean };

/** Stores or replaces a workspace's credential of one provider. Index: primary key. */
export async function upsertProviderCredential(
  tx: Queryable,
  credential: SealedCredential & { summary: Record<string, string>; at: Date },
): Promise<void> {
  await tx`
    insert into provider_credentials (workspace_id, provider, sealed, summary, simulated, updated_at)
    values (${credential.workspaceId}, ${credential.provider}, ${credential.sealed},
      ${JSON.stringify(credential.summary)}::text::jsonb, ${credential.simulated}, ${credential.at})
    on conflict (workspace_id, provider) do update
      set sealed = excluded.sealed, summary = excluded.summary, simulated = excluded.simulated,
        updated_at = excluded.updated_at`;
}

export type StoredCredential = SealedCredential & { summary: Record<string, string>; updatedAt: Date };

/** A workspace's credentials, still sealed, with what may be shown of them. Index: primary key. */
export async function listProviderCredentials(tx: Queryable, workspaceId: string): Promise<StoredCredential[]> {
  return tx<StoredCredential[]>`
    select workspace_id as "workspaceId", provider, sealed, simulated, summary, updated_at as "updatedAt"
    from provider_credentials where workspace_id = ${workspaceId} order by provider`;
}

/** Removes a credential. Index: primary key. @returns whether there was one */
export async function deleteProviderCredential(
  tx: Queryable,
  { workspaceId, provider }: { workspaceId: string; provider: ProviderName },
): Promise<boolean> {
  const rows = await tx`
    delete from provider_credentials where workspace_id = ${workspaceId} and provider = ${provider} returning 1`;
  return rows.length === 1;
}

/** Every simulated credential of this installation; the simulators learn from it whom they serve. */
export async function listSimulatedCredentials(tx: Queryable): Promise<SealedCredential[]> {
  return tx<SealedCredential[]>`
    select workspace_id as "workspaceId", provider, sealed, simulated
    from provider_credentials where simulated order by workspace_id, provider`;
}
