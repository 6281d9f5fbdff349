/** Days of the ledger. Long enough to ask why somebody got a message of the last quarter. Ours. */
export const ledgerDays = 90;
/** Days of events: a filter may look back to the same month a year ago. Ours. */
export const eventsDays = 400;
/** Runs with what was counted of them. Ours. */
export const runsDays = 400;
/** What each device reported of each run. Ours. */
export const interactionsDays = 400;
/** Which run a push request became. Ours. */
export const pushRequestsDays = 90;
/** Callbacks and emails that have ended, with their attempts. Ours. */
export const messagesDays = 90;
/** File operations of segments with their skipped lines, and imports. Ours. */
export const operationsDays = 400;
/** The audit log, and the proofs of erasures. Ours. */
export const auditDays = 1_825;
/** What nodes counted, by the minute: a week and a day to compare it with. Ours. */
export const metricDays = 8;
/** Alerts that are over. Ours. */
export const alertDays = 90;
