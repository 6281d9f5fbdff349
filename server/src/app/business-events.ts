import type { SearchVersion } from '../domain/campaigns/campaign.ts';
import { deliverySettings, sendUntil } from '../domain/campaigns/delivery-settings.ts';
import { ServiceError } from '../domain/errors.ts';
import { attributesFault } from '../domain/events/events.ts';
import type { BusinessAttribute } from '../domain/events/events.ts';
import { makeId } from '../domain/ids.ts';
import { maxBusinessEvents, triggerWindows } from '../domain/limits/campaigns.ts';
import { ringAfterCommit } from '../engine/doorbell.ts';
import {
  countBusinessEvents,
  insertBusinessEvent,
  lockBusinessEvents,
  listBusinessEvents,
  findBusinessEvent,
  lockAttachedCampaigns,
  noteTrigger,
} from '../storage/campaigns/business-events.ts';
import type { BusinessEvent, BusinessEventPage, AttachedCampaign } from '../storage/campaigns/business-events.ts';
import type { Queryable, Transaction } from '../storage/database.ts';
import { insertQueuedRuns } from '../storage/runs/runs.ts';
import type { QueuedRun } from '../storage/runs/runs.ts';
import { findWorkspace } from '../storage/workspaces.ts';
import type { AuthoringCaller, AuthoringDependencies } from './campaigns/authoring.ts';
import { answerOnce } from './idempotency.ts';
import { countCall } from './segments/segment-limits.ts';

export type BusinessEventDependencies = Omit<AuthoringDependencies, 'limits'>;

export type BusinessEventCommand = AuthoringCaller & {
  name: string;
  attributes: BusinessAttribute[];
  createdBy: string;
};

/** @throws ServiceError BUSINESS_EVENT_NAME_TAKEN, BUSINESS_EVENT_LIMITED */
export async function createBusinessEvent(
  deps: BusinessEventDependencies,
  command: BusinessEventCommand,
): Promise<{ id: string }> {
  const { workspaceId, name, attributes, createdBy, idempotencyKey: key, rawBody } = command;
  const at = deps.clock.now();
  return answerOnce(deps, { workspaceId, operation: 'business-event', key, rawBody, at }, async (tx) => {
    await lockBusinessEvents(tx, workspaceId);
    const count = await countBusinessEvents(tx, workspaceId);
    const id = makeId(at);
    const isNew = await insertBusinessEvent(tx, { id, workspaceId, name, attributes, createdBy, createdAt: at });
    if (!isNew) throw new ServiceError('BUSINESS_EVENT_NAME_TAKEN', { field: 'event_name' });
    if (count >= maxBusinessEvents) throw new ServiceError('BUSINESS_EVENT_LIMITED');
    return { id };
  });
}

export type { BusinessEvent };

/** Newest first. */
export function listEvents({ database }: { database: Queryable }, page: BusinessEventPage): Promise<BusinessEvent[]> {
  return listBusinessEvents(database, page);
}

/** Adds the workspace's database name, which V1 returns next to each event. */
export async function listEventsWithDbName(
  { database }: { database: Queryable },
  page: BusinessEventPage,
): Promise<{ events: BusinessEvent[]; dbName: string }> {
  const events = await listBusinessEvents(database, page);
  return { events, dbName: (await findWorkspace(database, page.workspaceId))!.dbName };
}

export type TriggerCommand = AuthoringCaller & {
  version: SearchVersion;
  /** Name or id. */
  event: string;
  attributes: Record<string, unknown>;
  triggeredBy: string;
};

/** The campaigns that got a run, and those that the limit excluded. */
export type TriggerAnswer = { triggered: string[]; failed: string[]; retryAfterSeconds: number | undefined };

/**
 * Fires a business event: each live campaign attached to it gets one run, its child campaign. All runs are created in one
 * transaction. Campaigns beyond the limit are reported as failed.
 *
 * @throws ServiceError BUSINESS_EVENT_NOT_FOUND, BUSINESS_EVENT_ATTRIBUTE_WRONG, BUSINESS_EVENT_WITHOUT_CAMPAIGNS
 */
export async function triggerBusinessEvent(
  deps: BusinessEventDependencies,
  command: TriggerCommand,
): Promise<TriggerAnswer> {
  const { workspaceId, idempotencyKey: key, rawBody } = command;
  const at = deps.clock.now();
  return answerOnce(deps, { workspaceId, operation: 'business-event:trigger', key, rawBody, at }, async (tx) => {
    const event = await findBusinessEvent(tx, { workspaceId, named: command.event });
    if (!event) throw new ServiceError('BUSINESS_EVENT_NOT_FOUND', { field: 'event_name' });
    const reason = attributesFault(command.attributes, event.attributes);
    if (reason !== undefined)
      throw new ServiceError('BUSINESS_EVENT_ATTRIBUTE_WRONG', { field: 'event_attributes', reason, detail: reason });
    await noteTrigger(tx, { id: event.id, at });
    const campaigns = (await lockAttachedCampaigns(tx, event.id)).filter((one) => isRunning(one, at));
    if (campaigns.length === 0) throw new ServiceError('BUSINESS_EVENT_WITHOUT_CAMPAIGNS', { field: 'event_name' });
    const { attributes, triggeredBy } = command;
    return startRuns(tx, { command, campaigns, firing: { event: event.name, attributes, triggeredBy }, at });
  });
}

/** An expired campaign retires within a second; until then it must not fire. */
function isRunning({ timing }: AttachedCampaign, at: Date): boolean {
  if (timing.kind !== 'triggered') return false;
  const now = at.toISOString();
  return (timing.startsAt ?? now) <= now && (timing.endsAt === null || timing.endsAt > now);
}

type Start = {
  command: TriggerCommand;
  campaigns: AttachedCampaign[];
  firing: NonNullable<QueuedRun['businessEvent']>;
  at: Date;
};

async function startRuns(tx: Transaction, { command, campaigns, firing, at }: Start): Promise<TriggerAnswer> {
  const { workspaceId, version } = command;
  const answer: TriggerAnswer = { triggered: [], failed: [], retryAfterSeconds: undefined };
  const runs: QueuedRun[] = [];
  for (const { id: campaignId, settings } of campaigns) {
    const call = { operation: 'business-event-run', workspaceId, windows: triggerWindows[version], at };
    const refusal = await countCall(tx, call);
    if (refusal) {
      answer.failed.push(campaignId);
      answer.retryAfterSeconds = refusal.retryAfterSeconds;
      continue;
    }
    answer.triggered.push(campaignId);
    const lives = { at, sendUntil: sendUntil(deliverySettings(settings), at) };
    runs.push({ id: makeId(at), workspaceId, campaignId, ...lives, businessEvent: firing });
  }
  await insertQueuedRuns(tx, runs);
  if (runs.length > 0) ringAfterCommit(tx, 'fan-out');
  return answer;
}
