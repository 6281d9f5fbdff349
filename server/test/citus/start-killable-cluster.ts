import type { KillableDatabase } from '../torture/start-killable-database.ts';
import type { CitusPrograms } from './find-citus.ts';
import { prepareCluster } from './prepare-cluster.ts';
import { startCitusCluster } from './start-citus-cluster.ts';

export type KillableClusterOptions = {
  /** Where the servers keep their data, each in a folder of its own; otherwise in a temporary one. */
  folder?: string;
  coordinatorSettings?: Record<string, string>;
};

/** A distributed database, as docs/cluster.md makes one, on two workers; what is killed is the coordinator. */
export async function startKillableCluster(
  programs: CitusPrograms,
  { folder, coordinatorSettings = {} }: KillableClusterOptions = {},
): Promise<KillableDatabase> {
  const cluster = await startCitusCluster(programs, {
    workers: 2,
    folder,
    // What was prepared on several workers is decided soon after the coordinator is back.
    coordinatorSettings: { synchronous_commit: 'on', 'citus.recover_2pc_interval': '1s', ...coordinatorSettings },
  });
  try {
    return {
      ...(await prepareCluster(cluster, { shards: 8 })),
      killAndRestart: () => cluster.killCoordinator(),
      restartEnded: () => cluster.restartEnded(),
      stop: () => cluster.stop(),
    };
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}
