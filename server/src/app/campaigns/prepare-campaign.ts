import { noSuchApp, findCriticalSounds, needsCriticalAlerts } from '../../domain/apps.ts';
import type { App } from '../../domain/apps.ts';
import { readCampaign } from '../../domain/campaign-document/campaign.ts';
import type { CampaignDefinition, CampaignParts } from '../../domain/campaign-document/campaign.ts';
import type { CampaignAudience } from '../../domain/campaign-document/audience.ts';
import { scheduleTiming } from '../../domain/campaign-document/schedule.ts';
import type { ScheduleContext } from '../../domain/campaign-document/schedule.ts';
import { makePersonaliser } from '../../domain/template/personalise.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { RequestFault } from '../../fields/reading-rules.ts';
import type { BusinessAttribute } from '../../domain/events/events.ts';
import { defaultDeliverySettings } from '../../domain/campaigns/delivery-settings.ts';
import type { DeliverySettings } from '../../domain/campaigns/delivery-settings.ts';
import { noSuchTopic } from '../../domain/topics.ts';
import type { CampaignTopic } from '../../domain/topics.ts';
import type { Timing } from '../../domain/timing/timing.ts';
import type { Queryable } from '../../storage/database.ts';
import { listApps } from '../../storage/apps.ts';
import { findBusinessEvent } from '../../storage/campaigns/business-events.ts';
import { findSegmentById } from '../../storage/segments/segments.ts';
import { holdTopic } from '../../storage/topics.ts';
import { findWorkspace, findWorkspaceControls } from '../../storage/workspaces.ts';
import { findUnknownApp } from '../apps.ts';
import { prepareFilters } from '../segments/filter-segments.ts';
import { unknownCase } from '../../domain/unknown-case.ts';

/** A campaign that can go live now. */
export type PreparedCampaign = {
  parts: CampaignParts;
  definition: Omit<CampaignDefinition, 'settings'> & { settings: DeliverySettings };
  timing: Timing;
  /** The named segment, the filters that the campaign will own, or undefined for all users. */
  segment: { id: string } | { filters: PreparedFilters } | undefined;
  businessEventId: string | null;
};

export type PreparedFilters = Awaited<ReturnType<typeof prepareFilters>>;

export type Preparation = { workspaceId: string; parts: CampaignParts; now: Date; start: ScheduleContext['start'] };

/**
 * Parses the parts of a campaign and checks them against clock and database: everything they refer to must exist. Reports all
 * faults at once.
 */
export async function prepareCampaign(
  tx: Queryable,
  { workspaceId, parts, now, start }: Preparation,
): Promise<PreparedCampaign | { faults: RequestFault[] }> {
  const { definition, faults } = readCampaign(parts);
  if (!definition) return { faults };
  const workspace = await findWorkspace(tx, workspaceId);
  const timing = scheduleTiming(definition.schedule, { now, workspaceTimeZone: workspace!.timeZone, start });
  const found = await findCampaignSegment(tx, { workspaceId, audience: definition.audience });
  const event = await findEvent(tx, { workspaceId, name: definition.businessEvent });
  const unreadable = 'fault' in event ? [] : eventValueFaults(definition, event);
  unreadable.push(...userEventFaults(definition));
  const unknownApp = await findUnknownApp(tx, { workspaceId, appIds: definition.settings.appIds });
  const apps = unknownApp === undefined ? [] : [{ field: 'advanced.app_ids', reason: noSuchApp(unknownApp) }];
  const groups = definition.settings.leavesOutGlobalControlGroup ? await controlGroupFaults(tx, workspaceId) : [];
  const late = [timing, found, event].flatMap((result) => ('fault' in result ? [result.fault] : []));
  const topic = await findCampaignTopic(tx, { workspaceId, key: definition.topicKey });
  if (topic && 'fault' in topic) late.push(topic.fault);
  late.push(...unreadable, ...apps, ...groups, ...(await soundFaults(tx, { workspaceId, definition })));
  if ('fault' in timing || 'fault' in found || 'fault' in event || late.length > 0) return { faults: late };
  const settings = { ...definition.settings, ...(topic && !('fault' in topic) ? { topic } : {}) };
  return { parts, definition: { ...definition, settings }, timing, segment: found.segment, businessEventId: event.id };
}

/** @throws ServiceError CAMPAIGN_REQUEST_INVALID with all faults */
export async function requirePrepared(tx: Queryable, preparation: Preparation): Promise<PreparedCampaign> {
  const prepared = await prepareCampaign(tx, preparation);
  if ('faults' in prepared) throw invalidCampaign(prepared.faults);
  return prepared;
}

export function invalidCampaign(faults: RequestFault[]): ServiceError {
  const detail = faults.map(({ field, reason }) => `${field}: ${reason}`).join('; ');
  return new ServiceError('CAMPAIGN_REQUEST_INVALID', { faults, detail });
}

async function soundFaults(
  tx: Queryable,
  { workspaceId, definition }: { workspaceId: string; definition: CampaignDefinition },
): Promise<RequestFault[]> {
  const { variants, content, settings } = definition;
  const asking = (apps: readonly App[]) =>
    (variants ? variants.contents.flat() : [content]).flatMap((one) =>
      findCriticalSounds(one, { apps, appIds: settings.appIds }),
    );
  // Most campaigns use no critical sound, and then nothing is read.
  if (asking([]).length === 0 || asking(await listApps(tx, workspaceId)).length === 0) return [];
  return [{ field: 'campaign_content', reason: `push.ios.options.sound.critical ${needsCriticalAlerts}` }];
}

/** Returns the topic that a campaign names, which is not removed until the transaction ends. Without a name nothing is read. */
export async function findCampaignTopic(
  tx: Queryable,
  { workspaceId, key }: { workspaceId: string; key: string | undefined },
): Promise<CampaignTopic | { fault: RequestFault } | undefined> {
  if (key === undefined) return undefined;
  return (
    (await holdTopic(tx, { workspaceId, key })) ?? { fault: { field: 'advanced.topic', reason: noSuchTopic(key) } }
  );
}

type FoundEvent = { id: string | null; attributes: BusinessAttribute[] } | { fault: RequestFault };

async function findEvent(
  tx: Queryable,
  { workspaceId, name }: { workspaceId: string; name: string | undefined },
): Promise<FoundEvent> {
  if (name === undefined) return { id: null, attributes: [] };
  const event = await findBusinessEvent(tx, { workspaceId, named: name });
  return event ?? { fault: { field: 'basic_details.business_event', reason: 'names an event that does not exist' } };
}

/** A campaign that excludes the workspace's control group needs a workspace that has one. */
async function controlGroupFaults(tx: Queryable, workspaceId: string): Promise<RequestFault[]> {
  const controls = await findWorkspaceControls(tx, workspaceId);
  if (controls!.controlGroupPercent !== null) return [];
  const reason = 'needs a control group of the workspace: carillon workspaces set --control-group';
  return [{ field: 'control_group_details.is_global_control_group_enabled', reason }];
}

/** A template that reads a value the event does not have would fail for every user. */
function eventValueFaults(
  { content, variants }: CampaignDefinition,
  event: { id: string | null; attributes: BusinessAttribute[] },
): RequestFault[] {
  const contents = variants ? variants.contents.flat() : [content];
  const ofContents = contents.map((own) => makePersonaliser(own, defaultDeliverySettings.templates)?.eventReads ?? []);
  const names = ofContents.includes('all') ? 'all' : ofContents.flat();
  const fault = (reason: string) => [{ field: 'campaign_content', reason }];
  if (names.length > 0 && event.id === null)
    return fault('reads BusinessEventAttribute, which has values in campaigns that a business event starts');
  const unknown =
    names === 'all' ? undefined : names.find((name) => !event.attributes.some((attribute) => attribute.name === name));
  return unknown === undefined
    ? []
    : fault(`reads BusinessEventAttribute['${unknown}'], which the event does not have`);
}

/** Only campaigns that a user event triggers have an event. Its attributes cannot be known beforehand. */
function userEventFaults({ content, variants, trigger }: CampaignDefinition): RequestFault[] {
  if (trigger) return [];
  const contents = variants ? variants.contents.flat() : [content];
  const reads = contents.some(
    (own) => (makePersonaliser(own, defaultDeliverySettings.templates)?.userEventReads ?? []).length > 0,
  );
  const reason = 'reads EventAttribute, which has values in campaigns of type EVENT_TRIGGERED';
  return reads ? [{ field: 'campaign_content', reason }] : [];
}

type Found = { segment: PreparedCampaign['segment'] } | { fault: RequestFault };

/** Returns the segment that an audience names or the filters that its campaign will own; undefined means all users. */
export async function findCampaignSegment(
  tx: Queryable,
  { workspaceId, audience }: { workspaceId: string; audience: CampaignAudience },
): Promise<Found> {
  const fault = (reason: string): Found => ({ fault: { field: 'segmentation_details.included_filters', reason } });
  switch (audience.kind) {
    case 'all-users':
      return { segment: undefined };
    case 'segment': {
      const segment = await findSegmentById(tx, { workspaceId, id: audience.id });
      if (!segment) return fault('names a segment that does not exist');
      if (segment.state === 'ARCHIVED') return fault('names a segment that is archived');
      if (segment.state === 'FAILED') return fault(`names a segment that could not be filled: ${segment.stateReason}`);
      return { segment: { id: segment.id } };
    }
    case 'filter':
      try {
        return { segment: { filters: await prepareFilters(tx, { workspaceId, command: audience, ownId: undefined }) } };
      } catch (error) {
        if (error instanceof ServiceError) return fault(error.context.detail ?? error.message);
        throw error;
      }
    default:
      return unknownCase(audience);
  }
}
