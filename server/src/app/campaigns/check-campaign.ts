import { defaultAppId } from '../../domain/apps/app.ts';
import { makeDocumentReader } from '../../domain/campaign-document/document-reader.ts';
import { isObject } from '../../domain/request-reader/request-reader.ts';
import { whatMayNotChange } from '../../domain/campaign-document/frozen-parts.ts';
import { authoredDeliveryTypes, readCampaign } from '../../domain/campaign-document/read-campaign.ts';
import type { CampaignParts } from '../../domain/campaign-document/read-campaign.ts';
import { readSchedule } from '../../domain/campaign-document/read-schedule.ts';
import { readSegmentation } from '../../domain/campaign-document/read-segmentation.ts';
import { scheduleTiming } from '../../domain/campaign-document/schedule-timing.ts';
import type { ScheduleContext } from '../../domain/campaign-document/schedule-timing.ts';
import { warnOfCampaign } from '../../domain/campaigns/campaign-warnings.ts';
import { platformsOf, providersOf } from '../../domain/delivery/provider-name.ts';
import type { ProviderName } from '../../domain/delivery/provider-name.ts';
import type { CampaignWarning, WarnedCampaign } from '../../domain/campaigns/campaign-warnings.ts';
import type { Platform } from '../../domain/campaigns/content.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { RequestFault } from '../../domain/errors.ts';
import { describeOccurrences } from '../../domain/timing/describe-occurrences.ts';
import type { DescribedOccurrence } from '../../domain/timing/describe-occurrences.ts';
import type { Timing } from '../../domain/timing/timing.ts';
import { listApps } from '../../storage/apps/apps.ts';
import type { Queryable } from '../../storage/database.ts';
import { findAuthoredCampaign } from '../../storage/campaigns/authored-campaigns.ts';
import { findBusinessEvent } from '../../storage/campaigns/business-events.ts';
import { listProviderCredentials } from '../../storage/keys/provider-credentials.ts';
import { findWorkspace, findWorkspaceControls } from '../../storage/installation/workspaces.ts';
import { findCampaignSegment, prepareCampaign } from './prepare-campaign.ts';
import type { PreparedCampaign } from './prepare-campaign.ts';

export type CheckedCampaign = {
  /** What keeps it from going live, as validate says it, and what may not be changed of a campaign that is live. */
  faults: RequestFault[];
  /** Undefined while the schedule cannot be read. */
  timing: Timing | undefined;
  occurrences: DescribedOccurrence[];
  /** A description of the audience, if it has filters. */
  audienceText: string | undefined;
  /** Empty while something is wrong. */
  warnings: CampaignWarning[];
};

export type CampaignCheck = {
  workspaceId: string;
  parts: CampaignParts;
  /** The campaign that the parts are to change. */
  id: string | undefined;
  now: Date;
};

const shownOccurrences = 3;

/**
 * Checks a campaign being composed: what V5's validate does for a draft, for parts that are not stored yet. If much is
 * still missing, what is there is checked all the same.
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

/** Schedule and audience by themselves. Their own faults were told by the whole; here are those of clock and database. */
async function readPieces(tx: Queryable, { workspaceId, parts, now, start }: Reading): Promise<Pieces> {
  const controls = await findWorkspaceControls(tx, workspaceId);
  const whole = makeDocumentReader(parts);
  const deliveryType = whole.choice('campaign_delivery_type', authoredDeliveryTypes);
  const faults: RequestFault[] = [];
  const scheduling = makeDocumentReader(objectOf(parts.scheduling_details), 'scheduling_details');
  const schedule = readSchedule(scheduling, deliveryType);
  let timing: Timing | undefined;
  if (schedule && scheduling.faults.length === 0) {
    const found = scheduleTiming(schedule, { now, workspaceTimeZone: controls!.timeZone, start });
    if ('fault' in found) faults.push(found.fault);
    else timing = found;
  }
  const segmentation = readAudience(parts);
  const found = segmentation && (await findCampaignSegment(tx, { workspaceId, audience: segmentation }));
  if (found && 'fault' in found) faults.push(found.fault);
  return { faults, timing, segment: found && 'segment' in found ? found.segment : undefined };
}

/** The audience of the parts, even if other parts are invalid. */
export function readAudience(parts: CampaignParts) {
  const details = makeDocumentReader(objectOf(parts.segmentation_details), 'segmentation_details');
  const { audience } = readSegmentation(details);
  return details.faults.length === 0 ? audience : undefined;
}

/** The platforms of the parts, even if other parts are invalid. */
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

/** Which platforms have a credential of a provider of theirs, of whatever app, and whether that is one of the simulators. */
export async function findPlatformCredentials(
  tx: Queryable,
  workspaceId: string,
): Promise<WarnedCampaign['credentials']> {
  const stored = await listProviderCredentials(tx, workspaceId);
  // Of several on a platform that of the default app at the usual provider is told.
  const rank = ({ provider, appId }: { provider: ProviderName; appId: string }): number =>
    (providersOf[platformsOf[provider][0]][0] === provider ? 2 : 0) + (appId === defaultAppId ? 1 : 0);
  return Object.fromEntries(
    [...stored]
      .sort((one, other) => rank(one) - rank(other))
      .map(({ provider, simulated }) => [platformsOf[provider][0], simulated ? 'simulated' : 'real']),
  );
}

type Found = { workspaceId: string; prepared: PreparedCampaign; occurrences: DescribedOccurrence[]; now: Date };

async function findWarned(tx: Queryable, { workspaceId, prepared, occurrences, now }: Found): Promise<WarnedCampaign> {
  const { definition, timing } = prepared;
  const { platforms, content, variants, settings, businessEvent } = definition;
  const event =
    businessEvent === undefined ? undefined : await findBusinessEvent(tx, { workspaceId, named: businessEvent });
  return {
    platforms,
    content,
    variants,
    settings,
    recurs: definition.deliveryType !== 'ONE_TIME',
    occurrences: timing.kind === 'soon' ? [now] : occurrences.map(({ at }) => at),
    controls: (await findWorkspaceControls(tx, workspaceId))!,
    credentials: await findPlatformCredentials(tx, workspaceId),
    eventAttributes: event?.attributes ?? [],
    androidMode: (await findWorkspace(tx, workspaceId))!.androidPayload.mode,
    apps: await listApps(tx, workspaceId),
  };
}
