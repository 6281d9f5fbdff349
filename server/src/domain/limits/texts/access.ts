import type * as accounts from '../accounts.ts';
import type * as apiLog from '../api-log.ts';
import type * as idempotency from '../idempotency.ts';
import type * as ledger from '../ledger.ts';
import type * as requests from '../requests.ts';
import type * as retention from '../retention.ts';
import type * as sandbox from '../sandbox.ts';
import type * as stats from '../stats.ts';
import type * as tokens from '../tokens.ts';
import type { LimitTexts } from './limit-text.ts';

/** Limits of access, logs and reading: call rates and retention. */
export const accessLimitTexts: {
  tokens: LimitTexts<typeof tokens>;
  accounts: LimitTexts<typeof accounts>;
  idempotency: LimitTexts<typeof idempotency>;
  requests: LimitTexts<typeof requests>;
  stats: LimitTexts<typeof stats>;
  'api-log': LimitTexts<typeof apiLog>;
  ledger: LimitTexts<typeof ledger>;
  sandbox: LimitTexts<typeof sandbox>;
} = {
  tokens: {
    defaultAccessTokenMinutes: {
      what: 'Lifetime of an access token, unless its key says otherwise',
      unit: 'minutes',
      per: 'key',
      whenReached: 'AUTHENTICATION_EXPIRED',
      source: 'interface 8',
    },
    minAccessTokenMinutes: {
      what: 'Shortest lifetime a key may set',
      unit: 'minutes',
      per: 'key',
      whenReached: 'PARAMETER_INVALID',
      source: 'decision D15',
    },
    maxAccessTokenMinutes: {
      what: 'Longest lifetime a key may set',
      unit: 'minutes',
      per: 'key',
      whenReached: 'PARAMETER_INVALID',
      source: 'decision D15',
    },
    expiredTokenSeconds: {
      what: 'An access token is known as expired for',
      unit: 'seconds',
      per: 'key',
      whenReached: 'AUTHENTICATION_INVALID',
      source: 'decision D13',
    },
    refreshTokenSeconds: {
      what: 'Lifetime of a refresh token, from its generation',
      unit: 'seconds',
      per: 'key',
      whenReached: 'TOKEN_REFRESH_INVALID',
      source: 'interface 8',
    },
    tokenRequestWindows: {
      what: 'Token, refresh and revoke requests, each on its own',
      unit: 'requests',
      per: 'credential pair',
      whenReached: 'TOKEN_RATE_LIMITED',
      source: 'interface 8',
    },
    guessWindows: {
      what: 'Wrong credentials, of a `client_id` at an address, of an address, of a `client_id`',
      unit: 'guesses',
      per: 'source address',
      whenReached: 'TOKEN_RATE_LIMITED',
      source: 'decision D19',
    },
    slowAnswerMilliseconds: {
      what: 'Answers about a `client_id` that many guess at wait',
      unit: 'milliseconds',
      per: 'request',
      whenReached: 'The answer comes.',
      source: 'decision D19',
    },
    maxTokenBodyBytes: {
      what: 'Body of a token request',
      unit: 'bytes',
      per: 'request',
      whenReached: 'BODY_TOO_LARGE',
      source: 'decision D12',
    },
    maxKeyNameCharacters: {
      what: 'Longest name of a key',
      unit: 'characters',
      per: 'value',
      whenReached: 'PARAMETER_INVALID',
      source: 'fact 1',
    },
    maxOverlapHours: {
      what: 'A rotated key goes on beside its successor for',
      unit: 'hours',
      per: 'key',
      whenReached: 'The old key is archived.',
      source: 'ours',
    },
  },
  accounts: {
    signInWindows: {
      what: 'Attempts to sign in to the console, of an account at an address, of an address',
      unit: 'attempts',
      per: 'source address',
      whenReached: 'ACCOUNT_ATTEMPTS_LIMITED',
      source: 'decision D19',
    },
    failedSignInWindows: {
      what: 'Lines of the audit log for failed sign-ins from an address; for those on an account, or on none',
      unit: 'lines',
      per: 'source address',
      whenReached: 'The line says that further ones are not listed.',
      source: 'ours',
    },
    maxSavedViews: {
      what: 'Saved views of a screen of the console, in a workspace',
      unit: 'views',
      per: 'account',
      whenReached: 'PARAMETER_INVALID',
      source: 'ours',
    },
    sessionHours: {
      what: 'A session of the console lasts',
      unit: 'hours',
      per: 'account',
      whenReached: 'The sign-in page opens.',
      source: 'ours',
    },
    companySignInSeconds: {
      what: 'A sign-in by the company account takes at most',
      unit: 'seconds',
      per: 'account',
      whenReached: 'ACCOUNT_COMPANY_REFUSED',
      source: 'ours',
    },
    linkHours: {
      what: 'A link that works once lasts',
      unit: 'hours',
      per: 'account',
      whenReached: 'ACCOUNT_LINK_INVALID',
      source: 'ours',
    },
    endedLinkDays: {
      what: 'The sign-in page can say why a link does not work any more for',
      unit: 'days',
      per: 'account',
      whenReached: 'The link is unknown.',
      source: 'ours',
    },
    minPasswordCharacters: {
      what: 'Shortest password',
      unit: 'characters',
      per: 'value',
      whenReached: 'PARAMETER_INVALID',
      source: 'ours',
    },
    maxPasswordCharacters: {
      what: 'Longest password',
      unit: 'characters',
      per: 'value',
      whenReached: 'PARAMETER_INVALID',
      source: 'ours',
    },
    maxAccountNameCharacters: {
      what: 'Longest name of an account',
      unit: 'characters',
      per: 'value',
      whenReached: 'PARAMETER_INVALID',
      source: 'ours',
    },
  },
  idempotency: {
    idempotencyKeyHours: {
      what: 'The first answer is given again for',
      unit: 'hours',
      per: 'workspace',
      whenReached: 'The key may be used anew.',
      source: 'decision D4',
    },
    maxIdempotencyKeyCharacters: {
      what: 'Longest `Idempotency-Key`',
      unit: 'characters',
      per: 'request',
      whenReached: 'IDEMPOTENCY_KEY_INVALID',
      source: 'decision D4',
    },
  },
  requests: {
    maxBodyBytes: {
      what: 'Body of a request whose family has no limit of its own',
      unit: 'bytes',
      per: 'request',
      whenReached: 'BODY_TOO_LARGE',
      source: 'fault 3.5',
    },
    maxJsonMembers: {
      what: 'Members of a JSON body, of all its objects together',
      unit: 'members',
      per: 'request',
      whenReached: 'BODY_MALFORMED',
      source: 'fault 3.5',
    },
    maxJsonLevels: {
      what: 'Objects and lists within each other in a JSON body',
      unit: 'levels',
      per: 'request',
      whenReached: 'BODY_MALFORMED',
      source: 'fault 3.5',
    },
  },
  stats: {
    statsRequestsPerMinute: {
      what: 'Calls of the statistics',
      unit: 'requests a minute',
      per: 'workspace',
      whenReached: 'STATS_RATE_LIMITED',
      source: 'fact 7',
    },
    maxStatsCampaigns: {
      what: 'Campaigns in one answer',
      unit: 'campaigns',
      per: 'request',
      whenReached: 'STATS_FIELD_INVALID',
      source: 'fact 7',
    },
    maxStatsDays: {
      what: 'Days of one question',
      unit: 'days',
      per: 'request',
      whenReached: 'STATS_FIELD_INVALID',
      source: 'fact 7',
    },
    maxReportDays: {
      what: 'Days of one report file',
      unit: 'days',
      per: 'request',
      whenReached: 'STATS_FIELD_INVALID',
      source: 'fact 7',
    },
    reportFileDays: {
      what: 'How long a report file can be read',
      unit: 'days',
      per: 'request',
      whenReached: 'It is removed.',
      source: 'fact 7',
    },
    maxReportFiles: {
      what: 'Report files that are not gone',
      unit: 'files',
      per: 'workspace',
      whenReached: 'REPORT_FILES_LIMITED',
      source: 'ours',
    },
    maxStatsBodyBytes: {
      what: 'Body of a call of the statistics',
      unit: 'bytes',
      per: 'request',
      whenReached: 'BODY_TOO_LARGE',
      source: 'ours',
    },
  },
  'api-log': {
    apiLogDays: {
      what: 'A call is kept in the API log for',
      unit: 'days',
      per: 'workspace',
      whenReached: 'It is deleted.',
      source: 'ours',
      setting: 'CARILLON_KEEP_API_LOG_DAYS',
    },
    unprovenCallsPerMinute: {
      what: 'Calls without a valid credential that the API log keeps; counted in each process',
      unit: 'calls a minute',
      per: 'source address',
      whenReached: 'Further ones are left out of the API log.',
      source: 'ours',
    },
    maxLoggedBodyCharacters: {
      what: 'Characters of a body that the API log keeps',
      unit: 'characters',
      per: 'request',
      whenReached: 'The rest is cut off.',
      source: 'ours',
    },
  },
  ledger: {
    maxExportedDeliveries: {
      what: 'Deliveries in one file of the console',
      unit: 'rows',
      per: 'request',
      whenReached: 'The file ends there.',
      source: 'ours',
    },
  },
  sandbox: {
    inboxMessages: {
      what: 'Newest messages the inbox keeps',
      unit: 'messages',
      per: 'installation',
      whenReached: 'The oldest are deleted.',
      source: 'ours',
      setting: 'CARILLON_INBOX_MESSAGES',
    },
  },
};

/** Retention of each kind of data; docs/retention.md lists the tables. */
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
