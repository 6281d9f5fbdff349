import type { CampaignTopic, TopicCode } from '../../domain/topics.ts';
import { defaultAppId } from '../../domain/apps.ts';
import { readSegmentation } from '../../domain/campaign-document/audience.ts';
import { makeDocumentReader, authoredDeliveryTypes, readCampaign } from '../../domain/campaign-document/campaign.ts';
import type { CampaignParts } from '../../domain/campaign-document/campaign.ts';
import { whatMayNotChange } from '../../domain/campaign-document/changes.ts';
import { readSchedule, scheduleTiming } from '../../domain/campaign-document/schedule.ts';
import type { ScheduleContext } from '../../domain/campaign-document/schedule.ts';
import { warnOfCampaign } from '../../domain/campaigns/warnings.ts';
import type { CampaignWarning, WarnedCampaign } from '../../domain/campaigns/warnings.ts';
import type { Platform } from '../../domain/content/content.ts';
import { providers } from '../../domain/delivery/providers.ts';
import type { ProviderName } from '../../domain/delivery/providers.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { RequestFault } from '../../fields/reading-rules.ts';
import { isObject } from '../../fields/request-reader.ts';
import { expandStoredFilters } from '../../domain/segments/filter-reader.ts';
import type { StoredFilters } from '../../domain/segments/filter-reader.ts';
import { SegmentExpansionError } from '../../domain/segments/filter.ts';
import { localSendOf, shareOfZone } from '../../domain/timing/local-send.ts';
import type { LocalSendShare } from '../../domain/timing/local-send.ts';
import { toInstant } from '../../domain/timing/local-time.ts';
import { describeOccurrences } from '../../domain/timing/occurrences.ts';
import type { DescribedOccurrence } from '../../domain/timing/occurrences.ts';
import type { Timing } from '../../domain/timing/timing.ts';
import { listApps } from '../../storage/apps.ts';
import {
  countAudienceChoices,
  countAudienceDevices,
  countAudienceUsers,
  countAudienceZones,
} from '../../storage/campaigns/audience.ts';
import type { CountedAudience, Reach } from '../../storage/campaigns/audience.ts';
import { findAuthoredCampaign } from '../../storage/campaigns/authored-campaigns.ts';
import { findBusinessEvent } from '../../storage/campaigns/business-events.ts';
import type { Queryable } from '../../storage/database.ts';
import type { DeviceCount } from '../../storage/installation/overview.ts';
import { listProviderCredentials } from '../../storage/keys/provider-credentials.ts';
import { findReferencedSegments } from '../../storage/segments/segment-members.ts';
import { findSegmentById } from '../../storage/segments/segments.ts';
import { findWorkspace, findWorkspaceControls } from '../../storage/workspaces.ts';
import { findCampaignSegment, prepareCampaign } from './prepare-campaign.ts';
import type { PreparedCampaign } from './prepare-campaign.ts';

export type CheckedCampaign = {
  /** The faults that keep it from going live, as validate reports them, and changes that a live campaign does not allow. */
  faults: RequestFault[];
  /** Undefined while the schedule is not valid. */
  timing: Timing | undefined;
  occurrences: DescribedOccurrence[];
  /** A description of the audience, if it has filters. */
  audienceText: string | undefined;
  /** Empty while there are faults. */
  warnings: CampaignWarning[];
};

export type CampaignCheck = {
  workspaceId: string;
  parts: CampaignParts;
  /** The campaign that the parts will change. */
  id: string | undefined;
  now: Date;
};

const shownOccurrences = 3;

/**
 * Checks a campaign during composing: V5's validate, for parts that are not stored yet. If much is still missing, the existing
 * parts are checked all the same.
 *
 * @throws ServiceError CAMPAIGN_NOT_FOUND
 */
export async function checkCampaign(tx: Queryable, check: CampaignCheck): Promise<CheckedCampaign> {
  const { workspaceId, parts, now } = check;
  const { frozen, start } = await findFrozen(tx, check);
  const prepared = await prepareCampaign(tx, { workspaceId, parts, now, start });
  if ('faults' in prepared) {
    const { faults, timing, segment } = await readPieces(tx, { workspaceId, parts, now, start });
    return {
      faults: withoutDoubles([...frozen, ...prepared.faults, ...faults]),
      timing,
      occurrences: timing ? describeOccurrences(timing, { after: now, count: shownOccurrences }) : [],
      audienceText: textOf(segment),
      warnings: [],
    };
  }
  const occurrences = describeOccurrences(prepared.timing, { after: now, count: shownOccurrences });
  const warned = await findWarned(tx, { workspaceId, prepared, occurrences, now });
  return {
    faults: frozen,
    timing: prepared.timing,
    occurrences,
    audienceText: textOf(prepared.segment),
    warnings: warnOfCampaign(warned),
  };
}

type Frozen = { frozen: RequestFault[]; start: ScheduleContext['start'] };

async function findFrozen(tx: Queryable, { workspaceId, parts, id }: CampaignCheck): Promise<Frozen> {
  if (id === undefined) return { frozen: [], start: 'to come' };
  const campaign = await findAuthoredCampaign(tx, { workspaceId, id });
  if (!campaign) throw new ServiceError('CAMPAIGN_NOT_FOUND');
  const { status, parts: before } = campaign;
  if (status === 'DRAFT') return { frozen: [], start: 'to come' };
  const isWaiting = status === 'SCHEDULED';
  if (before === null) return { frozen: [], start: isWaiting ? 'to come' : 'as it was' };
  const state = isWaiting ? 'waiting' : 'live';
  return { frozen: whatMayNotChange({ before, after: parts, state }), start: isWaiting ? 'to come' : 'as it was' };
}

type Pieces = { faults: RequestFault[]; timing: Timing | undefined; segment: PreparedCampaign['segment'] };
type Reading = Omit<CampaignCheck, 'id'> & Pick<Frozen, 'start'>;

/** Checks schedule and audience separately. The whole has reported their own faults; this adds faults of clock and database. */
async function readPieces(tx: Queryable, { workspaceId, parts, now, start }: Reading): Promise<Pieces> {
  const controls = await findWorkspaceControls(tx, workspaceId);
  const faults: RequestFault[] = [];
  let timing: Timing | undefined;
  const scheduled = readTiming(parts, { now, workspaceTimeZone: controls!.timeZone, start });
  if (scheduled && 'fault' in scheduled) faults.push(scheduled.fault);
  else timing = scheduled;
  const segmentation = readAudience(parts);
  const found = segmentation && (await findCampaignSegment(tx, { workspaceId, audience: segmentation }));
  if (found && 'fault' in found) faults.push(found.fault);
  return { faults, timing, segment: found && 'segment' in found ? found.segment : undefined };
}

/** Returns the timing of the parts, even if other parts are invalid; undefined while the schedule itself is invalid. */
function readTiming(parts: CampaignParts, context: ScheduleContext): ReturnType<typeof scheduleTiming> | undefined {
  const deliveryType = makeDocumentReader(parts).choice('campaign_delivery_type', authoredDeliveryTypes);
  const scheduling = makeDocumentReader(objectOf(parts.scheduling_details), 'scheduling_details');
  const schedule = readSchedule(scheduling, deliveryType);
  return schedule && scheduling.faults.length === 0 ? scheduleTiming(schedule, context) : undefined;
}

/** Returns the audience of the parts, even if other parts are invalid. */
export function readAudience(parts: CampaignParts) {
  const details = makeDocumentReader(objectOf(parts.segmentation_details), 'segmentation_details');
  const { audience } = readSegmentation(details);
  return details.faults.length === 0 ? audience : undefined;
}

/** Returns the platforms of the parts, even if other parts are invalid. */
export function readPlatformsOf(parts: CampaignParts): Platform[] {
  return readCampaign(parts).basics.platforms;
}

function objectOf(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}

function textOf(segment: PreparedCampaign['segment']): string | undefined {
  return segment && 'filters' in segment ? segment.filters.description : undefined;
}

function withoutDoubles(faults: RequestFault[]): RequestFault[] {
  return [...new Map(faults.map((fault) => [`${fault.field}: ${fault.reason}`, fault])).values()];
}

/** Returns the platforms that have a credential of one of their providers, for any app, and whether it is simulated. */
export async function findPlatformCredentials(
  tx: Queryable,
  workspaceId: string,
): Promise<WarnedCampaign['credentials']> {
  const stored = await listProviderCredentials(tx, workspaceId);
  // If a platform has several, the default app's credential at the usual provider is reported.
  const rank = ({ provider, appId }: { provider: ProviderName; appId: string }): number =>
    (providers[provider].usualOn.length > 0 ? 2 : 0) + (appId === defaultAppId ? 1 : 0);
  return Object.fromEntries(
    [...stored]
      .sort((one, other) => rank(one) - rank(other))
      .map(({ provider, simulated }) => [providers[provider].platforms[0], simulated ? 'simulated' : 'real']),
  );
}

type Found = { workspaceId: string; prepared: PreparedCampaign; occurrences: DescribedOccurrence[]; now: Date };

async function findWarned(tx: Queryable, { workspaceId, prepared, occurrences, now }: Found): Promise<WarnedCampaign> {
  const { definition, timing } = prepared;
  const { platforms, content, variants, settings, businessEvent } = definition;
  const event =
    businessEvent === undefined ? undefined : await findBusinessEvent(tx, { workspaceId, named: businessEvent });
  const controls = (await findWorkspaceControls(tx, workspaceId))!;
  // A local time is the same in every zone, so the workspace's zone stands for all of them.
  const instantOf = ({ at, local, everyZone }: DescribedOccurrence): Date =>
    everyZone ? toInstant({ ...local, timeZone: controls.timeZone }) : at;
  return {
    platforms,
    content,
    variants,
    settings,
    recurs: definition.deliveryType !== 'ONE_TIME',
    occurrences: timing.kind === 'soon' ? [now] : occurrences.map(instantOf),
    controls,
    credentials: await findPlatformCredentials(tx, workspaceId),
    eventAttributes: event?.attributes ?? [],
    androidMode: (await findWorkspace(tx, workspaceId))!.androidPayload.mode,
    apps: await listApps(tx, workspaceId),
  };
}

export type AudienceCount = {
  /** Each user once, by the best of their devices; of those reached, the ones outside the topic have its reason. */
  users: { reach: Reach | TopicCode; users: number }[];
  /** Devices of these users, including those of other platforms and states. */
  devices: DeviceCount[];
  /** Segments that are still being filled or cannot be used; the count covers their present members. */
  pending: string[];
};

export type AudienceQuestion = {
  workspaceId: string;
  segment: PreparedCampaign['segment'];
  platforms: readonly Platform[];
  /** Undefined: the campaign has no topic. */
  topic?: Pick<CampaignTopic, 'id' | 'isInByDefault'> | undefined;
  at: Date;
};

/** Counts the audience that a run starting now would freeze, with reasons for exclusions. */
export async function countAudience(
  tx: Queryable,
  { workspaceId, segment, platforms, topic, at }: AudienceQuestion,
): Promise<AudienceCount> {
  const found = await resolveAudience(tx, { workspaceId, segment, at });
  if ('reason' in found) return { users: [], devices: [], pending: [found.reason] };
  const { audience, pending } = found;
  const users = await countAudienceUsers(tx, { workspaceId, audience, platforms });
  const devices = await countAudienceDevices(tx, { workspaceId, audience });
  const choices = topic && (await countAudienceChoices(tx, { workspaceId, audience, platforms, topicId: topic.id }));
  return { users: choices ? splitByTopic(users, { topic, choices }) : users, devices, pending };
}

type TopicQuestion = { topic: Pick<CampaignTopic, 'isInByDefault'>; choices: { isIn: boolean; users: number }[] };

/** Takes the users who are not in the topic out of those who are reached, under the reason that sending would record. */
function splitByTopic(
  users: readonly { reach: Reach; users: number }[],
  { topic, choices }: TopicQuestion,
): AudienceCount['users'] {
  const chose = (isIn: boolean): number => choices.find((row) => row.isIn === isIn)?.users ?? 0;
  return users.flatMap((row): AudienceCount['users'] => {
    if (row.reach !== 'REACHED') return [row];
    const silent = row.users - chose(true) - chose(false);
    const reached = chose(true) + (topic.isInByDefault ? silent : 0);
    return [
      { reach: 'REACHED', users: reached },
      { reach: 'TOPIC_OPTED_OUT', users: chose(false) },
      ...(topic.isInByDefault ? [] : [{ reach: 'TOPIC_NOT_OPTED_IN' as const, users: silent }]),
    ];
  });
}

/** Returns the key of the topic that the parts name, even if other parts are invalid. */
export function readTopicKey(parts: CampaignParts): string | undefined {
  const topic = objectOf(parts.advanced).topic;
  return typeof topic === 'string' && topic !== '' ? topic : undefined;
}

export type LocalTimeCount = Record<LocalSendShare, number>;

/**
 * Counts the users who would be reached, by what their local time means for a run that begins now; undefined if the
 * campaign is not sent at the local time of each user, or its schedule is invalid.
 */
export async function countLocalTimes(
  tx: Queryable,
  { workspaceId, parts, segment, now }: Omit<CampaignCheck, 'id'> & { segment: PreparedCampaign['segment'] },
): Promise<LocalTimeCount | undefined> {
  const controls = (await findWorkspaceControls(tx, workspaceId))!;
  const timing = readTiming(parts, { now, workspaceTimeZone: controls.timeZone, start: 'to come' });
  const [first] = timing && !('fault' in timing) ? describeOccurrences(timing, { after: now, count: 1 }) : [];
  const send = timing && !('fault' in timing) && first ? localSendOf(timing, first.at) : null;
  if (send === null) return undefined;
  const count: LocalTimeCount = { waiting: 0, 'at once': 0, passed: 0, 'unknown zone': 0 };
  const found = await resolveAudience(tx, { workspaceId, segment, at: now });
  if ('reason' in found) return count;
  const asked = { workspaceId, audience: found.audience, platforms: readPlatformsOf(parts) };
  const zones = await countAudienceZones(tx, { ...asked, zoneAttribute: controls.zoneAttribute });
  const begins = first!.at;
  for (const { named, users } of zones) count[shareOfZone(send, { named, now: begins })] += users;
  return count;
}

type Resolved = { audience: CountedAudience; pending: string[] } | { reason: string };
type Asked = Omit<AudienceQuestion, 'platforms'>;

async function resolveAudience(tx: Queryable, { workspaceId, segment, at }: Asked): Promise<Resolved> {
  if (!segment) return { audience: { kind: 'all' }, pending: [] };
  if ('filters' in segment) {
    const { includedFilters, excludedFilters, usesSegments } = segment.filters;
    return resolveFilters(tx, { workspaceId, filters: { includedFilters, excludedFilters }, usesSegments, at });
  }
  const found = await findSegmentById(tx, { workspaceId, id: segment.id });
  if (!found) return { reason: 'the segment no longer exists' };
  if (found.kind === 'FILTER')
    return resolveFilters(tx, { workspaceId, filters: found, usesSegments: found.usesSegments, at });
  const { id, version } = found;
  return { audience: { kind: 'segment', id, version }, pending: whatIsPending([found]) };
}

type Filters = { workspaceId: string; filters: StoredFilters; usesSegments: string[]; at: Date };

async function resolveFilters(tx: Queryable, { workspaceId, filters, usesSegments, at }: Filters): Promise<Resolved> {
  const referenced = await findReferencedSegments(tx, { workspaceId, ids: usesSegments });
  try {
    const { included, excluded } = expandStoredFilters(filters, referenced);
    return { audience: { kind: 'filter', included, excluded, at }, pending: whatIsPending(referenced) };
  } catch (error) {
    if (error instanceof SegmentExpansionError) return { reason: error.message };
    throw error;
  }
}

/** Decision D26: a send waits for a segment that is being filled. A send to a failed or archived segment reaches no user. */
function whatIsPending(segments: { name: string; state: string }[]): string[] {
  return segments.flatMap(({ name, state }) => {
    if (state === 'FILLING') return [`${name} is still being filled; a send waits for it`];
    if (state === 'READY') return [];
    return [`${name} is ${state.toLowerCase()}: a send to it ends as FAILED`];
  });
}
