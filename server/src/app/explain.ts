import { deliverySettings, iosProvisional, pushedPlatforms } from '../domain/campaigns/delivery-settings.ts';
import { ServiceError } from '../domain/errors.ts';
import type { ToldTrigger } from '../domain/events/triggers.ts';
import { explainRun } from '../domain/explain.ts';
import type { Membership, RunExplanation } from '../domain/explain.ts';
import { isId } from '../domain/ids.ts';
import type { UserKey } from '../domain/users/users.ts';
import { listTriggeredUsers } from '../storage/campaigns/audience.ts';
import { inSnapshot, planByValues } from '../storage/database.ts';
import type { Database, Transaction } from '../storage/database.ts';
import { listInboxToExplain } from '../storage/inbox.ts';
import {
  findCampaignToExplain,
  listChunksToExplain,
  listDeliveriesToExplain,
  listDevicesToExplain,
  listMembersToExplain,
  listRunsToExplain,
} from '../storage/ledger/run-explanations.ts';
import type { CampaignToExplain, ChunkToExplain, RunToExplain } from '../storage/ledger/run-explanations.ts';
import { restNumber } from '../storage/runs/audience-passes.ts';
import { listTriggersToExplain } from '../storage/triggers.ts';
import { findUsersByCustomerIds } from '../storage/users/users.ts';
import { findSuspicions } from './users/suspected-devices.ts';

export type ExplainDependencies = { database: Database };

export type ExplainRequest = {
  workspaceId: string;
  campaignId: string;
  customerId: string;
  /** One of its runs; undefined means the newest ones. */
  runId: string | undefined;
};

export type Explanation = {
  campaign: Pick<CampaignToExplain, 'id' | 'name' | 'status' | 'statusReason' | 'nextAt'>;
  customerId: string;
  /** Undefined if no user has that customer id. */
  runs: (RunExplanation & { createdAt: Date })[] | undefined;
  /** Triggers by the user's events, newest first; undefined for a campaign that user events do not start. */
  triggers: ToldTrigger[] | undefined;
};

const maxRuns = 20;
const maxTriggers = 20;

/**
 * Explains why a user got a campaign's messages or did not: the deciding reason in each of its newest runs, from one snapshot.
 *
 * @throws ServiceError CAMPAIGN_NOT_FOUND
 */
export async function explainDelivery(
  { database }: ExplainDependencies,
  { workspaceId, campaignId, customerId, runId }: ExplainRequest,
): Promise<Explanation> {
  return await inSnapshot(database, async (tx): Promise<Explanation> => {
    await planByValues(tx);
    const campaign = isId(campaignId) ? await findCampaignToExplain(tx, { workspaceId, id: campaignId }) : undefined;
    if (!campaign) throw new ServiceError('CAMPAIGN_NOT_FOUND');
    const { id, name, status, statusReason, nextAt } = campaign;
    const shown = { campaign: { id, name, status, statusReason, nextAt }, customerId };
    const [user] = await findUsersByCustomerIds(tx, { workspaceId, customerIds: [customerId], limit: 1 });
    if (!user) return { ...shown, runs: undefined, triggers: undefined };
    const triggers = await findTriggers(tx, { workspaceId, campaign, user });
    const asked = runId === undefined ? triggers?.flatMap((trigger) => trigger.runId ?? []) : [runId];
    const runs = await listRunsToExplain(tx, { campaignId: id, runIds: asked, limit: maxRuns });
    const explained: Explanation['runs'] = [];
    for (const run of runs) {
      const [explanation] = await explainRunToUsers(tx, { workspaceId, campaign, run, users: [user] });
      explained.push({ ...explanation!, createdAt: run.createdAt });
    }
    return { ...shown, runs: explained, triggers };
  });
}

type Triggered = { workspaceId: string; campaign: CampaignToExplain; user: UserKey };

async function findTriggers(tx: Transaction, asked: Triggered): Promise<ToldTrigger[] | undefined> {
  const { workspaceId, campaign, user } = asked;
  if (campaign.deliveryType !== 'EVENT_TRIGGERED') return undefined;
  const { canonicalCampaignId: campaignId } = campaign;
  return listTriggersToExplain(tx, { workspaceId, ...user, campaignId, limit: maxTriggers });
}

export type RunQuestion = { workspaceId: string; campaign: CampaignToExplain; run: RunToExplain; users: UserKey[] };

/** Returns what happened to users in one run, in the order of the users. A thousand users need as many statements as one. */
export async function explainRunToUsers(
  tx: Transaction,
  { workspaceId, campaign, run, users }: RunQuestion,
): Promise<RunExplanation[]> {
  const asked = { workspaceId, campaign, run, users };
  const chunks = await listChunksToExplain(tx, run.id);
  const membershipOf = await findMemberships(tx, { ...asked, chunks });
  const found = await listDevicesToExplain(tx, asked);
  const suspicions = await findSuspicions(tx, found);
  const devices = groupByUser(found.map((device) => ({ ...device, suspicion: suspicions.get(device.id) ?? null })));
  const deliveries = groupByUser(await listDeliveriesToExplain(tx, asked));
  const settings = deliverySettings(campaign.settings);
  const kept = settings.inbox ? await listInboxToExplain(tx, { workspaceId, runId: run.id, users }) : [];
  const inboxes = new Map(kept.map((message) => [keyOf(message), message]));
  const shownRun = {
    ...run,
    platforms: pushedPlatforms({ ...campaign, isTest: run.targetUsers !== null }),
    iosProvisional: iosProvisional(settings),
    appIds: settings.appIds,
  };
  return users.map((user) =>
    explainRun({
      run: shownRun,
      membership: membershipOf(user),
      devices: devices.get(keyOf(user)) ?? [],
      deliveries: deliveries.get(keyOf(user)) ?? [],
      inbox: inboxes.get(keyOf(user)),
      chunk: chunks.find(({ bucketFrom, bucketTo }) => bucketFrom <= user.bucket && user.bucket <= bucketTo),
    }),
  );
}

async function findMemberships(
  tx: Transaction,
  asked: RunQuestion & { chunks: readonly ChunkToExplain[] },
): Promise<(user: UserKey) => Membership> {
  const { campaign, run, workspaceId, users, chunks } = asked;
  if (campaign.deliveryType === 'EVENT_TRIGGERED' && run.targetUsers === null) {
    const triggered = await listTriggeredUsers(tx, { workspaceId, runId: run.id, users });
    const keys = new Set(triggered.map(keyOf));
    return (user) => (keys.has(keyOf(user)) ? 'member' : 'stranger');
  }
  const members = run.targetUsers
    ? run.targetUsers.map(([bucket, userId]) => ({ bucket, userId }))
    : run.segmentId === null
      ? undefined
      : await listMembersToExplain(tx, asked);
  if (members === undefined) return () => 'member';
  const keys = new Set(members.map(keyOf));
  // Members who left are deleted once no run needs them, and so is the audience of a filter.
  const others = run.isForgotten ? 'forgotten' : 'stranger';
  const rest = chunks.find(({ number }) => number === restNumber);
  // A user in the rest may be a member. The filter is resolved for this user later, or never if the run was stopped.
  const isUncounted = ({ bucket }: UserKey): boolean =>
    run.segmentId === run.id && rest !== undefined && rest.bucketFrom <= bucket;
  return (user) => (keys.has(keyOf(user)) || isUncounted(user) ? 'member' : others);
}

function groupByUser<Row extends UserKey>(rows: Row[]): Map<string, Row[]> {
  return Map.groupBy(rows, keyOf);
}

function keyOf({ bucket, userId }: UserKey): string {
  return `${bucket}/${userId}`;
}
