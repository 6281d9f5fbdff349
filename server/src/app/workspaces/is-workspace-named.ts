import { findWorkspace } from '../../storage/installation/workspaces.ts';
import type { Queryable } from '../../storage/database.ts';

export type WorkspaceNames = { workspaceId: string; dbName: string | undefined; appKey: string | undefined };

/** Whether what the headers of a call name is the workspace of its credentials. */
export async function isWorkspaceNamed(
  { database }: { database: Queryable },
  { workspaceId, dbName, appKey }: WorkspaceNames,
): Promise<boolean> {
  if (appKey !== undefined && appKey !== workspaceId) return false;
  if (dbName === undefined) return true;
  return (await findWorkspace(database, workspaceId))?.dbName === dbName;
}
