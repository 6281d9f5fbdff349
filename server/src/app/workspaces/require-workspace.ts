import { ServiceError } from '../../domain/errors.ts';
import type { Queryable } from '../../storage/database.ts';
import { findWorkspace } from '../../storage/installation/workspaces.ts';
import type { Workspace } from '../../storage/installation/workspaces.ts';

/** The workspace named by a caller who may see all of them. @throws ServiceError NOT_FOUND */
export async function requireWorkspace(tx: Queryable, id: string): Promise<Workspace> {
  const workspace = await findWorkspace(tx, id);
  if (!workspace) throw new ServiceError('NOT_FOUND', { detail: 'no such workspace' });
  return workspace;
}
