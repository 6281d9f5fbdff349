export type DistributedTable = {
  name: string;
  /** Its value decides on which shard a row is. */
  column: string;
  /** The table whose shards its own lie beside: what has equal values in both is on one worker. Itself when it is the first. */
  besides: string;
};

/** Its shards are cut so that each has as many buckets; the tables beside it have theirs cut alike. */
export const cutTable = 'bucket_shards';

/**
 * The tables that a cluster spreads over its workers, in the order in which they are distributed; all others stay on the
 * coordinator. A new table with rows for each user or device goes here, with the bucket in its primary key.
 */
export const distributedTables: readonly DistributedTable[] = [
  { name: cutTable, column: 'bucket', besides: cutTable },
  ...[
    'users',
    'identifiers',
    'devices',
    'segment_members',
    'merged_users',
    'user_messages',
    'unattributed_events',
    'conversions',
    'device_interactions',
    'campaign_interactions',
    'run_counts',
    'run_cursors',
    'run_variations',
    'audience_seats',
    'run_interactions',
    'deliveries',
    'events',
    'triggers',
  ].map((name) => ({ name, column: 'bucket', besides: cutTable })),
  // Looked up by the address alone, before anybody knows whose it is.
  { name: 'push_addresses', column: 'address_hash', besides: 'push_addresses' },
];
