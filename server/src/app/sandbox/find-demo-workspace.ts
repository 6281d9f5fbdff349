import { encryptionContext } from '../../domain/encryption-context.ts';
import type { Encryption } from '../../domain/encryption.ts';
import { hashSecret } from '../../domain/tokens/secret.ts';
import type { Queryable } from '../../storage/database.ts';
import type { Installation } from '../../storage/installation/installation.ts';
import { findWorkspace } from '../../storage/installation/workspaces.ts';
import { findApiKeyBySecretHash } from '../../storage/keys/api-keys.ts';
import { demoKeyKinds, replayDemoKeys } from './demo-seed.ts';
import type { DemoKeys } from './demo-seed.ts';

/** Null in the place of a key that was revoked or made anew since. */
export type ShownDemoKeys = { [Kind in keyof DemoKeys]: string | null };

export type DemoWorkspace = {
  workspaceId: string;
  dbName: string;
  /** Undefined of a demo whose seed was not kept. */
  keys: ShownDemoKeys | undefined;
};

/**
 * The demo workspace with its keys, which the seed makes again: only hashes of them are stored. In a sandbox nothing is
 * lost by showing them at each start, and whoever missed the first has them.
 */
export async function findDemoWorkspace(
  tx: Queryable,
  { encryption, installation }: { encryption: Pick<Encryption, 'decrypt'>; installation: Installation | undefined },
): Promise<DemoWorkspace | undefined> {
  const workspaceId = installation?.demoWorkspaceId;
  if (!workspaceId) return undefined;
  const workspace = await findWorkspace(tx, workspaceId);
  if (!workspace) throw new Error(`the demo workspace ${workspaceId} is gone`);
  const { encryptedDemoSeed } = installation;
  const seed =
    encryptedDemoSeed && encryption.decrypt(encryptedDemoSeed, encryptionContext.demoSeed()).toString('utf8');
  const keys = seed === null ? undefined : await keepValid(tx, { workspaceId, keys: replayDemoKeys(seed) });
  return { workspaceId, dbName: workspace.dbName, keys };
}

async function keepValid(
  tx: Queryable,
  { workspaceId, keys }: { workspaceId: string; keys: DemoKeys },
): Promise<ShownDemoKeys> {
  const shown: ShownDemoKeys = { ...keys };
  for (const kind of demoKeyKinds) {
    const key = await findApiKeyBySecretHash(tx, { workspaceId, secretHash: hashSecret(keys[kind]) });
    if (!key || key.archivedAt !== null) shown[kind] = null;
  }
  return shown;
}
