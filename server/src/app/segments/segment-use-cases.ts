import { authenticateKey } from '../keys/authenticate-key.ts';
import type { KeyAuthentication } from '../keys/authenticate-key.ts';
import { findWorkspace } from '../../storage/installation/workspaces.ts';
import { archiveNamedSegment, unarchiveNamedSegment } from './archive-segments.ts';
import { makeFilterSegments } from './filter-segments.ts';
import { requestFileOperation } from './request-file-operation.ts';
import type { AcceptedOperation, FileOperationCommand } from './request-file-operation.ts';
import { documentedSegmentLimits } from './segment-dependencies.ts';
import type { Once, SegmentCaller, SegmentDependencies, SegmentLimits } from './segment-dependencies.ts';
import { syncCohort } from './sync-cohort.ts';

/** The segment use cases with their dependencies bound. */
export function makeSegmentUseCases(bound: Omit<SegmentDependencies, 'limits'> & { limits?: Partial<SegmentLimits> }) {
  const deps: SegmentDependencies = { ...bound, limits: { ...documentedSegmentLimits, ...bound.limits } };
  const { database, clock } = deps;
  return {
    authenticate: (presented: {
      workspaceId: string;
      secret: string;
      dataCenter: string | undefined;
    }): Promise<KeyAuthentication> => authenticateKey({ database }, { ...presented, at: clock.now() }),
    /** Whether the headers of a call name the workspace of its credentials. */
    async isWorkspaceNamed(
      workspaceId: string,
      named: { dbName: string | undefined; appKey: string | undefined },
    ): Promise<boolean> {
      if (named.appKey !== undefined && named.appKey !== workspaceId) return false;
      if (named.dbName === undefined) return true;
      return (await findWorkspace(database, workspaceId))?.dbName === named.dbName;
    },
    requestFileOperation: (
      request: SegmentCaller & Once & { command: FileOperationCommand },
    ): Promise<AcceptedOperation> => requestFileOperation(deps, request),
    archive: (named: Parameters<typeof archiveNamedSegment>[1]) => archiveNamedSegment(deps, named),
    unarchive: (named: Parameters<typeof unarchiveNamedSegment>[1]) => unarchiveNamedSegment(deps, named),
    filters: makeFilterSegments(deps),
    syncCohort: (command: Parameters<typeof syncCohort>[1]) => syncCohort(deps, command),
  };
}

export type SegmentUseCases = ReturnType<typeof makeSegmentUseCases>;
