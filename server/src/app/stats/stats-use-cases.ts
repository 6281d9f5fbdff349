import type { Clock } from '../../clock.ts';
import type { Database } from '../../storage/pool.ts';
import { countWithinLimit } from '../../storage/limits/limit-windows.ts';
import type { LimitGrant } from '../../storage/limits/limit-windows.ts';
import { authenticateKey } from '../keys/authenticate-key.ts';
import type { KeyAuthentication } from '../keys/authenticate-key.ts';
import { readCampaignStats } from './read-campaign-stats.ts';
import type { CampaignStatsRequest } from './read-campaign-stats.ts';
import { statsRequestsPerMinute } from '../../domain/stats/limits.ts';

/** The statistics with their dependencies bound. */
export function makeStatsUseCases(deps: { database: Database; clock: Clock; requestsPerMinute?: number }) {
  const { database, clock } = deps;
  const limit = deps.requestsPerMinute ?? statsRequestsPerMinute;
  return {
    authenticate: (presented: {
      workspaceId: string;
      secret: string;
      dataCenter: string | undefined;
    }): Promise<KeyAuthentication> => authenticateKey({ database }, { ...presented, at: clock.now() }),
    count: (workspaceId: string): Promise<LimitGrant> =>
      database.begin((tx) =>
        countWithinLimit(tx, {
          operation: 'campaign-stats',
          workspaceId,
          wanted: 1,
          limit,
          windowSeconds: 60,
          at: clock.now(),
        }),
      ) as Promise<LimitGrant>,
    read: (request: CampaignStatsRequest) => readCampaignStats(deps, request),
  };
}

export type StatsUseCases = ReturnType<typeof makeStatsUseCases>;
