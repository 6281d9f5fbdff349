import type { CampaignStatus } from '../../domain/campaigns/campaign.ts';
import { isPerhapsStored } from '../../domain/database-faults.ts';
import { lastIdAt } from '../../domain/ids.ts';
import type { UserSelector, PushCommand } from '../../domain/push.ts';
import { nextOccurrences } from '../../domain/timing/occurrences.ts';
import { unknownCase } from '../../domain/unknown-case.ts';
import type { Doorbell } from '../../engine/doorbell.ts';
import {
  insertCampaigns,
  insertPushRequests,
  joinCampaigns,
  takeCampaignNames,
  joinSendingCampaigns,
} from '../../storage/campaigns/campaigns.ts';
import type { NewCampaign, StoredCampaign, JoiningPush } from '../../storage/campaigns/campaigns.ts';
import type { Transaction, Database } from '../../storage/database.ts';
import type { NamedChunk, OwnRuns } from '../../storage/runs/named-runs.ts';
import type { StoredClaim } from '../../storage/runs/runs.ts';
import { endFinishedCampaigns } from '../../storage/runs/run-states.ts';
import { noteTraceparents, insertQueuedRuns, insertTargetedRuns, insertWaitingRuns } from '../../storage/runs/runs.ts';
import { makeGroupCommit, requestBatches } from '../group-commit.ts';

/** The response to the caller, once the request is durably stored. */
export type AcceptedPush = {
  campaignId: string;
  requestId: string;
  responseId: string;
  /** The next occurrences of a scheduled push, at most three, in UTC. */
  nextSends: string[];
};

export type PushToStore = {
  responseId: string;
  workspaceId: string;
  name: string;
  signedBy: string;
  command: PushCommand;
  /** Audience `Custom Segment`. */
  segmentId: string | undefined;
  /** Audience `User`, resolved now; undefined for other audiences. A scheduled push is resolved again when it is sent. */
  targetUsers: [bucket: number, userId: string][] | undefined;
  /** The campaign to join; undefined creates a new one. */
  existing: StoredCampaign | undefined;
  campaignId: string;
  runId: string;
  /** The trace of the push, if it is sampled. */
  traceparent?: string | undefined;
  at: Date;
  sendUntil: Date;
  /** The claim of this node, if it sends the push as soon as it is stored. */
  claim?: StoredClaim | undefined;
};

export type StoredPush =
  | { kind: 'stored'; accepted: AcceptedPush }
  | { kind: 'name-taken' }
  /** The campaign to join no longer sends, or does not send now. */
  | { kind: 'not-joinable'; status: CampaignStatus };

export type StorePush = (push: PushToStore) => Promise<StoredPush>;

/**
 * What happens to a push: it is sent immediately, is scheduled, waits for the schedule of the campaign it joins, or
 * fails.
 */
type Outcome =
  | { kind: 'send'; push: PushToStore }
  | { kind: 'schedule'; push: PushToStore; occurrences: Date[] }
  | { kind: 'wait'; push: PushToStore; dueAt: Date }
  | { kind: 'refused'; stored: StoredPush };

// As many as the response lists.
const nextSends = 3;

/**
 * Stores accepted pushes in the caller's transaction, each kind of row in one statement: names first (they decide which
 * campaigns exist), then campaigns, runs and requests. The caller wakes the workers after the commit.
 */
export async function storePushes(tx: Transaction, pushes: PushToStore[]): Promise<StoredPush[]> {
  const outcomes = await decideOutcomes(tx, pushes);
  const isNew = ({ push }: { push: PushToStore }) => !push.existing;
  const sent = outcomes.filter((outcome) => outcome.kind === 'send');
  const scheduled = outcomes.filter((outcome) => outcome.kind === 'schedule');
  const waiting = outcomes.filter((outcome) => outcome.kind === 'wait');
  await insertCampaigns(tx, [...sent.filter(isNew), ...scheduled].map(toCampaign));
  await storeRuns(
    tx,
    sent.map(({ push }) => push),
  );
  await insertWaitingRuns(
    tx,
    waiting.map(({ push, dueAt }) => ({
      ...toRun(push),
      dueAt,
      targetSelector: selectorOf(push)!,
      content: push.command.content,
    })),
  );
  await noteTraceparents(
    tx,
    [...sent, ...waiting].map(({ push }) => push),
  );
  await insertPushRequests(
    tx,
    [...sent, ...scheduled, ...waiting].map(({ kind, push }) => ({
      responseId: push.responseId,
      workspaceId: push.workspaceId,
      requestId: push.command.requestId,
      campaignId: push.campaignId,
      runId: kind === 'schedule' ? null : push.runId,
      receivedAt: push.at,
    })),
  );
  return outcomes.map(toStored);
}

async function decideOutcomes(tx: Transaction, pushes: PushToStore[]): Promise<Outcome[]> {
  const taken = await takeCampaignNames(
    tx,
    pushes.filter((push) => !push.existing),
  );
  const joining = pushes.filter((push) => push.existing);
  const idsOf = (some: PushToStore[]): string[] => [...new Set(some.map((push) => push.campaignId))];
  const endedIds = idsOf(joining.filter((push) => push.existing!.hasEnded));
  const newest = pushes.at(-1);
  const joined = newest ? await joinCampaigns(tx, { ids: idsOf(joining), endedIds, at: newest.at }) : [];
  const joinedById = new Map(joined.map((campaign) => [campaign.id, campaign]));
  return pushes.map((push): Outcome => {
    if (!push.existing) {
      if (!taken.has(push.campaignId)) return { kind: 'refused', stored: { kind: 'name-taken' } };
      const occurrences = nextOccurrences(push.command.timing, { after: push.at, count: nextSends });
      return occurrences.length === 0 ? { kind: 'send', push } : { kind: 'schedule', push, occurrences };
    }
    const { status, nextAt } = joinedById.get(push.campaignId)!;
    if (status === 'SENDING') return { kind: 'send', push };
    // Stored data wins (decision D33), and so does the stored schedule.
    if ((status === 'SCHEDULED' || status === 'ACTIVE') && nextAt) return { kind: 'wait', push, dueAt: nextAt };
    return { kind: 'refused', stored: { kind: 'not-joinable', status } };
  });
}

async function storeRuns(tx: Transaction, pushes: PushToStore[]): Promise<void> {
  await insertQueuedRuns(
    tx,
    pushes.filter((push) => !push.targetUsers).map((push) => toRun(push)),
  );
  await insertTargetedRuns(
    tx,
    pushes.flatMap((push) => (push.targetUsers ? [{ ...toRun(push), ...toTarget(push, push.targetUsers) }] : [])),
  );
  // A run without recipients has already ended; no worker will end its campaign later.
  const [toNobody, newest] = [pushes.filter((push) => push.targetUsers?.length === 0), pushes.at(-1)];
  if (toNobody.length === 0 || !newest) return;
  await endFinishedCampaigns(tx, { campaignIds: toNobody.map((push) => push.campaignId), at: newest.at });
}

function toCampaign(outcome: Extract<Outcome, { kind: 'send' | 'schedule' }>): NewCampaign {
  const { push } = outcome;
  const { command } = push;
  const isPeriodic = command.timing.kind === 'periodic';
  return {
    id: push.campaignId,
    workspaceId: push.workspaceId,
    name: push.name,
    audience: audienceOf(push),
    segmentId: push.segmentId ?? null,
    targetSelector: outcome.kind === 'schedule' ? selectorOf(push) : null,
    platforms: command.platforms,
    content: command.content,
    timing: command.timing,
    deliveryType: isPeriodic ? 'PERIODIC' : 'ONE_TIME',
    status: outcome.kind === 'send' ? 'SENDING' : isPeriodic ? 'ACTIVE' : 'SCHEDULED',
    nextAt: outcome.kind === 'schedule' ? outcome.occurrences[0]! : null,
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

function selectorOf({ command }: PushToStore): UserSelector | null {
  if (command.audience.kind !== 'user') return null;
  const { attribute, isCustom, values } = command.audience;
  return { attribute, isCustom, values };
}

function toRun(push: PushToStore) {
  const { runId: id, workspaceId, campaignId, at, sendUntil } = push;
  return { id, workspaceId, campaignId, at, sendUntil };
}

function toTarget(push: PushToStore, targetUsers: [number, string][]) {
  const content = push.existing ? push.command.content : undefined;
  return { targetUsers, content, audienceBound: lastIdAt(push.at), claim: push.claim };
}

function toStored(outcome: Outcome): StoredPush {
  switch (outcome.kind) {
    case 'refused':
      return outcome.stored;
    case 'send':
      return { kind: 'stored', accepted: toAccepted(outcome.push, []) };
    case 'schedule':
      return { kind: 'stored', accepted: toAccepted(outcome.push, outcome.occurrences) };
    case 'wait':
      return { kind: 'stored', accepted: toAccepted(outcome.push, [outcome.dueAt]) };
    default:
      return unknownCase(outcome);
  }
}

function toAccepted(push: PushToStore, occurrences: Date[]): AcceptedPush {
  return {
    campaignId: push.campaignId,
    requestId: push.command.requestId,
    responseId: push.responseId,
    nextSends: occurrences.map((occurrence) => occurrence.toISOString()),
  };
}

/**
 * Returns a function that stores one push with others that arrive at the same time. Pushes that join a sending campaign, as
 * one-time passwords do, need no decision between two statements, so one statement stores them. All others use `store`, as do
 * pushes to a campaign that turned out to have ended or to be scheduled.
 */
export function makeJoinOrStore({
  database,
  store,
  onCommit,
  ...workers
}: StoredPushWorkers & {
  database: Database;
  store: StorePush;
  onCommit?: ((pushes: number) => void) | undefined;
}): StorePush {
  const join = makeGroupCommit<JoiningPush, boolean>(async (pushes) => {
    const areJoined = await storeAndSend<JoiningPush, boolean>(workers, pushes, {
      async store(claimed) {
        const joined = await joinSendingCampaigns(database, claimed);
        return claimed.map(({ campaignId }) => joined.has(campaignId));
      },
      isSentNow: (isJoined) => isJoined,
    });
    if (areJoined.includes(true)) onCommit?.(areJoined.filter(Boolean).length);
    return areJoined;
  }, requestBatches);

  return async (push): Promise<StoredPush> => {
    const joining = toJoiningPush(push);
    if (joining && (await join(joining))) return { kind: 'stored', accepted: toAccepted(push, []) };
    return store(push);
  };
}

/** Who sends stored pushes. */
export type StoredPushWorkers = {
  /** Rung when a stored push can be sent. */
  doorbell: Pick<Doorbell, 'ring'>;
  /** Undefined on a node that does not send. */
  ownRuns?: OwnRuns | undefined;
};

type Claimable = Pick<PushToStore, 'runId' | 'workspaceId' | 'targetUsers'> & {
  traceparent?: string | undefined;
  claim?: StoredClaim | undefined;
};
type Claimed<Push> = Omit<Push, 'claim'> & { claim: NamedChunk | undefined };

/**
 * Stores pushes in one transaction. As far as the node has capacity, it stores pushes to named users with its own claim and sends
 * them after the commit. If the answer to the commit was lost, it sends those that it finds. The doorbell tells workers of all other
 * pushes.
 */
export async function storeAndSend<Push extends Claimable, Stored>(
  { doorbell, ownRuns }: StoredPushWorkers,
  pushes: readonly Push[],
  {
    store,
    isSentNow,
  }: { store: (pushes: Claimed<Push>[]) => Promise<Stored[]>; isSentNow: (stored: Stored) => boolean },
): Promise<Stored[]> {
  const claimed = pushes.map((push): Claimed<Push> => ({ ...push, claim: claimFor(ownRuns, push) }));
  const claimsOf = (some: readonly Claimed<Push>[]): NamedChunk[] => some.flatMap(({ claim }) => claim ?? []);
  let stored: Stored[];
  try {
    stored = await store(claimed);
  } catch (error) {
    if (isPerhapsStored(error)) ownRuns?.begin(claimsOf(claimed));
    else ownRuns?.drop(claimsOf(claimed));
    throw error;
  }
  const { sent = [], others = [] } = Object.groupBy(claimed, (_, index) =>
    isSentNow(stored[index]!) ? 'sent' : 'others',
  );
  ownRuns?.begin(claimsOf(sent));
  ownRuns?.drop(claimsOf(others));
  const left = sent.filter(({ claim }) => !claim);
  if (left.length > 0) doorbell.ring(left.every(({ targetUsers }) => targetUsers) ? 'named-runs' : 'fan-out');
  return stored;
}

function claimFor(
  ownRuns: OwnRuns | undefined,
  { runId, workspaceId, targetUsers, traceparent }: Claimable,
): NamedChunk | undefined {
  if (!targetUsers || targetUsers.length === 0 || traceparent !== undefined) return undefined;
  return ownRuns?.reserve({ runId, workspaceId, targetUsers });
}

function toJoiningPush(push: PushToStore): JoiningPush | undefined {
  // A push that belongs to a trace uses `store`, which records the trace.
  if (push.traceparent !== undefined) return undefined;
  const { existing, targetUsers, command, runId, responseId, workspaceId, campaignId, at, sendUntil } = push;
  if (!existing || existing.hasEnded || !targetUsers || targetUsers.length === 0) return undefined;
  const { requestId, content } = command;
  const ids = { runId, responseId, requestId, workspaceId, campaignId, claim: undefined };
  return { ...ids, targetUsers, content, audienceBound: lastIdAt(at), at, sendUntil };
}
