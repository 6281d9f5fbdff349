import { StartError } from '../start/start-errors.ts';
import type { Database } from '../storage/database.ts';
import { findInstallation } from '../storage/installation/installation.ts';
import { findWorkspace } from '../storage/installation/workspaces.ts';

/** The workspace a command names, or the demo workspace. @throws StartError SETTING_INVALID */
export async function findWorkspaceToUse(database: Database, named: string | undefined): Promise<string> {
  const id = named ?? (await findInstallation(database))?.demoWorkspaceId ?? undefined;
  if (id === undefined)
    throw new StartError('SETTING_INVALID', 'Name the workspace with --workspace; there is no demo workspace here.');
  if (!(await findWorkspace(database, id))) throw new StartError('SETTING_INVALID', `There is no workspace ${id}.`);
  return id;
}
