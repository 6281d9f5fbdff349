import type { Database } from '../../storage/pool.ts';
import { updateWorkspace } from '../../storage/sql/workspaces.ts';
import type { WorkspaceChanges } from '../../storage/sql/workspaces.ts';
import { WorkspaceRefusedError, requireTimeZone, requireWorkspaceName } from './create-workspace.ts';

/**
 * Changes what is given of a workspace. Campaigns that are on their way keep what they began with.
 *
 * @throws WorkspaceRefusedError
 */
export async function changeWorkspace(
  { database }: { database: Database },
  { id, ...changes }: WorkspaceChanges & { id: string },
): Promise<void> {
  if (changes.name !== undefined) requireWorkspaceName(changes.name);
  if (changes.timeZone !== undefined) requireTimeZone(changes.timeZone);
  if (!(await updateWorkspace(database, { id, ...changes })))
    throw new WorkspaceRefusedError(`There is no workspace ${id}.`);
}
