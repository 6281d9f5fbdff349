// Campaigns that user events start

/**
 * Longest `trigger_delay_value`.
 * Unit: days per campaign. Exceeded: CAMPAIGN_REQUEST_INVALID.
 * The events that secondary filters check are kept longer.
 */
export const maxTriggerDelayDays = 30;

/**
 * How far in the future the time of a `trigger_attr` may be.
 * Unit: days per value. Exceeded: The trigger is dropped as `TOO_FAR`.
 */
export const maxTriggerAheadDays = 366;

/**
 * Filters of `included_filters`, and of `secondary_included_filters`.
 * Unit: filters per campaign. Exceeded: CAMPAIGN_REQUEST_INVALID.
 */
export const maxTriggerFilters = 20;

/**
 * Number of times that `secondary_included_filters` may require an event.
 * Unit: events per filter. Exceeded: CAMPAIGN_REQUEST_INVALID.
 */
export const maxTriggerCount = 1_000;
