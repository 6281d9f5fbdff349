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

/**
 * Whether a key's secret itself, sent as a password, opens routes of a scope. That of an OAuth key never does (decision
 * D20): it is exchanged for tokens that expire, and would otherwise be a token without an end.
 */
export function opensAsPassword({ kind, scopes }: { kind: KeyKind; scopes: readonly string[] }, scope: Scope): boolean {
  return kind !== 'oauth' && scopes.includes(scope);
}
