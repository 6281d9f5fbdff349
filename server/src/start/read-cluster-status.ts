import { distributedTables } from '../domain/cluster/distributed-tables.ts';
import { listClusterNodes, readClusterExtension } from '../storage/cluster/cluster-nodes.ts';
import type { ClusterNode } from '../storage/cluster/cluster-nodes.ts';
import { listDistributedSizes, listShards } from '../storage/cluster/shards.ts';
import { openDatabase } from '../storage/database.ts';

export type ClusterStatus = {
  /** Those of the layout; `layout` is undefined of one that is on the coordinator still. */
  tables: { name: string; layout: { besides: string; shards: number; bytes: number } | undefined }[];
  /** What moves together, one entry for the shards of all tables beside each other. */
  shards: { besides: string; bytes: number }[];
  /** The coordinator is among them. */
  workers: (ClusterNode & { shards: number; bytes: number })[];
};

/** What of the database is where. Asks every worker for the sizes on it. */
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
