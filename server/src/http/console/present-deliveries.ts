import type { DeliveryCursor, ListedDelivery } from '../../app/console/console-deliveries.ts';

export function presentListedDelivery({ userId, ...delivery }: ListedDelivery) {
  return { ...delivery, personId: userId };
}

/** A text for the address; parseCursor of the routes reads it. */
export function presentCursor({ day, place }: DeliveryCursor): string {
  return place ? [day, place.sentAt.toISOString(), place.runId, place.deviceId].join('~') : day;
}
