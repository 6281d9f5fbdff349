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
  /** When the user acted, in real time (`clock.realNow()`): a moved sandbox clock does not reorder the log. */
  at: Date;
  /** The sandbox's time of a change to a user of a workspace, by which the user's timeline is ordered. */
  shownAt?: Date;
};

/** Writes what was done into the audit log, in the transaction that does it: there is no change without its line. */
export async function audit(tx: Queryable, entry: Audited): Promise<void> {
  await insertAuditEntry(tx, {
    id: makeId(entry.at),
    workspaceId: entry.workspaceId ?? null,
    at: entry.at,
    shownAt: entry.shownAt ?? null,
    actorId: entry.actor.id,
    actorName: entry.actor.name,
    action: entry.action,
    objectKind: entry.action.split('.', 1)[0]!,
    objectId: entry.object?.id ?? null,
    objectName: entry.object?.name ?? null,
    detail: entry.detail ?? {},
  });
}
