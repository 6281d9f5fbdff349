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
import { picturesDays } from '../domain/limits/pictures.ts';

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
      'Retention of the ledger: one row for each message and device. Before a day is dropped, the causes of failed deliveries are counted.',
  },
  keepEventsDays: {
    ...days,
    variable: 'CARILLON_KEEP_EVENTS_DAYS',
    minimum: 30,
    maximum,
    default: eventsDays,
    sentence: 'Retention of events. Exports and timelines of users do not include older ones.',
  },
  keepRunsDays: {
    ...days,
    variable: 'CARILLON_KEEP_RUNS_DAYS',
    minimum: 90,
    maximum,
    default: runsDays,
    sentence:
      'Retention of a run after its end, with its counters and conversions, for statistics and executions. At least as long as the ledger.',
  },
  keepInteractionsDays: {
    ...days,
    variable: 'CARILLON_KEEP_INTERACTIONS_DAYS',
    minimum: 30,
    maximum,
    default: interactionsDays,
    sentence:
      'Retention of the reports of devices, so that a repeated report counts once. Reports about older runs are rejected; the sums of a campaign stay.',
  },
  keepPushRequestsDays: {
    ...days,
    variable: 'CARILLON_KEEP_PUSH_REQUESTS_DAYS',
    minimum: 7,
    maximum,
    default: pushRequestsDays,
    sentence: 'Retention of the campaign and run of each push request, and of each event that started campaigns.',
  },
  keepMessagesDays: {
    ...days,
    variable: 'CARILLON_KEEP_MESSAGES_DAYS',
    minimum: 7,
    maximum,
    default: messagesDays,
    sentence: 'Retention of callbacks and emails after their end, with their attempts.',
  },
  keepOperationsDays: {
    ...days,
    variable: 'CARILLON_KEEP_OPERATIONS_DAYS',
    minimum: 30,
    maximum,
    default: operationsDays,
    sentence:
      'Retention of segment file operations after their end, with their skipped lines, and of the list of imported files.',
  },
  keepAuditDays: {
    ...days,
    variable: 'CARILLON_KEEP_AUDIT_DAYS',
    minimum: 90,
    maximum,
    default: auditDays,
    sentence: 'Retention of the audit log and the records of erasures.',
  },
  keepPicturesDays: {
    ...days,
    variable: 'CARILLON_KEEP_PICTURES_DAYS',
    // Notifications with the picture stay on phones.
    minimum: 30,
    maximum,
    default: picturesDays,
    sentence: 'Retention of an uploaded picture after no template and no unfinished campaign contains it any more.',
  },
  keepApiLogDays: {
    ...days,
    variable: 'CARILLON_KEEP_API_LOG_DAYS',
    minimum: 1,
    maximum: 365,
    default: apiLogDays,
    sentence: 'Retention of calls in the API log.',
  },
} as const;
