/** Calls of the statistics of a workspace (fact 7). */
export const statsRequestsPerMinute = 100;
/** Campaigns in one answer (fact 7). */
export const maxStatsCampaigns = 10;
/** Days of one question (fact 7). */
export const maxStatsDays = 30;
/** Days of one report file (fact 7). */
export const maxReportDays = 90;
/** How long a report file can be read (fact 7). */
export const reportFileDays = 7;
/** Report files of a workspace that are not gone. Ours. */
export const maxReportFiles = 50;
/** Ours. */
export const maxStatsBodyBytes = 16 * 1024;
