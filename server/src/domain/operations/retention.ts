/** How many days each kind of record is kept, as configured. */
export type RetentionDays = {
  ledger: number;
  events: number;
  runs: number;
  interactions: number;
  pushRequests: number;
  messages: number;
  operations: number;
  audit: number;
  apiLog: number;
};

const dayMilliseconds = 24 * 3_600_000;

/** Returns the start of the retention period: records from before it are older than `days`. */
export function keptSince(now: Date, days: number): Date {
  return new Date(now.getTime() - days * dayMilliseconds);
}

/**
 * Returns the time from which the age of records is measured: the earlier of the two clocks. Moving the sandbox's clock
 * forward, for example by months, makes campaigns due but deletes nothing.
 */
export function retentionTime({ now, realNow }: { now: Date; realNow: Date }): Date {
  return now < realNow ? now : realNow;
}

/** Tables with the same retention, what makes them grow, and what deletes their rows. */
export type KeptTables = {
  what: string;
  tables: readonly [string, ...string[]];
  grows: string;
  /** The setting for the retention, or else what limits it. */
  kept: { setting: `CARILLON_${string}` } | { until: string };
  removed: string;
};

/** Every table of the schema. docs/retention.md is generated from this list, and a test compares it with the schema. */
export const keptTables: readonly KeptTables[] = [
  {
    what: 'The ledger',
    tables: ['deliveries'],
    grows: 'A row for each message and device',
    kept: { setting: 'CARILLON_KEEP_LEDGER_DAYS' },
    removed:
      'One day at a time, as a partition, by the day on which its runs were created. A day stays while one of its runs is open, and for the same number of days after its last delivery.',
  },
  {
    what: 'Events, and the queue of those not yet counted as conversions',
    tables: ['events', 'unattributed_events'],
    grows: 'A row for each event; in the queue for about two minutes, until the event is counted',
    kept: { setting: 'CARILLON_KEEP_EVENTS_DAYS' },
    removed: 'One day at a time, as a partition, by the day on which they were received, once all of them are counted.',
  },
  {
    what: 'Runs, with their chunks, counters, failures, sums of reports and conversions',
    tables: [
      'runs',
      'chunks',
      'run_counts',
      'inbox_counts',
      'run_cursors',
      'run_variations',
      'audience_seats',
      'audience_limits',
      'run_interactions',
      'run_failures',
      'run_refusals',
      'conversions',
    ],
    grows:
      'A row for each run of a campaign, up to 256 chunks for a large one; a row for each conversion; a row for each user of a running campaign with an audience limit',
    kept: { setting: 'CARILLON_KEEP_RUNS_DAYS' },
    removed:
      'A run as a whole, by its end. It stays while it is queued, being sent or paused, and while its day of the ledger exists. The total count of an audience limit stays.',
  },
  {
    what: 'Triggers: campaigns that events of users started, or will start',
    tables: ['triggers'],
    grows: 'A row for each event and campaign that it starts',
    kept: { setting: 'CARILLON_KEEP_PUSH_REQUESTS_DAYS' },
    removed: 'By its end. A waiting trigger stays.',
  },
  {
    what: 'Entries of people in journeys, and the steps they passed',
    tables: ['journey_positions', 'journey_passages'],
    grows: 'A row for each entry, and one for each step that a person passes',
    kept: { until: '180 days after the end of the entry (`journeys.journeyHistoryDays`)' },
    removed: 'An entry with its steps, by its end. An open entry stays.',
  },
  {
    what: 'Journeys, their versions and figures, and when each person entered last',
    tables: ['journeys', 'journey_versions', 'journey_figures', 'journey_users'],
    grows:
      'A row for each journey, version, and person who entered; for each day up to 16 for each edge that people took on it',
    kept: { until: 'the workspace is emptied; what is known of a person, until the person is deleted' },
    removed: 'A person’s rows when the person is erased.',
  },
  {
    what: 'Reports of devices about each run',
    tables: ['device_interactions'],
    grows: 'A row for each device, run and kind of report',
    kept: { setting: 'CARILLON_KEEP_INTERACTIONS_DAYS' },
    removed: 'By the first report. Reports about runs that began earlier are rejected, so that no report counts twice.',
  },
  {
    what: 'The campaign and run of each push request',
    tables: ['push_requests'],
    grows: 'A row for each push request',
    kept: { setting: 'CARILLON_KEEP_PUSH_REQUESTS_DAYS' },
    removed: 'By the time it was received.',
  },
  {
    what: 'Callbacks and emails, with their attempts',
    tables: ['callbacks', 'callback_attempts', 'mails', 'mail_attempts'],
    grows: 'Up to one of each for each file operation, with up to seven attempts',
    kept: { setting: 'CARILLON_KEEP_MESSAGES_DAYS' },
    removed: 'Each as a whole, by its end. An undelivered one stays.',
  },
  {
    what: 'Receivers of callbacks that do not respond',
    tables: ['callback_receivers'],
    grows: 'A row for each workspace and host that did not respond to the last attempt',
    kept: { until: 'the receiver responds; at most two days after the last attempt' },
    removed: 'With the first response, and by the last attempt.',
  },
  {
    what: 'Event stream batches that were not accepted',
    tables: ['event_stream_batches'],
    grows: 'A row for up to 100 events; an accepted batch is deleted at once',
    kept: { setting: 'CARILLON_KEEP_MESSAGES_DAYS' },
    removed: 'By its creation. A batch that is still to be delivered stays.',
  },
  {
    what: 'Notes of events that are not in an event stream batch yet',
    tables: ['event_stream_marks'],
    grows: 'A row for each stream and window of a run, and for each stream and click; none without streams',
    kept: { until: 'they are in a batch: for a second, or longer while a receiver has 200 queued batches' },
    removed: 'By the transaction that creates the batch.',
  },
  {
    what: 'File operations of segments, with skipped lines and the unread parts of their files; imports',
    tables: ['segment_operations', 'segment_rejects', 'segment_file_pieces', 'imports'],
    grows: 'A row for each operation, up to 10,000 skipped lines; a row for each imported file',
    kept: { setting: 'CARILLON_KEEP_OPERATIONS_DAYS' },
    removed:
      'Each as a whole, by its end. The newest operation of a segment stays, and so does one with a callback or email. The file is deleted when it has been read.',
  },
  {
    what: 'Names of erased users, by which the API log is searched',
    tables: ['log_erasures'],
    grows: 'Two rows for each erased user',
    kept: {
      until: 'the API log was read: it begins a minute after the erasure, and takes a second for about 2,000 calls',
    },
    removed: 'By the transaction that reads the last calls.',
  },
  {
    what: 'The audit log, and the records of erasures',
    tables: ['audit_log', 'erasures'],
    grows: 'A row for each change made in the console; a row for each user who was deleted',
    kept: { setting: 'CARILLON_KEEP_AUDIT_DAYS' },
    removed: 'By its time. A pending erasure stays.',
  },
  {
    what: 'Metrics of nodes for the charts',
    tables: ['node_minutes'],
    grows: 'A row for each node and minute',
    kept: { until: 'eight days later (`retention.metricDays`)' },
    removed: 'By its minute.',
  },
  {
    what: 'Alerts',
    tables: ['alerts'],
    grows: 'A row for each occurrence of a problem',
    kept: { until: '90 days after their end (`retention.alertDays`); an open alert stays' },
    removed: 'By its end.',
  },
  {
    what: 'The API log',
    tables: ['api_log'],
    grows: 'A row for each call',
    kept: { setting: 'CARILLON_KEEP_API_LOG_DAYS' },
    removed: 'By the time of the call.',
  },
  {
    what: 'The inbox of the sandbox',
    tables: ['sandbox_messages'],
    grows: 'A row for each message to a simulated device',
    kept: { setting: 'CARILLON_INBOX_MESSAGES' },
    removed: 'The oldest, when the limit is exceeded.',
  },
  {
    what: 'Revoked tokens, and tokens from before tokens verified themselves',
    tables: ['token_revocations', 'access_tokens', 'refresh_tokens'],
    grows: 'A row for each revoked token; issuing a token stores nothing',
    kept: { until: 'a day after the token expired' },
    removed: 'By its expiry.',
  },
  {
    what: 'First responses of repeatable requests',
    tables: ['idempotency_keys', 'campaign_request_ids'],
    grows: 'A row for each `Idempotency-Key`, and for each `request_id` of V1',
    kept: {
      until:
        'the key can be reused: 24 hours (`idempotency.idempotencyKeyHours`, `campaigns.campaignRequestIdKeptHours`)',
    },
    removed: 'By their time.',
  },
  {
    what: 'Live Activities, their tokens and events',
    tables: ['live_activities', 'live_activity_tokens', 'live_activity_messages'],
    grows: 'A row for each activity, each of its tokens, and each event and token',
    kept: { until: 'a day after their newest event or token (`live-activities.liveActivityKeptHours`)' },
    removed: 'An activity as a whole.',
  },
  {
    what: 'Report files',
    tables: ['report_files', 'report_file_pieces'],
    grows: 'A row for each requested file, at most 50 per workspace, and one for each 256 KiB of it',
    kept: { until: 'seven days after the request (`stats.reportFileDays`)' },
    removed: 'A file as a whole.',
  },
  {
    what: 'Uploaded pictures',
    tables: ['pictures', 'picture_files'],
    grows: 'A row for each uploaded picture, and its file of at most 1 MB unless an object store has it',
    kept: { setting: 'CARILLON_KEEP_PICTURES_DAYS' },
    removed:
      'A picture as a whole, by the last day on which a template or an unfinished campaign contained its address; earlier by a user.',
  },
  {
    what: 'Receipts of transactions',
    tables: ['transaction_receipts'],
    grows: 'A row for each transaction that stores something',
    kept: { until: 'ten minutes later ([why](decisions/0029-receipts-of-transactions.md))' },
    removed: 'By the ids of transactions.',
  },
  {
    what: 'Sign-ins of the console',
    tables: ['console_sessions', 'agent_tokens', 'company_sign_ins', 'account_links', 'account_sources'],
    grows:
      'A row for each session, each token for agents, each sign-in in progress, each link, and each address that opened an account',
    kept: {
      until:
        'they expire (`accounts.sessionHours`, `accounts.maxAgentTokenDays`, `accounts.companySignInSeconds`, `accounts.linkHours`); a link 30 days after its end (`accounts.endedLinkDays`), an address 30 days after it last opened the account (`accounts.knownSourceDays`)',
    },
    removed: 'When the next one of its kind is created.',
  },
  {
    what: 'Counters of limits',
    tables: ['limit_windows', 'limit_counters', 'limit_marks', 'send_budgets'],
    grows: 'A row for each workspace and limit, source address, and account with a provider',
    kept: { until: 'they are idle; at most the newest 200,000 whose subject callers choose' },
    removed: 'When they are idle, or with the next count.',
  },
  {
    what: 'Recent responses of providers',
    tables: ['provider_evidence'],
    grows: 'A row for each credential, environment, bundle, platform and push service, with the last 20 responses',
    kept: { until: 'a day after the last response; longer while messages wait for a held credential' },
    removed: 'By the last response.',
  },
  {
    what: 'Nodes, and the provider tokens that they share',
    tables: ['nodes', 'provider_tokens'],
    grows: 'A row for each node, each provider account',
    kept: { until: 'a day after the last report' },
    removed: 'By the last report; by a node that stops.',
  },
  {
    what: 'Users with all their data',
    tables: [
      'users',
      'identifiers',
      'devices',
      'push_addresses',
      'user_messages',
      'topic_choices',
      'merged_users',
      'erased_devices',
    ],
    grows:
      'With the users and devices that you register; at most the newest 100 messages per user, and a row for each topic that a user chose',
    kept: { until: 'the user is deleted' },
    removed:
      '`POST /v1/customer/delete` erases all of it; a digest of each erased device stays, so that its reports are not counted.',
  },
  {
    what: "Messages in users' inboxes, and the contents that many of them share",
    tables: ['inbox_messages', 'inbox_contents'],
    grows: 'A row for each user and run of a campaign that keeps its messages; a row for each content of such a run',
    kept: { until: 'the campaign says, at most 90 days; with the user' },
    removed: 'By its expiry, at most 10,000 at a time. A message that the user archives stays until then.',
  },
  {
    what: 'Installations of apps',
    tables: ['installations'],
    grows: 'A row for each app or site that registered itself',
    kept: {
      until:
        'their user is deleted; without a user, 90 days after the last call (`installations.idleInstallationDays`)',
    },
    removed: 'With their user; by the last call.',
  },
  {
    what: 'The order in which runs and workspaces get workers',
    tables: ['run_turns', 'workspace_turns'],
    grows:
      'A row for each run to an audience with messages that were not sent yet, and one for each workspace with such a run',
    kept: { until: 'the last chunk of the run has ended' },
    removed: 'Within seconds after that.',
  },
  {
    what: 'Silent challenges to push tokens that another device holds',
    tables: ['push_token_challenges'],
    grows: 'At most three an hour for each push token',
    kept: { until: 'their code comes back; at most an hour' },
    removed: 'With the answer; by the time they were made.',
  },
  {
    what: 'Ids of events that apps reported',
    tables: ['app_event_ids'],
    grows: 'A row for each event and each change of attributes from an app',
    kept: { until: '14 days after the event was received (`installations.appEventIdDays`)' },
    removed: 'By the time it was received; with their installation.',
  },
  {
    what: 'Hashes of the ids of messages from libraries of Segment',
    tables: ['source_messages'],
    grows: 'A row for each message',
    kept: { until: '14 days after the message was received (`source.sourceMessageDays`)' },
    removed: 'By the time it was received.',
  },
  {
    what: 'Members of segments',
    tables: ['segment_members'],
    grows: 'A row for each segment and user, and another for each change',
    kept: { until: 'no run reads them; 30 days after the segment was archived (`segments.archivedMembersKeptDays`)' },
    removed: 'When no version in use contains them; with their user.',
  },
  {
    what: 'Segments',
    tables: ['segments'],
    grows:
      'At most 100 file segments per day and workspace (`segments.fileOperationsPerDay`), 1,000 filter segments (`segments.filterSegmentWindows`)',
    kept: { until: 'the workspace is emptied: an archived segment can be unarchived, and its name stays in use' },
    removed: 'An archived segment is hidden after 180 days.',
  },
  {
    what: 'Campaigns, their names, their trigger events and the sums of their reports',
    tables: ['campaigns', 'campaign_names', 'trigger_conditions', 'campaign_interactions'],
    grows: 'A row for each new name: a push to named users joins the campaign of its name',
    kept: {
      until:
        'the workspace is emptied: searches find every campaign, and a name stays in use permanently, also after archiving (decision D33)',
    },
    removed: 'Never.',
  },
  {
    what: 'Proposals of agents',
    tables: ['agent_proposals'],
    grows: 'A row for each proposal; at most 50 wait for a decision in a workspace',
    kept: { until: '90 days after the proposal, or the workspace is emptied' },
    removed: 'By the time it was proposed.',
  },
  {
    what: 'Drafts that agents changed',
    tables: ['agent_drafts'],
    grows: 'A row for each draft that an agent created or changed',
    kept: { until: 'a person publishes the draft, or the workspace is emptied' },
    removed: 'With the publication.',
  },
  {
    what: 'Configuration',
    tables: [
      'workspaces',
      'api_keys',
      'token_secrets',
      'apps',
      'app_access',
      'identity_keys',
      'topics',
      'provider_credentials',
      'business_events',
      'event_streams',
      'campaign_templates',
      'saved_views',
      'accounts',
      'alert_settings',
      'account_identities',
      'account_roles',
      'account_authenticators',
      'account_passkeys',
      'account_recovery_codes',
      'installation',
      'schema_migrations',
      'bucket_shards',
    ],
    grows:
      'At most 50 business events, 50 topics, 5 event streams and 200 campaign templates per workspace, 50 saved views per screen and account, 20 passkeys and 10 recovery codes per account, its roles, a row for each migration, a key for each rotation, five token secrets a year; `bucket_shards` is empty',
    kept: { until: 'they are removed' },
    removed:
      'By a user. An archived key stays, because log lines name it, and a retired token secret, because it recognises expired tokens.',
  },
];
