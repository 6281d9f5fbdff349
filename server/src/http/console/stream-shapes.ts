import { Type } from 'typebox';
import { streamedDeviceAttributes, streamedKinds } from '../../domain/event-streams/streamed-event.ts';
import { described, oneOf, orNull } from './shape-parts.ts';

export const ConsoleEventStream = Type.Object({
  id: Type.String(),
  url: Type.String(),
  events: Type.Array(oneOf(streamedKinds)),
  userAttributes: Type.Array(Type.String()),
  deviceAttributes: Type.Array(oneOf(streamedDeviceAttributes)),
  deliveredEvents: Type.Number({ description: 'In batches that the receiver took.' }),
  lastDeliveredAt: orNull(Type.String()),
  pendingBatches: Type.Number(),
  deadBatches: Type.Number({ description: 'Given up; they can be sent again.' }),
  silentSince: described(orNull(Type.String()), 'Since when the receiver has not answered.'),
  pausedUntil: described(orNull(Type.String()), 'Nothing is posted until then, because the receiver does not answer.'),
  createdAt: Type.String(),
});

export const DeadEventBatch = Type.Object({
  id: Type.String(),
  events: Type.Number(),
  firstEventAt: Type.String(),
  attempts: Type.Number({ description: 'Since it was made or sent again.' }),
  lastStatus: described(orNull(Type.Number()), 'Null: no answer came.'),
  lastError: orNull(Type.String()),
  endedAt: Type.String(),
});

export const EventStreamList = Type.Object({ streams: Type.Array(ConsoleEventStream) });
export const DeadEventBatchList = Type.Object({
  batches: Type.Array(DeadEventBatch),
  next: described(orNull(Type.String()), 'The `after` of the next page.'),
});
