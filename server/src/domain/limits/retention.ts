// Retention

/**
 * Retention of deliveries in the ledger.
 * Unit: days per delivery. Exceeded: The partition of its day is dropped; the counts of failures by reason stay.
 * Setting: CARILLON_KEEP_LEDGER_DAYS.
 * Long enough to find out why a user got a message in the last quarter.
 */
export const ledgerDays = 90;

/**
 * Retention of events.
 * Unit: days per event. Exceeded: The partition of its day is dropped. Setting: CARILLON_KEEP_EVENTS_DAYS.
 * A filter may look back to the same month a year ago.
 */
export const eventsDays = 400;

/**
 * Retention of a run after its end.
 * Unit: days per run. Exceeded: It is deleted with its counters and conversions. Setting: CARILLON_KEEP_RUNS_DAYS.
 */
export const runsDays = 400;

/**
 * Retention of what a device reported about a run.
 * Unit: days per report. Exceeded: It is deleted; the totals of the campaign stay. Setting:
 * CARILLON_KEEP_INTERACTIONS_DAYS.
 */
export const interactionsDays = 400;

/**
 * Retention of the record of which run a push request became.
 * Unit: days per request. Exceeded: It is deleted. Setting: CARILLON_KEEP_PUSH_REQUESTS_DAYS.
 */
export const pushRequestsDays = 90;

/**
 * Retention of a callback or an email after its end.
 * Unit: days per message. Exceeded: It is deleted with its attempts. Setting: CARILLON_KEEP_MESSAGES_DAYS.
 */
export const messagesDays = 90;

/**
 * Retention of a file operation or an import after its end.
 * Unit: days per operation. Exceeded: It is deleted with its skipped lines. Setting: CARILLON_KEEP_OPERATIONS_DAYS.
 */
export const operationsDays = 400;

/**
 * Retention of a line of the audit log, and of the record of an erasure.
 * Unit: days per line. Exceeded: It is deleted. Setting: CARILLON_KEEP_AUDIT_DAYS.
 */
export const auditDays = 1_825;

/**
 * Retention of what a node counted in a minute.
 * Unit: days per count. Exceeded: It is deleted.
 * A week, and a day to compare it with.
 */
export const metricDays = 8;

/** Retention of an alert after its end. Unit: days per alert. Exceeded: It is deleted. */
export const alertDays = 90;

// API log

/**
 * Retention of a call in the API log.
 * Unit: days per call. Exceeded: It is deleted. Setting: CARILLON_KEEP_API_LOG_DAYS.
 */
export const apiLogDays = 7;

/**
 * Calls without a valid credential that the API log keeps, counted in each process.
 * Unit: calls a minute per source address. Exceeded: Further calls are not logged.
 * A stranger must not fill the log or keep the database busy with it.
 */
export const unprovenCallsPerMinute = 600;

/** Length of a request or response body in the API log. Unit: characters per body. Exceeded: The rest is cut off. */
export const maxLoggedBodyCharacters = 4_096;

// Sandbox

/**
 * Newest messages that the inbox keeps.
 * Unit: messages per installation. Exceeded: The oldest are deleted. Setting: CARILLON_INBOX_MESSAGES.
 */
export const inboxMessages = 10_000;
