/** Drafts that the browser keeps for a workspace until they are saved. */
const kinds = ['campaign', 'filter'] as const;

type DraftOf = { kind: (typeof kinds)[number]; workspaceId: string; id: string };

const prefixOf = (kind: string) => `carillon.${kind}.`;

/** Returns the storage key of a draft. */
export function draftKey({ kind, workspaceId, id }: DraftOf): string {
  return `${prefixOf(kind)}${workspaceId}.${id}`;
}

/**
 * Deletes all drafts at sign-out, so that the next user of this browser cannot read them. An expired session keeps its
 * drafts.
 */
export function forgetDrafts(): void {
  const kept = Object.keys(localStorage).filter((key) => kinds.some((kind) => key.startsWith(prefixOf(kind))));
  for (const key of kept) localStorage.removeItem(key);
}
