import type { Queryable } from '../pool.ts';

export type AuditEntry = {
  id: string;
  /** Null: what concerns the whole installation. */
  workspaceId: string | null;
  at: Date;
  /** Null: the sandbox's start link, the command line. */
  actorId: string | null;
  actorName: string;
  /** `campaign.stop` */
  action: string;
  objectKind: string;
  objectId: string | null;
  objectName: string | null;
  detail: Record<string, unknown>;
};

export async function insertAuditEntry(tx: Queryable, entry: AuditEntry): Promise<void> {
  await tx`
    insert into audit_log
      (id, workspace_id, at, actor_id, actor_name, action, object_kind, object_id, object_name, detail)
    values (${entry.id}, ${entry.workspaceId}, ${entry.at}, ${entry.actorId}, ${entry.actorName}, ${entry.action},
      ${entry.objectKind}, ${entry.objectId}, ${entry.objectName}, ${tx.json(entry.detail as never)})`;
}

/**
 * Newest first: of a workspace and of the installation as a whole, older than `beforeId`. Index: primary key, or
 * audit_log_workspace.
 */
export async function listAuditEntries(
  tx: Queryable,
  page: { workspaceId: string; beforeId: string | undefined; limit: number },
): Promise<AuditEntry[]> {
  return tx<AuditEntry[]>`
    select id, workspace_id as "workspaceId", at, actor_id as "actorId", actor_name as "actorName", action,
      object_kind as "objectKind", object_id as "objectId", object_name as "objectName", detail
    from audit_log
    where (workspace_id = ${page.workspaceId} or workspace_id is null)
      and ${page.beforeId === undefined ? tx`true` : tx`id < ${page.beforeId}`}
    order by id desc
    limit ${page.limit}`;
}
