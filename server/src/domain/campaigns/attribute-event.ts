import type { AttributionType } from './attribution.ts';

/** A message of a campaign for the user of an event, from before the event. */
export type MessageBefore = {
  sentAt: Date;
  /** A provider accepted it. */
  isAccepted: boolean;
  /** When its device first reported that it was shown, or clicked; null: not before the event. */
  viewedAt: Date | null;
  clickedAt: Date | null;
};

export type AttributedMessage<Message> = { attribution: AttributionType; message: Message };

const hour = 3_600_000;

/**
 * By which of a campaign's messages an event counts, and how: of those that meet a rule the newest. Whether a click's session
 * lasted until the event is asked where CLICK_THROUGH holds, and not decided here.
 *
 * - TOTAL_CONVERSIONS: the message was sent at most a window before; one that was accepted goes before those that were not.
 * - CLICK_CONVERSIONS: it was sent at most a window before, and clicked.
 * - VIEW_THROUGH: it was shown at most a window before.
 * - CLICK_THROUGH: it was clicked at most a window before.
 *
 * @param messages the newest first
 */
export function attributeEvent<Message extends MessageBefore>(
  messages: readonly Message[],
  { occurredAt, windowHours }: { occurredAt: Date; windowHours: number },
): AttributedMessage<Message>[] {
  const opensAt = new Date(occurredAt.getTime() - windowHours * hour);
  const isWithin = (at: Date | null): boolean => at !== null && at >= opensAt && at <= occurredAt;
  const sent = messages.filter(({ sentAt }) => isWithin(sentAt));
  const accepted = messages.filter(({ isAccepted }) => isAccepted);
  const found: Partial<Record<AttributionType, Message | undefined>> = {
    TOTAL_CONVERSIONS: sent.find(({ isAccepted }) => isAccepted) ?? sent[0],
    CLICK_CONVERSIONS: newestBy(
      sent.filter(({ isAccepted, clickedAt }) => isAccepted && clickedAt !== null && clickedAt <= occurredAt),
      'clickedAt',
    ),
    VIEW_THROUGH: newestBy(
      accepted.filter(({ viewedAt }) => isWithin(viewedAt)),
      'viewedAt',
    ),
    CLICK_THROUGH: newestBy(
      accepted.filter(({ clickedAt }) => isWithin(clickedAt)),
      'clickedAt',
    ),
  };
  return Object.entries(found).flatMap(([attribution, message]) =>
    message ? [{ attribution: attribution as AttributionType, message }] : [],
  );
}

function newestBy<Message extends MessageBefore>(
  messages: readonly Message[],
  time: 'viewedAt' | 'clickedAt',
): Message | undefined {
  return messages.reduce<Message | undefined>(
    (newest, message) => (newest && newest[time]! >= message[time]! ? newest : message),
    undefined,
  );
}
