/** What of a workspace is written in the browser before it is saved. */
const kinds = ['campaign', 'filter'] as const;

type DraftOf = { kind: (typeof kinds)[number]; workspaceId: string; id: string };

const prefixOf = (kind: string) => `carillon.${kind}.`;

/** Under which name the browser keeps a draft. */
export function draftKey({ kind, workspaceId, id }: DraftOf): string {
  return `${prefixOf(kind)}${workspaceId}.${id}`;
}

/** For whoever signs out: the next person at this browser reads nothing of it. A session that merely ended keeps its drafts. */
export function forgetDrafts(): void {
  const kept = Object.keys(localStorage).filter((key) => kinds.some((kind) => key.startsWith(prefixOf(kind))));
  for (const key of kept) localStorage.removeItem(key);
}
