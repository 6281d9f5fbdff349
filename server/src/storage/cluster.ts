import type { DistributedTable, FoundTable } from '../domain/operations/cluster.ts';
import { inSchemaTransaction } from './database.ts';
import type { Queryable, Session } from './database.ts';

export type ClusterExtension = {
  /** Undefined where the server does not have the extension. */
  availableVersion: string | undefined;
  /** Undefined while it is not installed in this database. */
  installedVersion: string | undefined;
};

/** Reads the catalogue, including the extensions that have files on the server. */
export async function readClusterExtension(on: Queryable): Promise<ClusterExtension> {
  const [row] = await on<{ available: string; installed: string | null }[]>`
    select default_version as available, installed_version as installed from pg_available_extensions where name = 'citus'`;
  return { availableVersion: row?.available, installedVersion: row?.installed ?? undefined };
}

export type ClusterNode = {
  id: number;
  host: string;
  port: number;
  isCoordinator: boolean;
  isActive: boolean;
  holdsShards: boolean;
};

/** Lists the nodes that accept writes, the coordinator first. The extension must be installed. */
export async function listClusterNodes(on: Queryable): Promise<ClusterNode[]> {
  return on<ClusterNode[]>`
    select nodeid as id, nodename as host, nodeport as port, groupid = 0 as "isCoordinator", isactive as "isActive",
      shouldhaveshards as "holdsShards"
    from pg_dist_node where noderole = 'primary' order by groupid limit 1000`;
}

/**
 * Lists roles that have rights on the tables of this database and may not log in. The coordinator logs in to the
 * workers as the current role, so these roles cannot use a cluster.
 */
export async function listRolesWithoutLogin(on: Queryable): Promise<string[]> {
  const rows = await on<{ name: string }[]>`
    select distinct rolname as name
    from pg_class cross join aclexplode(relacl) as acl join pg_roles on pg_roles.oid = acl.grantee
    where pg_class.oid = 'users'::regclass and not rolcanlogin
    order by rolname`;
  return rows.map(({ name }) => name);
}

/**
 * Reads the catalogue entries of tables and their partitions. On the coordinator the size of a distributed table is
 * that of its leftover local rows, which statements no longer see.
 */
export async function readTables(on: Queryable, names: readonly string[]): Promise<FoundTable[]> {
  const rows = await on<
    { name: string; column: string | null; groupId: number; shards: number; localBytes: number; obstacles: string[] }[]
  >`
    select relname as name, column_to_column_name(pg_dist_partition.logicalrelid, partkey) as column, colocationid as "groupId",
      (select count(*)::int from pg_dist_shard where pg_dist_shard.logicalrelid = pg_class.oid) as shards,
      (
        select coalesce(sum(pg_relation_size(part)), 0)::bigint
        from (select pg_class.oid as part union all select inhrelid from pg_inherits where inhparent = pg_class.oid) as parts
      ) as "localBytes",
      array(
        select format('foreign key %I', conname) from pg_constraint
        where contype = 'f' and pg_class.oid in (conrelid, confrelid)
        union all
        select format('trigger %I', tgname) from pg_trigger where tgrelid = pg_class.oid and not tgisinternal
        union all
        select format('policy %I with a subquery', polname) from pg_policy
        where polrelid = pg_class.oid and (polqual::text || coalesce(polwithcheck::text, '')) like '%SUBLINK%'
      ) as obstacles
    from pg_class
    left join pg_dist_partition on pg_dist_partition.logicalrelid = pg_class.oid
    where relnamespace = 'public'::regnamespace and relname = any(${names})`;
  return rows.map(({ name, column, groupId, shards, localBytes, obstacles }) => {
    const layout = column === null ? undefined : { column, groupId, shards };
    return { name, layout, localBytes, obstacles };
  });
}

/**
 * Creates the shards of one table and copies its rows into them. Nothing is written to the table meanwhile; if
 * interrupted, it is unchanged. The rows are moved by COPY, which PostgreSQL refuses while the policies apply to the
 * owner.
 */
export async function distributeTable(
  session: Session,
  { table, shards }: { table: DistributedTable; shards: number },
): Promise<void> {
  const { name, column, besides } = table;
  await inSchemaTransaction(session, async (tx) => {
    const parts = await tx<{ part: string }[]>`
      select oid::regclass::text as part from pg_class where oid = ${name}::regclass
      union all
      select inhrelid::regclass::text from pg_inherits where inhparent = ${name}::regclass`;
    for (const { part } of parts) await tx`alter table ${tx(part)} no force row level security`;
    if (besides === name)
      await tx`
        select create_distributed_table(${name}::regclass, ${column}, colocate_with => 'none', shard_count => ${shards})`;
    else await tx`select create_distributed_table(${name}::regclass, ${column}, colocate_with => ${besides})`;
    for (const { part } of parts) await tx`alter table ${tx(part)} force row level security`;
  });
}

/**
 * Splits the one shard of an empty table by the buckets' hashes into parts of equally many buckets, and assigns the
 * parts to the nodes in turn. The table's owner may do this without rights on the catalogue of the cluster.
 */
export async function cutShard(
  session: Session,
  { name, shards, nodeIds }: { name: string; shards: number; nodeIds: readonly number[] },
): Promise<void> {
  if (shards === 1) return;
  const nodeOfShard = Array.from({ length: shards }, (_, index) => nodeIds[index % nodeIds.length]!);
  await session`
    select citus_split_shard_by_split_points(shardid, points, ${nodeOfShard}::int[], 'block_writes')
    from pg_dist_shard cross join (
      select array_agg(hash::text order by hash) as points
      from (
        select worker_hash(bucket::smallint) as hash, row_number() over (order by worker_hash(bucket::smallint)) as number
        from generate_series(0, 255) as bucket
      ) as hashes
      where number % (256 / ${shards}::int) = 0 and number < 256
    ) as cut
    where logicalrelid = ${name}::regclass`;
}

/** Frees the coordinator's local copy of a table whose rows are on the workers. */
export async function freeLocalRows(session: Session, name: string): Promise<void> {
  await session`select truncate_local_data_after_distributing_table(${name}::regclass)`;
}

/**
 * Makes the workers receive a transaction's workspace too, which their policies need. Applies to connections that are
 * opened afterwards.
 */
export async function shareTransactionSettings(session: Session): Promise<void> {
  const [row] = await session<{ name: string }[]>`select current_database() as name`;
  await session`alter database ${session(row!.name)} set citus.propagate_set_commands to 'local'`;
  await session`set citus.propagate_set_commands to 'local'`;
}

export type Shard = { groupId: number; host: string; port: number; tables: number; bytes: number };

/**
 * Lists the shards of colocated tables, combined into one each: they contain the same buckets and move together. Asks
 * every worker for the size of each table on it.
 */
export async function listShards(on: Queryable): Promise<Shard[]> {
  return on<Shard[]>`
    select colocation_id as "groupId", nodename as host, nodeport as port, count(*)::int as tables,
      sum(shard_size)::bigint as bytes
    from citus_shards join pg_dist_shard using (shardid)
    where citus_table_type = 'distributed'
    group by colocation_id, nodename, nodeport, shardminvalue
    order by colocation_id, nodename, nodeport, shardminvalue`;
}

export type DistributedSize = { name: string; groupId: number; shards: number; bytes: number };

/** Lists each distributed table with its partitions. Asks every worker, as `listShards` does. */
export async function listDistributedSizes(on: Queryable): Promise<DistributedSize[]> {
  return on<DistributedSize[]>`
    select coalesce(inhparent, table_name::oid)::regclass::text as name, min(colocation_id)::int as "groupId",
      count(distinct shardminvalue)::int as shards, sum(shard_size)::bigint as bytes
    from citus_shards
    join pg_dist_shard using (shardid)
    left join pg_inherits on inhrelid = table_name::oid
    where citus_table_type = 'distributed'
    group by 1
    order by bytes desc, name`;
}

/** True if the rows of a table are in the shards of a cluster. Reads the catalogue only. */
export async function isDistributed(
  tx: Queryable,
  table: 'deliveries' | 'segment_members' | 'users' | 'journey_positions',
): Promise<boolean> {
  const [row] = await tx<{ isDistributed: boolean }[]>`select is_distributed(${table}) as "isDistributed"`;
  return row!.isDistributed;
}
