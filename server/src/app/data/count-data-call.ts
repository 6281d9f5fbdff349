import type { LimitCount } from '../../storage/limits/limit-marks.ts';
import { countUses, peekUse } from './count-uses.ts';
import type { UseGrant } from './count-uses.ts';
import type { DataDependencies } from './data-dependencies.ts';
import { dataLimits } from './data-limits.ts';
import type { DataOperation, DataUse } from './data-limits.ts';

type Counting = Pick<DataDependencies, 'database' | 'clock' | 'limits'>;

/** Counts all that a request asks for, or nothing. */
export function countDataCall(
  deps: Counting,
  { workspaceId, uses }: { workspaceId: string; uses: DataUse[] },
): Promise<UseGrant> {
  return countUses(
    deps.database,
    uses.map((use) => toCount(deps, workspaceId, use)),
  );
}

/** How a limit stands, without counting anything. */
export function peekDataCall(
  deps: Counting,
  { workspaceId, operation }: { workspaceId: string; operation: DataOperation },
): Promise<UseGrant> {
  return peekUse(deps.database, toCount(deps, workspaceId, { operation, wanted: 0 }));
}

function toCount({ clock, limits }: Counting, workspaceId: string, { operation, wanted }: DataUse): LimitCount {
  return {
    operation,
    workspaceId,
    wanted,
    limit: limits?.[operation] ?? dataLimits[operation],
    windowSeconds: 60,
    at: clock.now(),
  };
}
