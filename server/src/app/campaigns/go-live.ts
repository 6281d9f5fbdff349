import type { CampaignStatus } from '../../domain/campaigns/campaign.ts';
import { sendUntil } from '../../domain/campaigns/delivery-settings.ts';
import { eventNamesOf } from '../../domain/events/triggers.ts';
import { makeId } from '../../domain/ids.ts';
import { nextOccurrences } from '../../domain/timing/occurrences.ts';
import type { Timing } from '../../domain/timing/timing.ts';
import { unknownCase } from '../../domain/unknown-case.ts';
import { ringAfterCommit } from '../../engine/doorbell.ts';
import type { AuthoredColumns } from '../../storage/campaigns/authored-campaigns.ts';
import type { Transaction } from '../../storage/database.ts';
import { insertQueuedRuns } from '../../storage/runs/runs.ts';
import { deleteCampaignSegments, insertSegment } from '../../storage/segments/segments.ts';
import { storeTriggerCondition } from '../../storage/triggers.ts';
import type { PreparedCampaign } from './prepare-campaign.ts';

type Status = { status: CampaignStatus; nextAt: Date | null };

/**
 * Returns the status of a campaign that goes live, by its timing: sending, scheduled or recurring. `delaySeconds`: how long a campaign that is
 * sent as soon as possible waits, so that it can be recalled.
 */
export function statusOf(timing: Timing, now: Date, delaySeconds = 0): Status {
  switch (timing.kind) {
    case 'soon':
      if (delaySeconds === 0) return { status: 'SENDING', nextAt: null };
      return { status: 'SCHEDULED', nextAt: new Date(now.getTime() + delaySeconds * 1_000) };
    case 'later':
      // In the users' own zones the first occurrence may already be past before the campaign's own is due.
      return { status: 'SCHEDULED', nextAt: nextOccurrences(timing, { after: now, count: 1 })[0] ?? now };
    case 'periodic':
    case 'calendar':
      return { status: 'ACTIVE', nextAt: nextOccurrences(timing, { after: now, count: 1 })[0]! };
    case 'triggered':
      // A triggered campaign waits only for its end.
      return { status: 'ACTIVE', nextAt: timing.endsAt === null ? null : new Date(timing.endsAt) };
    default:
      return unknownCase(timing);
  }
}

/** Returns the columns of a live campaign, the same that the push API fills. */
export function liveColumns(prepared: PreparedCampaign, live: Status & { segmentId: string | null }): AuthoredColumns {
  const { definition, timing, parts } = prepared;
  return {
    name: definition.name,
    deliveryType: definition.deliveryType,
    audience: live.segmentId === null ? 'ALL_USERS' : 'SEGMENT',
    segmentId: live.segmentId,
    businessEventId: prepared.businessEventId,
    platforms: definition.platforms,
    content: definition.content,
    variants: definition.variants,
    timing,
    tags: definition.tags,
    conversionGoals: definition.goals,
    settings: definition.settings,
    parts,
    status: live.status,
    nextAt: live.nextAt,
  };
}

type Owner = { workspaceId: string; campaignId: string; createdBy: string; at: Date };

/**
 * Returns the id of the segment that a campaign is sent to; null means all users. The campaign's own filters are stored as a
 * hidden segment that is resolved when a run begins; the previous one is deleted. The campaign's row may be inserted later in
 * the same transaction.
 */
export async function storeAudience(
  tx: Transaction,
  { segment }: Pick<PreparedCampaign, 'segment'>,
  { workspaceId, campaignId, createdBy, at }: Owner,
): Promise<string | null> {
  await deleteCampaignSegments(tx, campaignId);
  if (!segment) return null;
  if ('id' in segment) return segment.id;
  const id = makeId(at);
  const isStored = await insertSegment(tx, {
    ...segment.filters,
    id,
    workspaceId,
    // A user's segment name cannot contain these brackets (fact 2.3), and the id is unique.
    name: `<campaign ${campaignId} ${id}>`,
    kind: 'FILTER',
    state: 'READY',
    source: 'API',
    attributeName: null,
    attributeType: null,
    partner: null,
    cohortId: null,
    userCount: null,
    expiryDays: null,
    expiresAt: null,
    createdBy,
    at,
    campaignId,
  });
  if (!isStored) throw new Error(`the filters of campaign ${campaignId} have a name that is taken`);
  return id;
}

type Sending = { workspaceId: string; campaignId: string; at: Date };

/** Creates the run of a campaign that is sent as soon as possible; the scheduler fires scheduled ones. */
export async function startSending(
  tx: Transaction,
  { timing, definition }: PreparedCampaign,
  { workspaceId, campaignId, at }: Sending,
): Promise<void> {
  if (timing.kind !== 'soon') return;
  const run = { id: makeId(at), workspaceId, campaignId, at, sendUntil: sendUntil(definition.settings, at) };
  await insertQueuedRuns(tx, [run]);
  ringAfterCommit(tx, 'fan-out');
}

type Live = {
  workspaceId: string;
  /** The same in all versions. */
  campaignId: string;
  versionId: string;
  at: Date;
};

/** Lets events start a campaign from now on, or from its start. Does nothing for campaigns without a trigger. */
export async function listenForEvents(
  tx: Transaction,
  { definition: { trigger }, timing, parts }: PreparedCampaign,
  { at, ...ids }: Live,
): Promise<void> {
  if (!trigger || timing.kind !== 'triggered') return;
  const startsAt = timing.startsAt === null ? at : new Date(timing.startsAt);
  await storeTriggerCondition(tx, {
    ...ids,
    eventNames: eventNamesOf(trigger),
    condition: parts.trigger_condition,
    liveSince: startsAt > at ? startsAt : at,
  });
}
