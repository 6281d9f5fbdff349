import type { LimitWindow } from '../access/rate-limits.ts';

// Campaigns

/**
 * Calls of V1 and V5 together, as the rate limit headers report them (decision D44).
 * Unit: requests a minute per workspace. Exceeded: CAMPAIGN_RATE_LIMITED.
 */
export const campaignCallsPerMinute = 100;

/**
 * Calls of V1 and V5 together (decision D44).
 * Unit: requests per workspace. Exceeded: CAMPAIGN_RATE_LIMITED.
 * The documented third limit, 6,000 an hour, needs no separate window: an hour is sixty minutes, and each allows at
 * most 100.
 */
export const campaignCallWindows: readonly LimitWindow[] = [
  { events: 10, seconds: 1 },
  { events: campaignCallsPerMinute, seconds: 60 },
];

/**
 * Campaigns created through the API (fact 6.1, 6.3).
 * Unit: campaigns per workspace. Exceeded: CAMPAIGN_CREATION_LIMITED.
 * A rejected request does not count.
 */
export const campaignCreationWindows: readonly LimitWindow[] = [
  { events: 5, seconds: 60 },
  { events: 25, seconds: 3_600 },
  { events: 100, seconds: 86_400 },
];

/**
 * Time for which a `request_id` of V1 cannot be used again (fact 6.1).
 * Unit: hours per request id. Exceeded: It can be used again; until then, the error is `CAMPAIGN_REQUEST_REPEATED`.
 */
export const campaignRequestIdHours = 1;

/** Retention of a used `request_id`. Unit: hours per request id. Exceeded: It is deleted. */
export const campaignRequestIdKeptHours = 24;

/**
 * Campaigns in a page of a search (interface 8, decision D41).
 * Unit: campaigns per request. Exceeded: CAMPAIGN_REQUEST_INVALID.
 */
export const maxCampaignsPerPage = { V1: 100, V5: 15 } as const;

/**
 * Campaigns whose status one request changes (fact 6.1).
 * Unit: campaigns per request. Exceeded: CAMPAIGN_REQUEST_INVALID.
 */
export const maxActedCampaigns = 10;

/** Users to whom one request sends a test (fact 6.1). Unit: users per request. Exceeded: CAMPAIGN_REQUEST_INVALID. */
export const maxTestIdentifiers = 10;
/** Versions of a campaign (fact 6.3). Unit: versions per campaign. Exceeded: CAMPAIGN_NOT_EDITABLE. */
export const maxCampaignVersions = 15;

/**
 * Longest name of a campaign.
 * Unit: characters per name. Exceeded: CAMPAIGN_REQUEST_INVALID.
 * The table has the same limit.
 */
export const maxCampaignNameCharacters = 256;

/** Templates of campaigns. Unit: templates per workspace. Exceeded: PARAMETER_INVALID. */
export const maxCampaignTemplates = 200;
/** Tags of a campaign of V1 or V5. Unit: tags per campaign. Exceeded: CAMPAIGN_REQUEST_INVALID. */
export const maxCampaignTags = 100;
/** Conversion goals of a campaign (fact 3.1). Unit: goals per campaign. Exceeded: CAMPAIGN_REQUEST_INVALID. */
export const maxConversionGoals = 5;

/**
 * Time after a message in which events count as its conversions, unless `attribution_window_in_hours` sets another
 * (fact 6.2).
 * Unit: hours per message. Exceeded: Later events are not counted.
 */
export const conversionWindowHours = 36;

/**
 * Longest `attribution_window_in_hours`.
 * Unit: hours per campaign. Exceeded: CAMPAIGN_REQUEST_INVALID.
 * This and the time to live of a message before it are together shorter than the minimum retention of the ledger.
 */
export const maxConversionWindowHours = 144;

/**
 * Idle time of a user that ends the session of a click.
 * Unit: minutes per click. Exceeded: Later events are not counted as `IN_SESSION`.
 */
export const sessionIdleMinutes = 30;

/**
 * Delay after which an event is attributed to messages.
 * Unit: seconds per event. Exceeded: The event is attributed.
 * A window stores its deliveries with the time just before its transaction, and only committed rows are visible. This
 * is twice the maximum time that the database allows a transaction to be idle (`idle_in_transaction_session_timeout`,
 * 60 s).
 */
export const conversionSettleSeconds = 120;

/**
 * Delay after which an event is attributed to messages in a sandbox.
 * Unit: seconds per event. Exceeded: The event is attributed.
 * Small windows are stored within milliseconds, and a user watches the screen.
 */
export const sandboxConversionSettleSeconds = 1;

/**
 * Sends of a periodic campaign with a limited number of sends.
 * Unit: sends per campaign. Exceeded: CAMPAIGN_REQUEST_INVALID.
 */
export const maxOccurrences = 1_000;

/**
 * Time for which a provider may keep a message for a device it cannot reach, unless the campaign sets another (fact
 * 3.4).
 * Unit: minutes per message. Exceeded: The provider drops the message.
 */
export const defaultTtlMinutes = 2_160;

/**
 * Longest time to live that a campaign may set: a week (fact 3.4).
 * Unit: minutes per campaign. Exceeded: CAMPAIGN_REQUEST_INVALID.
 */
export const maxTtlMinutes = 10_080;

/**
 * Fastest throttle that a campaign may set.
 * Unit: devices a minute per campaign. Exceeded: CAMPAIGN_REQUEST_INVALID.
 */
export const maxDevicesPerMinute = 10_000_000;

/** Apps to which a campaign is restricted. Unit: apps per campaign. Exceeded: CAMPAIGN_REQUEST_INVALID. */
export const maxNamedApps = 20;

// Business events

const hourAndDay: readonly LimitWindow[] = [
  { events: 50, seconds: 3_600 },
  { events: 200, seconds: 86_400 },
];

/**
 * Campaigns that business events start (fact 6.3).
 * Unit: campaigns per workspace. Exceeded: BUSINESS_EVENT_RATE_LIMITED.
 * The response lists the campaigns beyond the limit as failed.
 */
export const triggerWindows = {
  V1: hourAndDay,
  V5: [{ events: 10, seconds: 300 }, ...hourAndDay] as readonly LimitWindow[],
} as const;

/** Business events of a workspace (fact 6.3). Unit: events per workspace. Exceeded: BUSINESS_EVENT_LIMITED. */
export const maxBusinessEvents = 50;
/** Attributes of a business event. Unit: attributes per request. Exceeded: CAMPAIGN_REQUEST_INVALID. */
export const maxBusinessAttributes = 100;

/**
 * Longest name of a business event or of its attribute.
 * Unit: characters per name. Exceeded: CAMPAIGN_REQUEST_INVALID.
 */
export const maxBusinessNameCharacters = 256;

/** Business events in a page of the list (fact 6.3). Unit: events per request. Exceeded: CAMPAIGN_REQUEST_INVALID. */
export const maxBusinessEventsPerPage = 20;

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

// Send times

/**
 * Delay with which a scheduled occurrence is still sent (decision D37).
 * Unit: minutes per occurrence. Exceeded: The occurrence is recorded as `MISSED`. Setting: CARILLON_LATE_SEND_MINUTES.
 */
export const lateSendMinutes = 60;

/**
 * Opened messages that are needed to know a user's best time.
 * Unit: messages per user. Below: The `if_best_time_is_unknown` of the campaign decides the time.
 * Fewer are chance.
 */
export const minOpensOfBestTime = 3;

/**
 * Period before a send whose opens determine the best time.
 * Unit: days per user. Exceeded: Older opens are ignored.
 * Habits change.
 */
export const bestTimeDays = 90;

/**
 * Longest `window_in_hours` of a campaign at the best time.
 * Unit: hours per campaign. Exceeded: CAMPAIGN_REQUEST_INVALID.
 * A day has every hour.
 */
export const maxBestTimeHours = 24;

/**
 * Longest `repeatAfter` of a periodic push (decision D36).
 * Unit: days per request. Exceeded: PUSH_PARAMETER_INVALID.
 */
export const maxRepeatAfterDays = 365;

// Frequency caps and audience limits

/**
 * Rules of the frequency cap.
 * Unit: rules per workspace. Exceeded: PARAMETER_INVALID.
 * The table has the same bounds.
 */
export const maxCaps = 5;

/** Messages that a rule of the frequency cap may allow. Unit: messages per rule. Exceeded: PARAMETER_INVALID. */
export const maxCapMessages = 100;

/**
 * Longest period of a rule of the frequency cap.
 * Unit: hours per rule. Exceeded: PARAMETER_INVALID.
 * Thirty days: longer than any cap in use, and short enough to keep a user's message history in a small row.
 */
export const maxCapHours = 720;

/**
 * Longest minimum delay between messages of different campaigns to one user: a week.
 * Unit: minutes per workspace. Exceeded: PARAMETER_INVALID.
 */
export const maxDelayMinutes = 10_080;

/**
 * Longest `queue_duration`: a campaign may keep messages back to send them later (fact 6.2).
 * Unit: hours per campaign. Exceeded: CAMPAIGN_REQUEST_INVALID.
 */
export const maxQueueHours = 48;

/** Highest `campaign_audience_limit` (fact 6.2). Unit: users per campaign. Exceeded: CAMPAIGN_REQUEST_INVALID. */
export const maxLimitedUsers = 9_999_999_999;

// Experiments

/**
 * Share of a workspace's users in its control group.
 * Unit: percent per workspace. Exceeded: PARAMETER_INVALID.
 * The table has the same bounds. A larger group would no longer be a control.
 */
export const maxGlobalControlPercent = 50;

/**
 * Newest runs from which a campaign learns which variation works best.
 * Unit: runs per campaign. Exceeded: Older runs are ignored.
 */
export const maxLearnedRuns = 100;

/**
 * Variations of a campaign.
 * Unit: variations per campaign. Exceeded: CAMPAIGN_REQUEST_INVALID.
 * The ledger stores one digit.
 */
export const maxVariations = 9;

// Statistics and report files

/** Calls of the statistics (fact 7). Unit: requests a minute per workspace. Exceeded: STATS_RATE_LIMITED. */
export const statsRequestsPerMinute = 100;
/** Campaigns in one response (fact 7). Unit: campaigns per request. Exceeded: STATS_FIELD_INVALID. */
export const maxStatsCampaigns = 10;
/** Days that one query covers (fact 7). Unit: days per request. Exceeded: STATS_FIELD_INVALID. */
export const maxStatsDays = 30;
/** Days that one report file covers (fact 7). Unit: days per request. Exceeded: STATS_FIELD_INVALID. */
export const maxReportDays = 90;
/** Time for which a report file can be downloaded (fact 7). Unit: days per file. Exceeded: It is deleted. */
export const reportFileDays = 7;
/** Report files that a workspace can have at once. Unit: files per workspace. Exceeded: REPORT_FILES_LIMITED. */
export const maxReportFiles = 50;
/** Body of a call of the statistics. Unit: bytes per request. Exceeded: BODY_TOO_LARGE. */
export const maxStatsBodyBytes = 16 * 1024;

/** Longest value of a parameter in `utm_params`. Unit: characters per value. Exceeded: CAMPAIGN_REQUEST_INVALID. */
export const maxUtmCharacters = 256;
/** Parameters of other names in `utm_params` (fact 6.2). Unit: parameters per campaign. Exceeded: CAMPAIGN_REQUEST_INVALID. */
export const maxUtmCustomParameters = 5;

/**
 * Time in which a person can approve what an agent proposed. Unit: days per proposal. Exceeded: PROPOSAL_CLOSED.
 * Segments and prices change; an old proposal would be approved without a thought.
 */
export const proposalDays = 14;

/** Retention of proposals of agents. Unit: days per proposal. Exceeded: It is deleted; the audit log keeps the decision. */
export const keptProposalDays = 90;

/** Proposals of agents that wait for a decision. Unit: proposals per workspace. Exceeded: PROPOSALS_LIMITED. */
export const maxPendingProposals = 50;

/** Proposals that the console lists. Unit: proposals per workspace. Exceeded: Those decided earliest are not listed. */
export const maxShownProposals = 100;

/** Text that an agent adds to a proposal, or a person to a refusal. Unit: characters per text. Exceeded: PARAMETER_INVALID. */
export const maxProposalNoteCharacters = 1_000;

/** Users of a test that an agent proposes. Unit: users per proposal. Exceeded: PARAMETER_INVALID. */
export const maxProposedTestUsers = 10;
