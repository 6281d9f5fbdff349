/** Maximum `trigger_delay_value`: the events that secondary filters check are kept longer. Ours. */
export const maxTriggerDelayDays = 30;
/** How far ahead a time in an event or a user attribute may be. Ours. */
export const maxTriggerAheadDays = 366;
/** Filters of `included_filters`, and of `secondary_included_filters`. Ours. */
export const maxTriggerFilters = 20;
/** Number of times that a secondary filter may require an event. Ours. */
export const maxTriggerCount = 1_000;
