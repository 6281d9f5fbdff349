import type { KeyKind } from './key-kinds.ts';

/** What a key may cover: the check boxes of the key form (fact 1). */
export const scopes = [
  'data',
  'segmentation',
  'push',
  'campaign',
  'offering',
  'decision-policy',
  'inform',
  'dashboard-analyze',
] as const;

export type Scope = (typeof scopes)[number];

/** Scopes of a new key that lists none. OAuth keys get every scope that this server has routes for. */
export const defaultScopes: Record<KeyKind, readonly Scope[]> = {
  oauth: ['data', 'segmentation', 'push', 'campaign'],
  data: ['data', 'segmentation'],
  push: ['push'],
  campaigns: ['campaign'],
};
