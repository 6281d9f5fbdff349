/** Days of the ledger: long enough to find out why a user got a message in the last quarter. Ours. */
export const ledgerDays = 90;
/** Days of events: a filter may look back to the same month a year ago. Ours. */
export const eventsDays = 400;
/** Runs with their counters. Ours. */
export const runsDays = 400;
/** Reports of each device about each run. Ours. */
export const interactionsDays = 400;
/** Push requests and the runs they became. Ours. */
export const pushRequestsDays = 90;
/** Finished callbacks and emails, with their attempts. Ours. */
export const messagesDays = 90;
/** File operations of segments with their skipped lines, and imports. Ours. */
export const operationsDays = 400;
/** The audit log, and the proofs of erasures. Ours. */
export const auditDays = 1_825;
/** Counts of nodes by the minute: a week, and a day to compare it with. Ours. */
export const metricDays = 8;
/** Closed alerts. Ours. */
export const alertDays = 90;
