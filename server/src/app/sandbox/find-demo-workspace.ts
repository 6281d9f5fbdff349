import { createHash } from 'node:crypto';
import { hashSecret, makeSecret } from '../../domain/access/keys.ts';
import type { Random } from '../../domain/access/keys.ts';
import { encryptionContext } from '../../domain/crypto/encryption.ts';
import type { Encryption } from '../../domain/crypto/encryption.ts';
import type { Queryable } from '../../storage/database.ts';
import type { Installation } from '../../storage/installation/installation.ts';
import { findApiKeyBySecretHash } from '../../storage/keys/api-keys.ts';
import { findWorkspace } from '../../storage/workspaces.ts';
import { makeWorkspaceId } from '../workspaces.ts';

/** Null for a key that has been revoked or regenerated. */
export type ShownDemoKeys = { [Kind in keyof DemoKeys]: string | null };

export type DemoWorkspace = {
  workspaceId: string;
  dbName: string;
  /** Undefined for a demo without a stored seed. */
  keys: ShownDemoKeys | undefined;
};

/**
 * Returns the demo workspace with its keys, generated again from the seed: only their hashes are stored. In a sandbox it is
 * harmless to show them at each start, and a user who missed the first start still gets them.
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

/** The kinds of the demo's keys, in the order in which the seed creates them. */
export const demoKeyKinds = ['oauth', 'data', 'push', 'campaigns'] as const;

export type DemoKeys = { oauth: string; data: string; push: string; campaigns: string };

/** Repeatable bytes: SHA-256 of seed and counter. For the sandbox only. */
export function makeSeededRandom(seed: string): Random {
  let counter = 0;
  return (bytes) => {
    const blocks: Buffer[] = [];
    for (let length = 0; length < bytes; length += 32) {
      blocks.push(
        createHash('sha256')
          .update(`carillon-seed:${seed}:${(counter += 1)}`)
          .digest(),
      );
    }
    return Buffer.concat(blocks).subarray(0, bytes);
  };
}

/**
 * Returns the secrets of the demo's keys as its first start created them: the workspace's id, then an id and a secret per key.
 */
function replayDemoKeys(seed: string): DemoKeys {
  const random = makeSeededRandom(seed);
  makeWorkspaceId(random);
  const secrets = demoKeyKinds.map((kind) => {
    random(6);
    return [kind, makeSecret(kind, random)] as const;
  });
  return Object.fromEntries(secrets) as DemoKeys;
}
