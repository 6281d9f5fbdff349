import { lastIdAt } from '../../domain/ids.ts';
import type { Doorbell } from '../../engine/doorbell.ts';
import type { Database } from '../../storage/database.ts';
import { joinSendingCampaigns } from '../../storage/runs/joining-pushes.ts';
import type { JoiningPush } from '../../storage/runs/joining-pushes.ts';
import { toAccepted } from './store-pushes.ts';
import type { StoredPush, StorePush, PushToStore } from './store-pushes.ts';
import { makeWorkTogether, requestBatches } from './work-together.ts';

/**
 * Makes a function that stores one push with others that come at the same time. Those that join a campaign that is sending,
 * as one-time passwords do, need no decision between two statements, and are stored by one; whatever else there is, and those
 * whose campaign turned out to have ended or to be scheduled, goes the way of `store`.
 */
export function makeJoinOrStore({
  database,
  doorbell,
  store,
  onCommit,
}: {
  database: Database;
  doorbell: Pick<Doorbell, 'ring'>;
  store: StorePush;
  onCommit?: ((pushes: number) => void) | undefined;
}): StorePush {
  const join = makeWorkTogether<JoiningPush, boolean>(async (pushes) => {
    const joined = await joinSendingCampaigns(database, pushes);
    const areJoined = pushes.map(({ campaignId }) => joined.has(campaignId));
    if (joined.size > 0) {
      onCommit?.(areJoined.filter(Boolean).length);
      doorbell.ring();
    }
    return areJoined;
  }, requestBatches);

  return async (push): Promise<StoredPush> => {
    const joining = toJoiningPush(push);
    if (joining && (await join(joining))) return { kind: 'stored', accepted: toAccepted(push, []) };
    return store(push);
  };
}

function toJoiningPush(push: PushToStore): JoiningPush | undefined {
  // What belongs to a trace is stored in the way that notes it.
  if (push.traceparent !== undefined) return undefined;
  const { existing, targetUsers, command, runId, responseId, workspaceId, campaignId, at, sendUntil } = push;
  if (!existing || existing.hasEnded || !targetUsers || targetUsers.length === 0) return undefined;
  const { requestId, content } = command;
  const ids = { runId, responseId, requestId, workspaceId, campaignId };
  return { ...ids, targetUsers, content, audienceBound: lastIdAt(at), at, sendUntil };
}
