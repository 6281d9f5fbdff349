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

/** A workspace's credentials, still sealed. Index: primary key. */
export async function listProviderCredentials(tx: Queryable, workspaceId: string): Promise<SealedCredential[]> {
  return tx<SealedCredential[]>`
    select workspace_id as "workspaceId", provider, sealed, simulated
    from provider_credentials where workspace_id = ${workspaceId} order by provider`;
}

/** Every simulated credential of this installation; the simulators learn from it whom they serve. */
export async function listSimulatedCredentials(tx: Queryable): Promise<SealedCredential[]> {
  return tx<SealedCredential[]>`
    select workspace_id as "workspaceId", provider, sealed, simulated
    from provider_credentials where simulated order by workspace_id, provider`;
}
