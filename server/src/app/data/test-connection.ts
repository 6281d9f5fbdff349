import { ServiceError } from '../../domain/errors.ts';
import type { Database } from '../../storage/database.ts';
import { findWorkspace } from '../../storage/installation/workspaces.ts';

export type TestConnectionQuery = {
  workspaceId: string;
  /** The data center the caller believes the workspace is in. */
  region: string | undefined;
};

/** The response to a caller with valid credentials. @throws ServiceError DATA_VALUE_INVALID for another region */
export async function testConnection(
  { database }: { database: Database },
  { workspaceId, region }: TestConnectionQuery,
): Promise<{ name: string }> {
  const workspace = await findWorkspace(database, workspaceId);
  if (region !== undefined && workspace!.dataCenter !== region)
    throw new ServiceError('DATA_VALUE_INVALID', { field: 'region', reason: 'is not the region of this workspace' });
  return { name: workspace!.name };
}
