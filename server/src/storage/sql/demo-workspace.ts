import type { Queryable } from '../pool.ts';

/** Rows of these are a workspace's by what they belong to. */
const owned = [
  { table: 'run_counts', by: 'run_id', parent: 'runs' },
  { table: 'callback_attempts', by: 'callback_id', parent: 'callbacks' },
  { table: 'mail_attempts', by: 'mail_id', parent: 'mails' },
  { table: 'segment_rejects', by: 'operation_id', parent: 'segment_operations' },
  { table: 'segment_file_pieces', by: 'operation_id', parent: 'segment_operations' },
];

/** All that a workspace is full of, in the order in which rows can go. A test holds this list against the catalog. */
export const emptiedTables = [
  'access_tokens',
  'refresh_tokens',
  'api_log',
  'campaign_interactions',
  'campaign_request_ids',
  'push_requests',
  'chunks',
  'conversions',
  'deliveries',
  'device_interactions',
  'devices',
  'erased_devices',
  'erasures',
  'events',
  'unattributed_events',
  'idempotency_keys',
  'identifiers',
  'imports',
  'limit_counters',
  'limit_marks',
  'mails',
  'callbacks',
  'merged_users',
  'push_addresses',
  'runs',
  'sandbox_messages',
  'segment_members',
  'segment_operations',
  'segments',
  'campaign_names',
  'campaigns',
  'business_events',
  'user_messages',
  'users',
  'api_keys',
];

/**
 * Takes everything out of a workspace but its own row, its provider credentials and its lines of the audit log, which are
 * kept for good. Reads the workspace's part of each table; the sandbox's are small.
 */
export async function emptyWorkspace(tx: Queryable, workspaceId: string): Promise<void> {
  for (const { table, by, parent } of owned)
    await tx`
      delete from ${tx(table)} where ${tx(by)} in (select id from ${tx(parent)} where workspace_id = ${workspaceId})`;
  // Versions go before what they are versions of.
  await tx`update campaigns set version_of = null, version_number = null where workspace_id = ${workspaceId}
    and version_of is not null`;
  for (const table of emptiedTables) await tx`delete from ${tx(table)} where workspace_id = ${workspaceId}`;
}

/** A workspace's settings as a new one has them. Index: primary key. */
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
      zone_attribute = default
    where id = ${id}`;
}

/** Campaigns that send or will send. Index: campaigns_newest. */
export async function listLiveCampaigns(tx: Queryable, workspaceId: string): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    select id from campaigns
    where workspace_id = ${workspaceId} and status in ('SCHEDULED', 'SENDING', 'ACTIVE', 'PAUSED') order by id`;
  return rows.map(({ id }) => id);
}

/** How many workers hold something of a workspace. Indexes: chunks_open, segment_operations_open, callbacks_due, mails_due. */
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
