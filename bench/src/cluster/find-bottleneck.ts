import type { Use } from './watch-use.ts';

export type Bottleneck = { name: string; share: number; remedy: string; cause: 'saturated' | 'waiting' | 'nothing' };

/** From this share on, more of any other resource does not help. */
const saturatedShare = 0.85;

/**
 * Returns what limited the campaign: the saturated resource, else the windows if all were open and waiting for responses.
 * Otherwise nothing did, because there was too little work.
 */
export function findBottleneck(uses: Use[]): Bottleneck {
  const greatest = (kind: Use['kind']): Use | undefined =>
    uses
      .filter((use) => use.kind === kind)
      .reduce<Use | undefined>((one, other) => (one && one.share >= other.share ? one : other), undefined);
  const resource = greatest('resource');
  if (resource && resource.share >= saturatedShare) return { ...pick(resource), cause: 'saturated' };
  const slots = greatest('slots');
  if (slots && slots.share >= saturatedShare) return { ...pick(slots), cause: 'waiting' };
  return { ...pick(resource ?? slots!), cause: 'nothing' };
}

function pick({ name, share, remedy }: Use): Omit<Bottleneck, 'cause'> {
  return { name, share, remedy };
}
