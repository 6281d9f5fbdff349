import type { PushCommand } from '../../domain/campaign/push-command.ts';
import { lastIdAt } from '../../domain/ids.ts';
import { enqueueFanOut } from '../../engine/enqueue.ts';
import type { Transaction } from '../../storage/pool.ts';
import { takeCampaignNames } from '../../storage/sql/campaign-names.ts';
import { insertSendingCampaigns, resumeCampaigns } from '../../storage/sql/campaigns.ts';
import type { StoredCampaign } from '../../storage/sql/campaigns.ts';
import { insertPushRequests } from '../../storage/sql/push-requests.ts';
import { insertQueuedRuns, insertTargetedRuns } from '../../storage/sql/runs.ts';
import type { AcceptedPush } from './accept-push.ts';

export type PushToStore = {
  responseId: string;
  workspaceId: string;
  name: string;
  signedBy: string;
  command: PushCommand;
  /** Audience `Custom Segment`. */
  segmentId: string | undefined;
  /** Audience `User`; undefined for the others. */
  targetUsers: [bucket: number, userId: string][] | undefined;
  /** The campaign to join; undefined makes a new one. */
  existing: StoredCampaign | undefined;
  campaignId: string;
  runId: string;
  at: Date;
  sendUntil: Date;
};

export type StoredPush = { kind: 'stored'; accepted: AcceptedPush } | { kind: 'name-taken' };

/**
 * Stores accepted pushes in the caller's transaction, each kind of row in one statement: names first (they decide who
 * exists), then campaigns, runs, requests, and one wake-up for the workers.
 */
export async function storePushes(tx: Transaction, pushes: PushToStore[]): Promise<StoredPush[]> {
  const created = pushes.filter((push) => !push.existing);
  const taken = await takeCampaignNames(tx, created);
  const stored = pushes.filter((push) => push.existing || taken.has(push.campaignId));
  await insertSendingCampaigns(
    tx,
    stored.filter((push) => !push.existing).map((push) => toCampaign(push)),
  );
  const joined = stored.filter((push) => push.existing).map((push) => push.campaignId);
  const [newest] = stored.slice(-1);
  if (newest) await resumeCampaigns(tx, { ids: [...new Set(joined)], at: newest.at });
  await insertQueuedRuns(
    tx,
    stored.filter((push) => !push.targetUsers).map((push) => toRun(push)),
  );
  await insertTargetedRuns(
    tx,
    stored.flatMap((push) => (push.targetUsers ? [{ ...toRun(push), ...toTarget(push, push.targetUsers) }] : [])),
  );
  await insertPushRequests(
    tx,
    stored.map((push) => ({
      ...toRun(push),
      responseId: push.responseId,
      requestId: push.command.requestId,
      runId: push.runId,
      receivedAt: push.at,
    })),
  );
  if (stored.length > 0) await enqueueFanOut(tx);
  const storedPushes = new Set(stored);
  return pushes.map((push) =>
    storedPushes.has(push) ? { kind: 'stored', accepted: toAccepted(push) } : { kind: 'name-taken' },
  );
}

function toCampaign(push: PushToStore) {
  const { command } = push;
  return {
    id: push.campaignId,
    workspaceId: push.workspaceId,
    name: push.name,
    audience: audienceOf(push),
    segmentId: push.segmentId ?? null,
    platforms: command.platforms,
    content: command.content,
    timing: command.timing,
    tags: command.tags,
    conversionGoals: command.conversionGoals,
    settings: command.settings,
    createdBy: push.signedBy,
    createdAt: push.at,
  };
}

function audienceOf(push: PushToStore): 'ALL_USERS' | 'SEGMENT' | 'USER' {
  if (push.targetUsers) return 'USER';
  return push.segmentId === undefined ? 'ALL_USERS' : 'SEGMENT';
}

function toRun(push: PushToStore) {
  const { runId: id, workspaceId, campaignId, at, sendUntil } = push;
  return { id, workspaceId, campaignId, at, sendUntil };
}

function toTarget(push: PushToStore, targetUsers: [number, string][]) {
  return { targetUsers, content: push.existing ? push.command.content : undefined, audienceBound: lastIdAt(push.at) };
}

function toAccepted(push: PushToStore): AcceptedPush {
  return { campaignId: push.campaignId, requestId: push.command.requestId, responseId: push.responseId };
}
