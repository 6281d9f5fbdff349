import type { BusinessEvent } from '../../app/business-events/list-business-events.ts';
import type { TriggerAnswer } from '../../app/business-events/trigger-business-event.ts';
import { joinedTime } from '../campaigns/present-campaign.ts';
import { makeRequestId } from '../request-id.ts';

/** An event as both versions show it. */
function presentEvent(event: BusinessEvent) {
  return {
    event_id: event.id,
    event_name: event.name,
    event_attributes: event.attributes.map(({ name, type }) => ({ attribute_name: name, attribute_data_type: type })),
    created_by: event.createdBy,
    created_at: joinedTime(event.createdAt),
    total_trigger: event.totalTriggers,
    usage_count: event.campaigns,
    ...(event.lastTriggeredAt ? { last_received_time: joinedTime(event.lastTriggeredAt) } : {}),
  };
}

export function presentV1Events(events: BusinessEvent[], dbName: string) {
  return { data: events.map((event) => ({ db_name: dbName, ...presentEvent(event) })) };
}

/** A page that is full may have another behind it. */
export function presentV5Events(events: BusinessEvent[], limit: number) {
  const last = events.length === limit ? events.at(-1) : undefined;
  return presentV5Event({
    business_events: events.map((event) => ({ id: event.id, ...presentEvent(event) })),
    ...(last ? { next_cursor: last.id } : {}),
  });
}

/** Fact 6.3. There are no flows. */
export function presentV5Trigger({ triggered, failed }: TriggerAnswer) {
  const status = failed.length === 0 ? 'SUCCESS' : triggered.length === 0 ? 'FAILURE' : 'PARTIAL_SUCCESS';
  return presentV5Event({
    triggered_status: status,
    message:
      failed.length === 0
        ? 'The business event has been triggered'
        : 'The limit of campaigns that events start was reached',
    summary: { total: triggered.length + failed.length, triggered: triggered.length, failed: failed.length },
    triggered_campaign_ids: triggered,
    failed_campaign_ids: failed,
    triggered_flow_ids: [],
    failed_flow_ids: [],
  });
}

function presentV5Event<Data>(data: Data) {
  return { response_id: makeRequestId(), type: 'business_event' as const, data };
}
