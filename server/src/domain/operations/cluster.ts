/** A table as the database has it. */
export type FoundTable = {
  name: string;
  /** Undefined while it is on the coordinator alone. */
  layout: { column: string; groupId: number; shards: number } | undefined;
  /** Of its rows on the coordinator: all of them, or what distributing left behind. */
  localBytes: number;
  /** Foreign keys, triggers and policies that no cluster takes, by name. */
  obstacles: readonly string[];
};

export type DistributionStep =
  /** Makes the shards and copies the rows into them, in one transaction. */
  | { kind: 'distribute'; table: DistributedTable; bytes: number }
  /** Cuts the one shard of an empty table, which others will lie beside, so that each part has as many buckets. */
  | { kind: 'cut'; table: DistributedTable; bytes: number }
  /** Frees what the coordinator still keeps of rows that are on the workers. */
  | { kind: 'free'; table: DistributedTable; bytes: number };

/**
 * What is left to do, in order: all of it at first, the rest after a run that was broken off, nothing when all is done.
 *
 * @returns why it cannot be done, when a table is missing, is distributed otherwise, or has what no cluster takes
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

/** Rows would have to be moved. */
function hasNeighbour({ name }: DistributedTable, found: readonly FoundTable[]): boolean {
  const groupId = found.find((table) => table.name === name)?.layout?.groupId;
  return groupId !== undefined && found.some((table) => table.name !== name && table.layout?.groupId === groupId);
}

function otherLayout({ name, column, besides }: DistributedTable): string {
  const where = besides === name ? '' : ` beside ${besides}`;
  return `The table ${name} is distributed otherwise than by ${column}${where}; undistribute_table('${name}') makes it local again.`;
}

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

/** How much larger than the average the largest is: 1 is even, 2 twice as large. Nothing stored counts as even. */
export function measureImbalance(sizesBytes: readonly number[]): number {
  const total = sizesBytes.reduce((sum, size) => sum + size, 0);
  return total === 0 ? 1 : (Math.max(...sizesBytes) * sizesBytes.length) / total;
}
