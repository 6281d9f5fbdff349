import { isAlive } from '../../app/system/nodes.ts';
import { keepInStep, makeClock } from '../../clock.ts';
import { cutTable, distributedTables, planDistribution } from '../../domain/operations/cluster.ts';
import type { DistributionStep } from '../../domain/operations/cluster.ts';
import {
  listClusterNodes,
  listRolesWithoutLogin,
  readClusterExtension,
  cutShard,
  distributeTable,
  freeLocalRows,
  readTables,
  shareTransactionSettings,
  listDistributedSizes,
  listShards,
} from '../../storage/cluster.ts';
import type { ClusterNode } from '../../storage/cluster.ts';
import { openDatabase, withSession } from '../../storage/database.ts';
import type { Database, Session } from '../../storage/database.ts';
import { readDatabaseClock } from '../../storage/installation/database-clock.ts';
import { readLoginRights } from '../../storage/installation/database-roles.ts';
import { listNodes } from '../../storage/installation/nodes.ts';
import { findMissingMigrations, withSchemaLock } from '../../storage/migrate.ts';
import { StartError } from '../start-errors.ts';

/** One step, reported when it begins. */
export type DistributionProgress = DistributionStep & { number: number; of: number };

export type Distribution = { steps: number; workers: number };

/**
 * Distributes the tables of a migrated database over the workers of its cluster, table by table. Finished steps are skipped, so
 * another run continues an interrupted one.
 *
 * @param ownerUrl of the role that owns the tables
 * @throws StartError DATABASE_NOT_DISTRIBUTABLE before anything is changed
 */
export async function distributeDatabase(
  ownerUrl: string,
  { shards, onStep }: { shards: number; onStep: (progress: DistributionProgress) => void },
): Promise<Distribution> {
  const owner = openDatabase({ url: ownerUrl, connections: 2, name: 'carillon distribute' });
  try {
    return await withSession(owner, async (session) => {
      const workers = await requireCluster(session);
      await requireOwner(owner, session);
      await refuseRunningNodes(owner);
      const distribution = await withSchemaLock(session, () => distribute(session, { shards, workers, onStep }));
      if (distribution === 'locked')
        throw refusal(
          'Another migration or distribution of this database is running, or an interrupted one has not ended yet. Try again later.',
        );
      return { steps: distribution, workers: workers.length };
    });
  } finally {
    await owner.end({ timeoutSeconds: 5 });
  }
}

async function distribute(
  session: Session,
  {
    shards,
    workers,
    onStep,
  }: { shards: number; workers: readonly ClusterNode[]; onStep: (progress: DistributionProgress) => void },
): Promise<number> {
  const names = distributedTables.map(({ name }) => name);
  const plan = planDistribution(distributedTables, await readTables(session, names));
  if ('refusal' in plan) throw refusal(plan.refusal);
  await shareTransactionSettings(session);
  for (const [index, step] of plan.steps.entries()) {
    onStep({ ...step, number: index + 1, of: plan.steps.length });
    const { name } = step.table;
    if (step.kind === 'free') await freeLocalRows(session, name);
    else if (step.kind === 'cut') await cutShard(session, { name, shards, nodeIds: workers.map(({ id }) => id) });
    else await distributeTable(session, { table: step.table, shards: name === cutTable ? 1 : shards });
  }
  return plan.steps.length;
}

/** Returns the workers that hold shards. @throws StartError DATABASE_NOT_DISTRIBUTABLE */
async function requireCluster(session: Session): Promise<ClusterNode[]> {
  const { availableVersion, installedVersion } = await readClusterExtension(session);
  if (availableVersion === undefined)
    throw refusal('This PostgreSQL has no extension Citus; install it on the coordinator and on every worker.');
  if (installedVersion === undefined)
    throw refusal(
      'The extension Citus is not installed in this database. Run this as an administrator, here and in the database of this name on every worker: create extension citus;',
    );
  const nodes = await listClusterNodes(session);
  const workers = nodes.filter(({ holdsShards, isActive }) => holdsShards && isActive);
  const silent = nodes.filter(({ isActive }) => !isActive);
  if (silent.length > 0)
    throw refusal(
      `Nodes that are not active: ${silent.map(nameOf).join(', ')}. Run citus_activate_node or citus_remove_node for them.`,
    );
  if (workers.length === 0)
    throw refusal("No worker holds shards. Run this as an administrator: select citus_add_node('<host>', 5432);");
  return workers;
}

const nameOf = ({ host, port }: ClusterNode): string => `${host}:${port}`;

async function requireOwner(owner: Database, session: Session): Promise<void> {
  const { role, mayMigrate } = await readLoginRights(session);
  if (!mayMigrate)
    throw refusal(`The role ${role} does not own the tables; give the owner's URL as CARILLON_DATABASE_OWNER_URL.`);
  const missing = await findMissingMigrations(owner);
  if (missing.length > 0)
    throw refusal(`The database lacks ${missing.length} migrations; run \`carillon migrate\` first.`);
  const closed = await listRolesWithoutLogin(session);
  if (closed.length > 0)
    throw refusal(
      `The coordinator signs in to the workers with the role of each query, but ${closed.join(', ')} may not sign in. Run this as an administrator: ` +
        closed.map((name) => `alter role "${name}" login;`).join(' '),
    );
}

/** Rejects running nodes, because a statement that joins two tables fails while only one of them is distributed. */
async function refuseRunningNodes(owner: Database): Promise<void> {
  const clock = makeClock();
  await keepInStep(clock, () => readDatabaseClock(owner));
  const running = (await listNodes(owner)).filter((node) => isAlive(node, clock));
  if (running.length === 0) return;
  const names = running.map(({ role, host, processId }) => `${role} on ${host}, process ${processId}`);
  throw refusal(`Stop every node first (a killed node counts as running for 30 seconds): ${names.join('; ')}.`);
}

function refusal(sentence: string): StartError {
  return new StartError('DATABASE_NOT_DISTRIBUTABLE', sentence);
}

export type ClusterStatus = {
  /** The distributed tables of the layout; `layout` is undefined for a table that is still on the coordinator. */
  tables: { name: string; layout: { besides: string; shards: number; bytes: number } | undefined }[];
  /** Shard groups that move together: one entry for the co-located shards of all tables. */
  shards: { besides: string; bytes: number }[];
  /** Includes the coordinator. */
  workers: (ClusterNode & { shards: number; bytes: number })[];
};

/** Returns the tables, shards and workers of the cluster with their sizes. Queries every worker for its sizes. */
export async function readClusterStatus(url: string): Promise<ClusterStatus | 'not distributed'> {
  const database = openDatabase({ url, connections: 1, name: 'carillon database status' });
  try {
    const { installedVersion } = await readClusterExtension(database);
    if (installedVersion === undefined) return 'not distributed';
    const sizes = await listDistributedSizes(database);
    if (sizes.length === 0) return 'not distributed';
    const [nodes, shards] = [await listClusterNodes(database), await listShards(database)];
    const sizeOf = new Map(sizes.map((size) => [size.name, size]));
    const besidesOf = new Map(distributedTables.map(({ name, besides }) => [sizeOf.get(name)?.groupId, besides]));
    return {
      tables: distributedTables.map(({ name, besides }) => {
        const size = sizeOf.get(name);
        return { name, layout: size && { besides, shards: size.shards, bytes: size.bytes } };
      }),
      shards: shards.map(({ groupId, bytes }) => ({ besides: besidesOf.get(groupId) ?? `group ${groupId}`, bytes })),
      workers: nodes.map((node) => {
        const own = shards.filter(({ host, port }) => host === node.host && port === node.port);
        return { ...node, shards: own.length, bytes: own.reduce((sum, { bytes }) => sum + bytes, 0) };
      }),
    };
  } finally {
    await database.end({ timeoutSeconds: 5 });
  }
}
