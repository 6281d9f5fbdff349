import type { Platform } from '../../../server/src/domain/content/content.ts';

export const platforms = ['ANDROID', 'IOS', 'WEB'] as const satisfies readonly Platform[];

/** A number per platform; shares add up to 1. */
export type ByPlatform = Record<Platform, number>;

/** A cluster, and a campaign to all users on it. */
export type Scenario = {
  devices: number;
  shares: ByPlatform;
  seed: number;
  /** Processes of role `worker`, each on a separate host. */
  nodes: number;
  nodeCores: number;
  /** Chunks that a process sends concurrently. */
  parallelChunks: number;
  windowDevices: number;
  database: DatabaseShape;
  /** Nodes of role `api`; here they only hold connections. */
  apiNodes: number;
  connectionsPerNode: number;
  /** The database's (the coordinator's) max_connections. */
  maxConnections: number;
  /**
   * `unlimited`: providers respond at once and accept everything. `simulated`: the simulators of the sandbox, on the same host.
   */
  providers: 'real' | 'simulated' | 'unlimited';
  /** Set if everything runs on one machine with this many cores. */
  sharedHostCores: number | undefined;
  /** How often a node crashes during the campaign, and after how long it is restarted. */
  crashes: number;
  restartSeconds: number;
  /** Shares of all requests, 0 … 1: the address is gone; the provider requests a retry or responds with an error. */
  goneShare: number;
  retryShare: number;
  /** Messages a minute that replace the providers' quotas in the code. */
  perMinute: Partial<ByPlatform>;
};

export type DatabaseShape =
  | { kind: 'single'; cores: number }
  | { kind: 'citus'; workers: number; shards: number; coordinatorCores: number; workerCores: number };

export function sumOf(counts: ByPlatform): number {
  return counts.ANDROID + counts.IOS + counts.WEB;
}

/** Returns the sum of the counts, each multiplied by its platform's value. */
export function weigh(counts: ByPlatform, each: ByPlatform): number {
  return counts.ANDROID * each.ANDROID + counts.IOS * each.IOS + counts.WEB * each.WEB;
}

export function byPlatform(make: (platform: Platform) => number): ByPlatform {
  return { ANDROID: make('ANDROID'), IOS: make('IOS'), WEB: make('WEB') };
}
