import type * as retention from '../retention/limits.ts';
import type { LimitTexts } from './limit-text.ts';

/** What is kept for how long; docs/retention.md says the tables. */
export const retentionLimitTexts: { retention: LimitTexts<typeof retention> } = {
  retention: {
    ledgerDays: {
      what: 'A delivery is kept in the ledger for',
      unit: 'days',
      per: 'message',
      whenReached: 'Its day is dropped; why it failed stays counted.',
      source: 'ours',
      setting: 'CARILLON_KEEP_LEDGER_DAYS',
    },
    eventsDays: {
      what: 'An event is kept for',
      unit: 'days',
      per: 'user',
      whenReached: 'Its day is dropped.',
      source: 'ours',
      setting: 'CARILLON_KEEP_EVENTS_DAYS',
    },
    runsDays: {
      what: 'A run is kept, after its end, for',
      unit: 'days',
      per: 'campaign',
      whenReached: 'It is deleted with its counters and conversions.',
      source: 'ours',
      setting: 'CARILLON_KEEP_RUNS_DAYS',
    },
    interactionsDays: {
      what: 'What a device reported of a run is kept for',
      unit: 'days',
      per: 'device',
      whenReached: 'It is deleted; the sums of the campaign stay.',
      source: 'ours',
      setting: 'CARILLON_KEEP_INTERACTIONS_DAYS',
    },
    pushRequestsDays: {
      what: 'It is kept what a push request became for',
      unit: 'days',
      per: 'request',
      whenReached: 'It is deleted.',
      source: 'ours',
      setting: 'CARILLON_KEEP_PUSH_REQUESTS_DAYS',
    },
    messagesDays: {
      what: 'A callback or an email is kept, after its end, for',
      unit: 'days',
      per: 'message',
      whenReached: 'It is deleted with its attempts.',
      source: 'ours',
      setting: 'CARILLON_KEEP_MESSAGES_DAYS',
    },
    operationsDays: {
      what: 'A file operation or an import is kept, after its end, for',
      unit: 'days',
      per: 'segment',
      whenReached: 'It is deleted with its skipped lines.',
      source: 'ours',
      setting: 'CARILLON_KEEP_OPERATIONS_DAYS',
    },
    auditDays: {
      what: 'A line of the audit log, and the record of an erasure, is kept for',
      unit: 'days',
      per: 'workspace',
      whenReached: 'It is deleted.',
      source: 'ours',
      setting: 'CARILLON_KEEP_AUDIT_DAYS',
    },
    metricDays: {
      what: 'What a node counted in a minute is kept for',
      unit: 'days',
      per: 'installation',
      whenReached: 'It is deleted.',
      source: 'ours',
    },
    alertDays: {
      what: 'An alert is kept, after its end, for',
      unit: 'days',
      per: 'workspace',
      whenReached: 'It is deleted.',
      source: 'ours',
    },
  },
};
