/** Calls of the statistics of a workspace (fact 7). */
export const statsRequestsPerMinute = 100;
/** Campaigns in one answer (fact 7). */
export const maxStatsCampaigns = 10;
/** Days of one question (fact 7). */
export const maxStatsDays = 30;
/** Ours. */
export const maxStatsBodyBytes = 16 * 1024;
