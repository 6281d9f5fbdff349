/** Longest `trigger_delay_value`: the events that secondary filters look back at are kept longer. Ours. */
export const maxTriggerDelayDays = 30;
/** A time that an event or a user names may lie so far ahead. Ours. */
export const maxTriggerAheadDays = 366;
/** Filters of `included_filters`, and of `secondary_included_filters`. Ours. */
export const maxTriggerFilters = 20;
/** How often an event is to happen, of a secondary filter. Ours. */
export const maxTriggerCount = 1_000;
