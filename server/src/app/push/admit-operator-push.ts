import type { Clock } from '../../clock.ts';
import { ServiceError } from '../../domain/errors.ts';
import { pushRequestsPerMinute } from '../../domain/push/limits.ts';
import { listApps } from '../../storage/apps/apps.ts';
import { findCampaignByName } from '../../storage/campaigns/campaigns.ts';
import type { Database } from '../../storage/database.ts';
import { requireWorkspace } from '../workspaces/require-workspace.ts';
import type { PushOfWorkspace } from './admit-push.ts';
import { checkPushName, findJoined } from './check-push-name.ts';
import { makeCountPushRequest } from './count-push-request.ts';

export type OperatorPush = {
  workspaceId: string;
  campaignName: string | undefined;
  /** `targetAudience` as sent. */
  audience: unknown;
  /** The campaign's `created_by`. */
  by: string;
  /** What is only looked at does not count against the limit of the workspace. */
  purpose: 'send' | 'look';
};

/**
 * The checks of makeAdmitPush for whoever holds the installation itself: nothing is signed, every other refusal is the same.
 *
 * @throws ServiceError PUSH_NAME_MISSING, PUSH_NAME_TOO_SHORT, PUSH_RATE_LIMITED, PUSH_NAME_DUPLICATE
 */
export async function admitOperatorPush(
  deps: { database: Database; clock: Clock },
  { workspaceId, campaignName, audience, by, purpose }: OperatorPush,
): Promise<PushOfWorkspace> {
  const workspace = await requireWorkspace(deps.database, workspaceId);
  const name = checkPushName(campaignName);
  if (purpose === 'send') {
    const { granted, retryAfterSeconds } = await makeCountPushRequest({
      ...deps,
      requestsPerMinute: pushRequestsPerMinute,
    })(workspaceId);
    if (granted === 0) throw new ServiceError('PUSH_RATE_LIMITED', { retryAfterSeconds });
  }
  const existing = await findCampaignByName(deps.database, { workspaceId, name });
  const joined = findJoined(existing, { audience, bodies: workspace.pushBodies });
  if (existing && !joined) throw new ServiceError('PUSH_NAME_DUPLICATE');
  const apps = await listApps(deps.database, workspaceId);
  return { workspace, apps, name, signedBy: by, existing: joined };
}
