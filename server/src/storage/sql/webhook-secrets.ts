import type { Queryable } from '../pool.ts';

/** The workspace's webhook secret, still sealed; undefined before its first callback. Index: workspaces primary key. */
export async function findWebhookSecret(tx: Queryable, workspaceId: string): Promise<Buffer | undefined> {
  const [row] = await tx<{ sealed: Buffer | null }[]>`
    select webhook_secret_sealed as sealed from workspaces where id = ${workspaceId}`;
  return row?.sealed ?? undefined;
}

/**
 * Stores a workspace's webhook secret unless it has one. Two nodes that make one at the same moment queue on the row,
 * and the first stands, so a receiver never has to know two. Index: workspaces primary key.
 *
 * @returns whether it was stored
 */
export async function storeWebhookSecret(
  tx: Queryable,
  secret: { workspaceId: string; sealed: Buffer },
): Promise<boolean> {
  const rows = await tx`
    update workspaces
    set webhook_secret_sealed = ${secret.sealed}
    where id = ${secret.workspaceId} and webhook_secret_sealed is null
    returning 1`;
  return rows.length === 1;
}
