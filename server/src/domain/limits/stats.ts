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
