import {
  apiLogDays,
  auditDays,
  eventsDays,
  interactionsDays,
  ledgerDays,
  messagesDays,
  operationsDays,
  pushRequestsDays,
  runsDays,
} from '../domain/limits/retention.ts';

const days = { kind: 'integer', unit: 'days' } as const;
// A hundred years, which means forever.
const maximum = 36_500;

/** Retention of records; docs/retention.md lists the tables of each setting. */
export const retentionSettings = {
  keepLedgerDays: {
    ...days,
    variable: 'CARILLON_KEEP_LEDGER_DAYS',
    // Longer than the maximum time to live of a message (7 days) plus the 36 hours in which it may bring a conversion.
    minimum: 14,
    maximum,
    default: ledgerDays,
    sentence:
      'How long the ledger is kept: one row for each message and device. Why deliveries failed is counted before a day goes.',
  },
  keepEventsDays: {
    ...days,
    variable: 'CARILLON_KEEP_EVENTS_DAYS',
    minimum: 30,
    maximum,
    default: eventsDays,
    sentence: 'How long events are kept. Filters of segments see no older ones.',
  },
  keepRunsDays: {
    ...days,
    variable: 'CARILLON_KEEP_RUNS_DAYS',
    minimum: 90,
    maximum,
    default: runsDays,
    sentence:
      'How long a run is kept after its end, with its counters and conversions: statistics and executions. At least as long as the ledger.',
  },
  keepInteractionsDays: {
    ...days,
    variable: 'CARILLON_KEEP_INTERACTIONS_DAYS',
    minimum: 30,
    maximum,
    default: interactionsDays,
    sentence:
      'How long it is kept what a device reported of a run, so that a repeat counts once. Reports of older runs are refused; the sums of a campaign stay.',
  },
  keepPushRequestsDays: {
    ...days,
    variable: 'CARILLON_KEEP_PUSH_REQUESTS_DAYS',
    minimum: 7,
    maximum,
    default: pushRequestsDays,
    sentence: 'How long it is kept which campaign and run a push request became, or an event that starts campaigns.',
  },
  keepMessagesDays: {
    ...days,
    variable: 'CARILLON_KEEP_MESSAGES_DAYS',
    minimum: 7,
    maximum,
    default: messagesDays,
    sentence: 'How long callbacks and emails are kept after their end, with their attempts.',
  },
  keepOperationsDays: {
    ...days,
    variable: 'CARILLON_KEEP_OPERATIONS_DAYS',
    minimum: 30,
    maximum,
    default: operationsDays,
    sentence:
      'How long file operations of segments are kept after their end, with their skipped lines, and which files were imported.',
  },
  keepAuditDays: {
    ...days,
    variable: 'CARILLON_KEEP_AUDIT_DAYS',
    minimum: 90,
    maximum,
    default: auditDays,
    sentence: 'How long lines of the audit log and the records of erasures are kept.',
  },
  keepApiLogDays: {
    ...days,
    variable: 'CARILLON_KEEP_API_LOG_DAYS',
    minimum: 1,
    maximum: 365,
    default: apiLogDays,
    sentence: 'How long calls are kept in the API log.',
  },
} as const;
