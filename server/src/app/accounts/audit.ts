import { makeId } from '../../domain/ids.ts';
import type { Queryable } from '../../storage/database.ts';
import { insertAuditEntry } from '../../storage/accounts/accounts.ts';

/** Who does something in the console, and what the log calls them. */
export type Actor = { id: string | null; name: string };

export type Audited = {
  actor: Actor;
  /** Undefined: what concerns the whole installation. */
  workspaceId?: string;
  /** The object's kind and what was done: `campaign.stop`. */
  action: `${string}.${string}`;
  object?: { id: string; name?: string };
  /** What changed; never a secret. */
  detail?: Record<string, unknown>;
  at: Date;
};

/** Writes what was done into the audit log, in the transaction that does it: there is no change without its line. */
export async function audit(tx: Queryable, entry: Audited): Promise<void> {
  await insertAuditEntry(tx, {
    id: makeId(entry.at),
    workspaceId: entry.workspaceId ?? null,
    at: entry.at,
    actorId: entry.actor.id,
    actorName: entry.actor.name,
    action: entry.action,
    objectKind: entry.action.split('.', 1)[0]!,
    objectId: entry.object?.id ?? null,
    objectName: entry.object?.name ?? null,
    detail: entry.detail ?? {},
  });
}
