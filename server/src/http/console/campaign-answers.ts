import { Type } from 'typebox';
import type { CampaignReports } from '../../app/campaigns/campaign-report.ts';
import type { searchWithFigures } from '../../app/campaigns/search-campaigns.ts';
import type { SearchSettings } from '../../app/campaigns/search-campaigns.ts';
import { partNames } from '../../domain/campaign-document/campaign.ts';
import type { CampaignParts } from '../../domain/campaign-document/campaign.ts';
import { campaignActions, isEditable } from '../../domain/campaigns/campaign.ts';
import { rateFigures } from '../../domain/campaigns/figures.ts';
import { presentStatus, presentV5Schedule } from '../campaigns/record.ts';
import { presentV5Campaign } from '../campaigns/v5-answers.ts';
import { Platform, described, oneOf, orNull } from './shape-parts.ts';

const head = {
  id: Type.String(),
  campaignId: Type.String({ description: 'The id that all versions share; for an execution, the id of its parent.' }),
  isExecution: Type.Boolean({
    description: 'True for an execution of a recurring campaign that is listed separately.',
  }),
  name: Type.String(),
  status: Type.String(),
  channel: Type.String(),
  deliveryType: Type.String(),
  platforms: Type.Array(Platform),
  tags: Type.Array(Type.String()),
  versionNumber: orNull(Type.Number()),
  createdBy: Type.String(),
  createdAt: Type.String(),
  sentAt: orNull(Type.String()),
};

export const ListedCampaign = Type.Object({
  ...head,
  reachableDevices: orNull(Type.Number()),
  runs: Type.Number(),
  figures: described(
    orNull(
      Type.Object({
        attempted: described(Type.Number(), 'Devices, each counted once per run.'),
        accepted: Type.Number(),
        shown: described(Type.Number(), 'Messages, each counted once.'),
        clicked: Type.Number(),
        acceptedPercent: described(orNull(Type.Number()), 'Percent of the attempted devices.'),
        shownPercent: described(orNull(Type.Number()), 'Percent of the accepted messages.'),
        clickedPercent: described(orNull(Type.Number()), 'Percent of the accepted messages.'),
        hasMoreRuns: described(Type.Boolean(), 'True if the numbers cover only the newest runs.'),
      }),
    ),
    'Null until the first attempt.',
  ),
});

export const CampaignReport = Type.Object({
  campaign: Type.Object({
    ...head,
    audience: oneOf(['ALL_USERS', 'SEGMENT', 'USER']),
    segmentId: orNull(Type.String()),
    segmentName: orNull(Type.String()),
    updatedAt: Type.String(),
    mayEdit: Type.Boolean({ description: 'True if the campaign was created with the campaign API and has not ended.' }),
  }),
  record: described(Type.Record(Type.String(), Type.Unknown()), 'The record that V5 returns.'),
  request: described(
    Type.Record(Type.String(), Type.Unknown()),
    'A body with which `POST /v5/campaigns` creates a copy as a draft.',
  ),
  versions: described(
    Type.Array(
      Type.Object({
        id: Type.String(),
        versionNumber: orNull(Type.Number()),
        status: Type.String(),
        createdAt: Type.String(),
        createdBy: Type.String(),
      }),
    ),
    'Newest first; empty when there is one alone.',
  ),
});

export const CampaignAction = oneOf(campaignActions);

export const DeliveryOutcome = oneOf(['ACCEPTED', 'GONE', 'REJECTED', 'EXPIRED', 'FAILED', 'WITHHELD', 'WAITING']);

export const CampaignProgress = Type.Object({
  status: Type.String(),
  statusReason: orNull(Type.String()),
  nextAt: orNull(Type.String()),
  actions: Type.Array(CampaignAction),
  runs: Type.Number(),
  openRuns: Type.Number(),
  audienceUsers: described(
    orNull(Type.Number()),
    'Users in the audience; null for campaigns of versions that did not count them.',
  ),
  reachableDevices: described(
    orNull(Type.Number()),
    'Devices that the campaign is sent to; null while they are counted.',
  ),
  startedAt: orNull(Type.String()),
  endedAt: orNull(Type.String()),
  outcomes: Type.Array(Type.Object({ platform: Platform, outcome: DeliveryOutcome, devices: Type.Number() })),
  interactions: Type.Array(
    Type.Object({
      platform: Platform,
      kind: oneOf(['IMPRESSION', 'CLICK', 'CLOSE']),
      total: Type.Number(),
      uniqueDevices: Type.Number(),
      messages: described(Type.Number(), 'Each counted once.'),
    }),
  ),
  at: Type.String(),
});

export const CampaignResults = Type.Object({
  runsWithoutLedger: Type.Number({ description: 'Runs that were sent and for which only counters are still stored.' }),
  accepted: Type.Number(),
  waiting: described(
    Type.Array(
      Type.Object({
        platform: Platform,
        code: Type.String(),
        devices: Type.Number(),
        attempts: described(Type.Number(), 'The highest number of attempts for one message.'),
        nextAt: Type.String(),
        cause: described(Type.String(), 'As in "FCM responded with 503".'),
      }),
    ),
    'Messages that wait for another attempt, grouped by the reason.',
  ),
  failures: described(
    Type.Array(
      Type.Object({
        platform: Platform,
        outcome: DeliveryOutcome,
        code: Type.String(),
        devices: Type.Number(),
        sampleDeviceId: described(orNull(Type.String()), 'Null if the ledger of that day has been deleted.'),
        lastAt: Type.String(),
        advice: Type.String(),
      }),
    ),
    'The most frequent reason first.',
  ),
  goals: Type.Array(Type.Object({ name: Type.String(), conversions: Type.Number(), users: Type.Number() })),
});

export const CampaignTimeline = Type.Object({
  stepSeconds: Type.Number(),
  steps: Type.Array(Type.Object({ at: Type.String(), accepted: Type.Number(), notDelivered: Type.Number() })),
});

export const CampaignRuns = Type.Object({
  runs: Type.Array(
    Type.Object({
      id: Type.String(),
      status: Type.String(),
      statusReason: orNull(Type.String()),
      dueAt: orNull(Type.String()),
      startedAt: orNull(Type.String()),
      endedAt: orNull(Type.String()),
      createdAt: Type.String(),
      accepted: Type.Number(),
      waiting: Type.Number(),
      notDelivered: Type.Number(),
      shown: described(Type.Number(), 'Messages, each counted once.'),
      clicked: Type.Number(),
    }),
  ),
  total: Type.Number(),
  perPage: Type.Number(),
});

export const CampaignList = Type.Object({ campaigns: Type.Array(ListedCampaign), limit: Type.Number() });

export const ChangedCampaign = Type.Object({ id: Type.String() });

type Listed = Awaited<ReturnType<typeof searchWithFigures>>[number];
type Report = Awaited<ReturnType<CampaignReports['read']>>;

export function presentListedCampaign({ campaign, figures }: Listed) {
  const { reachableDevices = null, runs = 0, ...counted } = figures ?? {};
  return {
    ...presentHead(campaign),
    reachableDevices,
    runs,
    figures: presentFigures(counted),
  };
}

/** Null: no message has been attempted yet. */
function presentFigures({ attempted, accepted, shown, clicked, hasMoreRuns }: Partial<NonNullable<Listed['figures']>>) {
  if (attempted === undefined || attempted === 0) return null;
  return {
    attempted,
    accepted: accepted!,
    shown: shown!,
    clicked: clicked!,
    acceptedPercent: percentOf(accepted!, attempted),
    shownPercent: percentOf(shown!, accepted!),
    clickedPercent: percentOf(clicked!, accepted!),
    hasMoreRuns: hasMoreRuns!,
  };
}

/** A device can report a message even if its acceptance was never recorded. */
function percentOf(part: number, whole: number): number | null {
  return whole === 0 ? null : (rateFigures(part, whole).rate ?? null);
}

function presentHead(campaign: Listed['campaign']) {
  return {
    id: campaign.id,
    campaignId: campaign.campaignId,
    isExecution: campaign.kind === 'EXECUTION',
    name: campaign.name,
    status: presentStatus(campaign.status),
    channel: campaign.channel,
    deliveryType: campaign.deliveryType,
    platforms: campaign.platforms,
    tags: campaign.tags,
    versionNumber: campaign.versionNumber,
    createdBy: campaign.createdBy,
    createdAt: campaign.createdAt,
    sentAt: campaign.sentAt,
  };
}

/** Presents the data of a report that does not change while it is open, the record as V5 returns it, and the versions. */
export function presentReport({ campaign, versions }: Report, versioning: SearchSettings['versioning']) {
  return {
    campaign: {
      ...presentHead(campaign),
      audience: campaign.audience,
      segmentId: campaign.segmentId,
      segmentName: campaign.segmentName,
      updatedAt: campaign.updatedAt,
      mayEdit: campaign.channel === 'PUSH' && isEditable(campaign),
    },
    record: presentV5Campaign(campaign, versioning),
    request: presentRequest(campaign),
    versions: versions.length > 1 ? versions : [],
  };
}

/**
 * Returns the request that creates the same campaign: as it was sent, or for a push, its record with the names of a request
 * (a record describes its schedule with other names).
 */
export function presentRequest(campaign: Report['campaign']): CampaignParts {
  if (campaign.parts !== null) return campaign.parts;
  const record: CampaignParts = { ...presentV5Campaign(campaign, 'off'), ...presentSchedule(campaign.timing) };
  const sent = ['channel', 'campaign_delivery_type', 'created_by', ...partNames];
  return Object.fromEntries(sent.flatMap((name) => (record[name] === undefined ? [] : [[name, record[name]]])));
}

/** Returns local times with their zone, which may differ from the zone of the workspace. */
function presentSchedule(timing: Record<string, unknown>) {
  const { scheduling_details: shown } = presentV5Schedule(timing) as { scheduling_details?: Record<string, unknown> };
  if (shown?.schedule_time === undefined) return {};
  const { schedule_time, expiry_time, time_zone, frequency } = shown;
  return {
    scheduling_details: {
      delivery_type: 'AT_FIXED_TIME',
      start_time: schedule_time,
      timezone: time_zone,
      ...(expiry_time === undefined ? {} : { expiry_time }),
      ...(frequency === undefined ? {} : { periodic_details: frequency }),
    },
  };
}
