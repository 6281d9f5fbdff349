import type { BusinessAttribute } from '../../domain/events/events.ts';
import type { StoredTiming } from '../../domain/timing/timing.ts';
import type { Queryable } from '../database.ts';

export type BusinessEvent = {
  id: string;
  name: string;
  attributes: BusinessAttribute[];
  totalTriggers: number;
  lastTriggeredAt: Date | null;
  createdBy: string;
  createdAt: Date;
  /** Number of campaigns that were published with it. */
  campaigns: number;
};

const columns = (tx: Queryable) => tx`
  business_events.id, business_events.name, business_events.attributes,
  business_events.total_triggers as "totalTriggers", business_events.last_triggered_at as "lastTriggeredAt",
  business_events.created_by as "createdBy", business_events.created_at as "createdAt",
  (select count(*) from campaigns where campaigns.business_event_id = business_events.id) as campaigns`;

/**
 * Lets one transaction at a time create events of a workspace, so that concurrent requests respect the limit. Held
 * until the transaction ends.
 */
export async function lockBusinessEvents(tx: Queryable, workspaceId: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`business-events:${workspaceId}`}, 0))`;
}

/** Index: business_events_newest. */
export async function countBusinessEvents(tx: Queryable, workspaceId: string): Promise<number> {
  const [row] = await tx<{ events: number }[]>`
    select count(*) as events from business_events where workspace_id = ${workspaceId}`;
  return row!.events;
}

export type NewBusinessEvent = Pick<BusinessEvent, 'id' | 'name' | 'attributes' | 'createdBy' | 'createdAt'> & {
  workspaceId: string;
};

/** @returns false when the name is taken; nothing was stored then */
export async function insertBusinessEvent(tx: Queryable, event: NewBusinessEvent): Promise<boolean> {
  const rows = await tx`
    insert into business_events (id, workspace_id, name, attributes, created_by, created_at)
    values (${event.id}, ${event.workspaceId}, ${event.name}, ${tx.json(event.attributes)}, ${event.createdBy},
      ${event.createdAt})
    on conflict (workspace_id, name) do nothing
    returning 1`;
  return rows.length === 1;
}

/** Finds an event by its name or id. Indexes: unique (workspace_id, name), primary key. */
export async function findBusinessEvent(
  tx: Queryable,
  { workspaceId, named }: { workspaceId: string; named: string },
): Promise<BusinessEvent | undefined> {
  const [event] = await tx<BusinessEvent[]>`
    select ${columns(tx)} from business_events
    where workspace_id = ${workspaceId} and (name = ${named} or id = ${named})
    order by name = ${named} desc limit 1`;
  return event;
}

export type BusinessEventPage = {
  workspaceId: string;
  /** Ids or names; undefined: every event. */
  ids: string[] | undefined;
  names: string[] | undefined;
  /** Events older than the one with this id. */
  after: string | undefined;
  limit: number;
};

/** Lists events, newest first, ties by id. Index: business_events_newest; there are at most fifty. */
export async function listBusinessEvents(tx: Queryable, page: BusinessEventPage): Promise<BusinessEvent[]> {
  const isAll = page.ids === undefined && page.names === undefined;
  return tx<BusinessEvent[]>`
    select ${columns(tx)} from business_events
    where workspace_id = ${page.workspaceId}
      and (${isAll} or id = any(${page.ids ?? []}) or name = any(${page.names ?? []}))
      ${
        page.after === undefined
          ? tx``
          : tx`and (created_at, id) < (select last.created_at, last.id from business_events as last
              where last.id = ${page.after} and last.workspace_id = ${page.workspaceId})`
      }
    order by created_at desc, id desc
    limit ${page.limit}`;
}

/** Records a firing. The row's lock serializes firings of one event. Index: primary key. */
export async function noteTrigger(tx: Queryable, { id, at }: { id: string; at: Date }): Promise<void> {
  await tx`
    update business_events set total_triggers = total_triggers + 1, last_triggered_at = ${at} where id = ${id}`;
}

export type AttachedCampaign = { id: string; timing: StoredTiming; settings: Record<string, unknown> };

/**
 * Returns the live campaigns of an event, locked for sharing, so that none is stopped, paused or revised before the
 * caller's transaction has created its run. Rows in id order. Index: campaigns_business_event.
 */
export async function lockAttachedCampaigns(tx: Queryable, eventId: string): Promise<AttachedCampaign[]> {
  return tx<AttachedCampaign[]>`
    select id, timing, settings from campaigns
    where business_event_id = ${eventId} and status = 'ACTIVE'
    order by id for share`;
}
