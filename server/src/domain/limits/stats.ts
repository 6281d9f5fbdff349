/** Calls of the statistics of a workspace (fact 7). */
export const statsRequestsPerMinute = 100;
/** Campaigns in one response (fact 7). */
export const maxStatsCampaigns = 10;
/** Days of one query (fact 7). */
export const maxStatsDays = 30;
/** Days of one report file (fact 7). */
export const maxReportDays = 90;
/** How long a report file can be downloaded (fact 7). */
export const reportFileDays = 7;
/** Report files that a workspace can have at once. Ours. */
export const maxReportFiles = 50;
/** Ours. */
export const maxStatsBodyBytes = 16 * 1024;
