import type { GroupFilter } from '../segments/segment-filter.ts';

/** An event by its name and its attributes. The tree holds filters of attributes and groups of them only. */
export type EventFilter = { eventName: string; attributes: GroupFilter | undefined };

/** How often such an event happened between the event that started it and the time at which the message is due. */
export type CountFilter = EventFilter & { compared: 'atleast' | 'exactly' | 'atmost'; count: number };

/** When a message is due: so long before or after the event, or after the time that an attribute says. */
export type TriggerDelay = {
  milliseconds: number;
  relation: 'BEFORE' | 'AFTER';
  /** Of the event; of its user where the event has none of this name. Undefined: the event's own time counts. */
  attribute: string | undefined;
};

/** `trigger_condition` (fact 6.2): what event starts a campaign, when it sends, and what must be true then. */
export type TriggerCondition = {
  /** Any of them. */
  events: EventFilter[];
  secondary: { operator: 'and' | 'or'; filters: CountFilter[] } | undefined;
  delay: TriggerDelay;
};

/** Each name once. */
export function eventNamesOf({ events }: TriggerCondition): string[] {
  return [...new Set(events.map(({ eventName }) => eventName))];
}
