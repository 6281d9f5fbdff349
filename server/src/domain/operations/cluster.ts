/** A table as it is in the database. */
export type FoundTable = {
  name: string;
  /** Undefined while the table is only on the coordinator. */
  layout: { column: string; groupId: number; shards: number } | undefined;
  /** Bytes of its rows on the coordinator: all of them, or those left over from distributing. */
  localBytes: number;
  /** Names of foreign keys, triggers and policies that a cluster does not support. */
  obstacles: readonly string[];
};

export type DistributionStep =
  /** Creates the shards and copies the rows into them, in one transaction. */
  | { kind: 'distribute'; table: DistributedTable; bytes: number }
  /** Splits the single shard of an empty table, with which others will be colocated, into parts with equally many buckets. */
  | { kind: 'cut'; table: DistributedTable; bytes: number }
  /** Frees the space of rows on the coordinator that are already on the workers. */
  | { kind: 'free'; table: DistributedTable; bytes: number };

/**
 * Returns the remaining steps, in order: all of them at first, the rest after an interrupted run, and none when
 * everything is done.
 *
 * @returns the reason if it cannot be done: a table is missing, is distributed differently, or has something that a
 * cluster does not support
 */
export function planDistribution(
  tables: readonly DistributedTable[],
  found: readonly FoundTable[],
): { steps: DistributionStep[] } | { refusal: string } {
  const foundOf = new Map(found.map((table) => [table.name, table]));
  const steps: DistributionStep[] = [];
  for (const table of tables) {
    const present = foundOf.get(table.name);
    if (present === undefined) return { refusal: `The table ${table.name} is missing.` };
    const { layout, localBytes: bytes, obstacles } = present;
    if (layout === undefined) {
      if (obstacles.length > 0)
        return {
          refusal: `The table ${table.name} has what no cluster takes: ${obstacles.join(', ')}; drop it first.`,
        };
      steps.push({ kind: 'distribute', table, bytes });
    } else {
      const first = foundOf.get(table.besides)?.layout;
      if (layout.column !== table.column || first?.groupId !== layout.groupId) return { refusal: otherLayout(table) };
    }
    if (table.name === cutTable && (layout?.shards ?? 1) === 1 && !hasNeighbour(table, found))
      steps.push({ kind: 'cut', table, bytes });
    if (bytes > 0) steps.push({ kind: 'free', table, bytes });
  }
  return { steps };
}

/** True if another table shares its colocation group: splitting the shard would then have to move rows. */
function hasNeighbour({ name }: DistributedTable, found: readonly FoundTable[]): boolean {
  const groupId = found.find((table) => table.name === name)?.layout?.groupId;
  return groupId !== undefined && found.some((table) => table.name !== name && table.layout?.groupId === groupId);
}

function otherLayout({ name, column, besides }: DistributedTable): string {
  const where = besides === name ? '' : ` and co-located with ${besides}`;
  return `The table ${name} must be distributed by ${column}${where}, but is not; undistribute_table('${name}') makes it local again.`;
}

export type DistributedTable = {
  name: string;
  /** The column whose value determines the shard of a row. */
  column: string;
  /** The table with which it is colocated: rows with equal values in both are on one worker. The first table names itself. */
  besides: string;
};

/** Its shards are split so that each has equally many buckets; the shards of colocated tables are split in the same way. */
export const cutTable = 'bucket_shards';

/**
 * The tables that a cluster distributes over its workers, in the order of distribution; all others stay on the
 * coordinator. Add a new table with rows for each user or device here, with the bucket in its primary key.
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
    'journey_users',
    'journey_positions',
    'journey_passages',
    'installations',
    'app_event_ids',
    'topic_choices',
    'inbox_messages',
    'inbox_counts',
    'source_messages',
  ].map((name) => ({ name, column: 'bucket', besides: cutTable })),
  // Looked up by the address alone, before its user is known.
  { name: 'push_addresses', column: 'address_hash', besides: 'push_addresses' },
];

/** Returns the ratio of the largest size to the average: 1 is even, 2 is twice as large. It is 1 if nothing is stored. */
export function measureImbalance(sizesBytes: readonly number[]): number {
  const total = sizesBytes.reduce((sum, size) => sum + size, 0);
  return total === 0 ? 1 : (Math.max(...sizesBytes) * sizesBytes.length) / total;
}
