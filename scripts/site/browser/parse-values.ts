import type { Values } from './make-curl.ts';

const keyPrefixes = { cok_: 'oauthKey', cdk_: 'dataKey', cpk_: 'pushKey', cck_: 'campaignsKey' } as const;

/**
 * Finds a caller's values in pasted text: the lines that a start prints, its line of JSON, or `carillon status --env`. Keys are
 * recognized by their prefixes. Missing values stay unset.
 */
export function parseValues(text: string): Partial<Values> {
  const found: Partial<Values> = {};
  for (const [key] of text.matchAll(/\bc[odpc]k_[\w-]+/g)) {
    const name = keyPrefixes[key.slice(0, 4) as keyof typeof keyPrefixes];
    found[name] ??= key;
  }
  const [, workspaceId] = /(?:WORKSPACE_ID=|"workspaceId":\s*"|\bWorkspace\s+)([A-Za-z0-9]{16,})/.exec(text) ?? [];
  const [, dbName] = /(?:DB_NAME=|"dbName":\s*"|database name\s+)([\w-]+)/.exec(text) ?? [];
  if (workspaceId !== undefined) found.workspaceId = workspaceId;
  if (dbName !== undefined) found.dbName = dbName;
  return found;
}
