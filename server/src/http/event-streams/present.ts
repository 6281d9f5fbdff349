import type { DeadBatch, EventStream } from '../../app/event-streams/manage-event-streams.ts';
import { makeRequestId } from '../request-id.ts';

export function presentStream(stream: EventStream) {
  return {
    id: stream.id,
    url: stream.url,
    events: stream.events,
    user_attributes: stream.userAttributes,
    device_attributes: stream.deviceAttributes,
    created_at: stream.createdAt.toISOString(),
    updated_at: stream.updatedAt.toISOString(),
    delivered_events: stream.deliveredEvents,
    last_delivered_at: stream.lastDeliveredAt?.toISOString() ?? null,
    pending_batches: stream.pendingBatches,
    dead_batches: stream.deadBatches,
    unanswered_since: stream.silentSince?.toISOString() ?? null,
    paused_until: stream.pausedUntil?.toISOString() ?? null,
  };
}

export function presentDeadBatch(batch: DeadBatch) {
  return {
    id: batch.id,
    events: batch.events,
    first_event_time: batch.firstEventAt,
    attempts: batch.attempts,
    last_status: batch.lastStatus,
    last_error: batch.lastError,
    given_up_at: batch.endedAt.toISOString(),
  };
}

export function presentStreamAnswer<Data>(data: Data) {
  return { response_id: makeRequestId(), type: 'event_stream' as const, data };
}
