import type { Platform } from '../../../server/src/domain/content/content.ts';

export const platforms = ['ANDROID', 'IOS', 'WEB'] as const satisfies readonly Platform[];

/** How many of something each platform has; for shares they make 1. */
export type ByPlatform = Record<Platform, number>;

/** A cluster and a campaign to everybody on it. */
export type Scenario = {
  devices: number;
  shares: ByPlatform;
  seed: number;
  /** Processes of role `worker`, each on a host of its own. */
  nodes: number;
  nodeCores: number;
  /** Chunks a process sends side by side. */
  parallelChunks: number;
  windowDevices: number;
  database: DatabaseShape;
  /** Nodes of role `api`; they hold connections and do nothing else here. */
  apiNodes: number;
  connectionsPerNode: number;
  /** What the database (the coordinator) is set to. */
  maxConnections: number;
  /** `unlimited`: they answer at once and take everything. `simulated`: the simulators of the sandbox, on the same host. */
  providers: 'real' | 'simulated' | 'unlimited';
  /** Everything stands on one machine of so many cores. */
  sharedHostCores: number | undefined;
  /** How often a node is lost while the campaign runs, and after how long it is started again. */
  crashes: number;
  restartSeconds: number;
  /** Of all requests, 0 … 1: the address is gone; the provider asks to come back later or answers with a fault. */
  goneShare: number;
  retryShare: number;
  /** Messages a minute that replace what the code knows of the providers' quotas. */
  perMinute: Partial<ByPlatform>;
};

export type DatabaseShape =
  | { kind: 'single'; cores: number }
  | { kind: 'citus'; workers: number; shards: number; coordinatorCores: number; workerCores: number };

export function sumOf(counts: ByPlatform): number {
  return counts.ANDROID + counts.IOS + counts.WEB;
}

/** Of so many of each platform, at what one of it has. */
export function weigh(counts: ByPlatform, each: ByPlatform): number {
  return counts.ANDROID * each.ANDROID + counts.IOS * each.IOS + counts.WEB * each.WEB;
}

export function byPlatform(make: (platform: Platform) => number): ByPlatform {
  return { ANDROID: make('ANDROID'), IOS: make('IOS'), WEB: make('WEB') };
}
