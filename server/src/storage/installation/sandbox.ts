import type { Platform } from '../../domain/content/content.ts';
import type { ProviderName } from '../../domain/delivery/providers.ts';
import type { Screen } from '../../domain/sandbox/screen.ts';
import type { Queryable } from '../database.ts';

/** Tables whose rows belong to a workspace through a parent row. */
const owned = [
  { table: 'callback_attempts', by: 'callback_id', parent: 'callbacks' },
  { table: 'mail_attempts', by: 'mail_id', parent: 'mails' },
  { table: 'segment_rejects', by: 'operation_id', parent: 'segment_operations' },
  { table: 'segment_file_pieces', by: 'operation_id', parent: 'segment_operations' },
];

/**
 * Tables with rows of a workspace, in the order in which the rows can be deleted. A test compares this list with the
 * catalog.
 */
export const emptiedTables = [
  'alerts',
  'app_access',
  'app_event_ids',
  'source_messages',
  'push_token_challenges',
  'alert_settings',
  'access_tokens',
  'refresh_tokens',
  'token_revocations',
  'api_log',
  'campaign_interactions',
  'campaign_request_ids',
  'run_counts',
  'run_cursors',
  'run_turns',
  'workspace_turns',
  'run_variations',
  'audience_seats',
  'audience_limits',
  'run_interactions',
  'run_failures',
  'run_refusals',
  'provider_evidence',
  'conversions',
  'deliveries',
  'device_interactions',
  'devices',
  'erased_devices',
  'log_erasures',
  'erasures',
  'events',
  'unattributed_events',
  'idempotency_keys',
  'identifiers',
  'identity_keys',
  'imports',
  'installations',
  'limit_counters',
  'limit_marks',
  'live_activity_messages',
  'live_activity_tokens',
  'live_activities',
  'mails',
  'callbacks',
  'callback_receivers',
  'event_stream_batches',
  'event_stream_marks',
  'event_streams',
  'picture_files',
  'pictures',
  'report_file_pieces',
  'report_files',
  'merged_users',
  'push_addresses',
  'trigger_conditions',
  'triggers',
  'runs',
  // After the runs: a run that a push stores meanwhile keeps its campaign, and the whole deletion is retried.
  'chunks',
  'push_requests',
  'sandbox_messages',
  'segment_members',
  'segment_operations',
  'segments',
  'campaign_names',
  'campaign_templates',
  'saved_views',
  'agent_proposals',
  'agent_drafts',
  'campaigns',
  'journey_passages',
  'journey_positions',
  'journey_users',
  'journey_figures',
  'journey_versions',
  'journeys',
  'business_events',
  'user_messages',
  'topic_choices',
  'topics',
  'inbox_messages',
  'inbox_contents',
  'inbox_counts',
  'users',
  'api_keys',
];

/**
 * Deletes everything of a workspace except its own row, its provider credentials and its lines of the audit log. Reads
 * the workspace's part of each table; those of a sandbox are small.
 */
export async function emptyWorkspace(tx: Queryable, workspaceId: string): Promise<void> {
  for (const { table, by, parent } of owned)
    await tx`
      delete from ${tx(table)} where ${tx(by)} in (select id from ${tx(parent)} where workspace_id = ${workspaceId})`;
  // Versions are deleted before the campaigns they are versions of.
  await tx`update campaigns set version_of = null, version_number = null where workspace_id = ${workspaceId}
    and version_of is not null`;
  for (const table of emptiedTables)
    if (table === 'deliveries')
      await tx`
        delete from deliveries where workspace_number = (select number from workspaces where id = ${workspaceId})`;
    else await tx`delete from ${tx(table)} where workspace_id = ${workspaceId}`;
}

/** Resets a workspace's settings to those of a new one. Index: primary key. */
export async function restoreWorkspace(
  tx: Queryable,
  { id, name, timeZone }: { id: string; name: string; timeZone: string },
): Promise<void> {
  await tx`
    update workspaces
    set name = ${name}, time_zone = ${timeZone}, data_center = default, secret_required_at_refresh = default,
      signature_v2_required = default, webhook_secret_sealed = default, campaign_versioning = default,
      v1_search_bare_array = default, devices_per_minute = default, cap_messages = default, cap_hours = default,
      quiet_from = default, quiet_to = default, quiet_mode = default, minimum_delay_minutes = default,
      zone_attribute = default, android_mode = default, push_from = default, data_prefix = default,
      push_bodies = default, earlier_statistics = default
    where id = ${id}`;
}

/** Lists campaigns that send or will send. Index: campaigns_newest. */
export async function listLiveCampaigns(tx: Queryable, workspaceId: string): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    select id from campaigns
    where workspace_id = ${workspaceId} and status in ('SCHEDULED', 'SENDING', 'ACTIVE', 'PAUSED') order by id`;
  return rows.map(({ id }) => id);
}

/**
 * Counts the items of a workspace that workers hold at an instant of real time. Indexes: chunks_open,
 * segment_operations_open, callbacks_due, mails_due.
 */
export async function countWorkUnderWay(
  tx: Queryable,
  { workspaceId, at }: { workspaceId: string; at: Date },
): Promise<number> {
  const [row] = await tx<{ held: number }[]>`
    select (select count(*) from chunks
        where workspace_id = ${workspaceId} and state = 'CLAIMED' and lease_until > ${at})
      + (select count(*) from segment_operations
        where workspace_id = ${workspaceId} and state = 'FILLING' and lease_until > ${at}) as held`;
  return Number(row!.held);
}

export type SandboxMessage = {
  id: string;
  workspaceId: string;
  platform: Platform;
  deviceToken: string;
  title: string;
  body: string;
  collapseId: string;
  campaignId: string | null;
  messageId: string;
  /** Transport options of the request, under the provider's own names. */
  transport: Record<string, string>;
  /** Headers of the request; for an authorization only its scheme. Empty for messages of older versions. */
  headers: Record<string, string>;
  payload: unknown;
  screen: Screen;
  receivedAt: Date;
};

/** Stores a batch of received messages in the inbox, in one statement. */
export async function insertSandboxMessages(tx: Queryable, messages: SandboxMessage[]): Promise<void> {
  await tx`
    insert into sandbox_messages (
      id, workspace_id, platform, device_token, title, body, collapse_id, campaign_id, message_id, transport, headers, payload,
      screen, received_at
    )
    select message.id, message.workspace_id, message.platform, message.device_token, message.title, message.body,
      message.collapse_id, message.campaign_id, message.message_id, message.transport, message.headers, message.payload,
      message.screen, message.received_at
    from unnest(
      ${messages.map((message) => message.id)}::text[], ${messages.map((message) => message.workspaceId)}::text[],
      ${messages.map((message) => message.platform)}::text[], ${messages.map((message) => message.deviceToken)}::text[],
      ${messages.map((message) => message.title)}::text[], ${messages.map((message) => message.body)}::text[],
      ${messages.map((message) => message.collapseId)}::text[], ${messages.map((message) => message.campaignId)}::text[],
      ${messages.map((message) => message.messageId)}::text[],
      ${messages.map((message) => JSON.stringify(message.transport))}::text[]::jsonb[],
      ${messages.map((message) => JSON.stringify(message.headers))}::text[]::jsonb[],
      ${messages.map((message) => JSON.stringify(message.payload))}::text[]::jsonb[],
      ${messages.map((message) => JSON.stringify(message.screen))}::text[]::jsonb[],
      ${messages.map((message) => message.receivedAt.toISOString())}::timestamptz[]
    ) as message (
      id, workspace_id, platform, device_token, title, body, collapse_id, campaign_id, message_id, transport, headers, payload,
      screen, received_at
    )`;
}

/** Returns the greatest message id of the whole inbox. Index: primary key. */
export async function findNewestMessageId(tx: Queryable): Promise<string | undefined> {
  const [row] = await tx<{ id: string }[]>`select id from sandbox_messages order by id desc limit 1`;
  return row?.id;
}

/**
 * Lists the messages of one workspace that are newer than `afterId`, newest first. Index: sandbox_messages_workspace.
 */
export async function listSandboxMessages(
  tx: Queryable,
  page: { workspaceId: string; afterId: string; limit: number },
): Promise<SandboxMessage[]> {
  return tx<SandboxMessage[]>`
    select id, workspace_id as "workspaceId", platform, device_token as "deviceToken", title, body,
      collapse_id as "collapseId", campaign_id as "campaignId", message_id as "messageId", transport, headers,
      payload, screen, received_at as "receivedAt"
    from sandbox_messages
    where workspace_id = ${page.workspaceId} and id > ${page.afterId}
    order by id desc
    limit ${page.limit}`;
}

/** Finds one message of a workspace. Index: primary key. */
export async function findSandboxMessage(
  tx: Queryable,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<{ payload: unknown; screen: Partial<Screen> } | undefined> {
  const [row] = await tx<{ payload: unknown; screen: Partial<Screen> }[]>`
    select payload, screen from sandbox_messages where id = ${id} and workspace_id = ${workspaceId}`;
  return row;
}

export type DeviceMessage = Pick<SandboxMessage, 'id' | 'deviceToken' | 'title' | 'body' | 'receivedAt'>;

/**
 * Lists the newest messages of each device, however many messages other devices got. The inbox is bounded. Index:
 * sandbox_messages_workspace.
 */
export async function listMessagesOfDevices(
  tx: Queryable,
  { workspaceId, tokens, each }: { workspaceId: string; tokens: string[]; each: number },
): Promise<DeviceMessage[]> {
  return tx<DeviceMessage[]>`
    select newest.id, newest.device_token as "deviceToken", newest.title, newest.body, newest.received_at as "receivedAt"
    from unnest(${tokens}::text[]) as device (token), lateral (
      select id, device_token, title, body, received_at from sandbox_messages
      where workspace_id = ${workspaceId} and device_token = device.token
      order by id desc limit ${each}
    ) as newest
    order by newest.id desc`;
}

export type TestDevice = {
  /** Id of the device's row. */
  id: string;
  userId: string;
  customerId: string;
  deviceId: string;
  platform: Platform;
  /** Null: the platform's default provider. */
  provider: ProviderName | null;
  pushId: string;
  state: string;
};

/** Lists the devices of test users, by user. Indexes: users_test, devices of a user. */
export async function listTestDevices(
  tx: Queryable,
  { workspaceId, limit }: { workspaceId: string; limit: number },
): Promise<TestDevice[]> {
  return tx<TestDevice[]>`
    select devices.id, users.id as "userId", users.customer_id as "customerId", devices.device_id as "deviceId",
      devices.platform, devices.push_provider as provider, devices.push_id as "pushId", devices.state
    from users
    join devices on devices.workspace_id = users.workspace_id and devices.bucket = users.bucket
      and devices.user_id = users.id
    where users.workspace_id = ${workspaceId} and users.is_test
    order by users.customer_id, devices.device_id
    limit ${limit}`;
}

/** Keeps only the newest messages of the installation. Index: primary key. */
export async function trimSandboxMessages(tx: Queryable, keep: number): Promise<number> {
  const rows = await tx`
    delete from sandbox_messages
    where id <= (select id from sandbox_messages order by id desc offset ${keep} limit 1)`;
  return rows.count;
}

export async function deleteSandboxMessages(tx: Queryable): Promise<void> {
  await tx`delete from sandbox_messages`;
}
