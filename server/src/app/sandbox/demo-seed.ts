import { createHash } from 'node:crypto';
import { makeSecret } from '../../domain/tokens/secret.ts';
import type { Random } from '../../domain/tokens/secret.ts';
import { makeWorkspaceId } from '../workspaces/create-workspace.ts';

/** The kinds of the demo's keys, in the order in which the seed makes them. */
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

/** The secrets of the demo's keys, as its first start made them: the workspace's id, then an id and a secret a key. */
export function replayDemoKeys(seed: string): DemoKeys {
  const random = makeSeededRandom(seed);
  makeWorkspaceId(random);
  const secrets = demoKeyKinds.map((kind) => {
    random(6);
    return [kind, makeSecret(kind, random)] as const;
  });
  return Object.fromEntries(secrets) as DemoKeys;
}
