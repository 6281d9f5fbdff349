// Generated from the shapes of the routes by `npm run console:types`; edits are lost.

import type { ProviderName } from './overview.ts';

export type JobNote = {
  name: string;
  doneAt: string | null;
  done: number;
  failedAt: string | null;
  fault: string | null;
};

/** A value for each step; null: nothing was told of it. */
export type MetricSeries = {
  name: string;
  values: (number | null)[];
};

/** What the nodes of the installation counted, over all workspaces. */
export type Metrics = {
  stepSeconds: number;
  steps: string[];
  series: MetricSeries[];
};

export type QueueState = {
  name: string;

  /** Could be worked now. */
  waiting: number;
  running: number;

  /** Wait for a moment to come. */
  later: number;

  /** In the last 24 hours. */
  failed: number;
  oldestAt: string | null;
};

export type SystemNode = {
  id: string;
  host: string;
  processId: number;
  role: 'all' | 'api' | 'worker';
  version: string;
  startedAt: string;
  seenAt: string;
  memoryBytes: number;
  connections: number;

  /** Of the certificate that it serves itself. */
  certificateEndsAt: string | null;
  jobs: JobNote[];
  isAlive: boolean;
};

/** The installation: numbers, names of its own parts, and hosts; no secret and nobody's data. */
export type SystemState = {
  now: string;
  clockOffsetSeconds: number;
  troubles: string[];
  version: string;
  mode: 'sandbox' | 'production';
  role: string;
  changedSettings: string[];

  /** How long each kind of record is kept. */
  retentionDays: {
    ledger: number;
    events: number;
    runs: number;
    interactions: number;
    pushRequests: number;
    messages: number;
    operations: number;
    audit: number;
    apiLog: number;
  };
  machine: {
    uptimeSeconds: number;
    memoryBytes: number;
    runtime: string;
    platform: string;
    disk: {
      freeBytes: number;
      totalBytes: number;
    } | null;
  };
  database: {
    version: string;
    sizeBytes: number;
    connections: number;
    maxConnections: number;
    nodesMayOpen: number;
    openToNodes: number;
    startedAt: string;
    isEmbedded: boolean;
    replicas: {
      state: string;
      lagBytes: number | null;
    }[];

    /** The partitions of the tables that are kept by day. */
    days: {
      table: 'deliveries' | 'events';
      days: number;
      oldest: string;
      newest: string;
    }[];

    /** As of when the newest backup is that Carillon made; null where none is known. */
    backupMadeAt: string | null;

    /** How often a node makes one by itself; null where none does. */
    backupHours: number | null;
    isBackupLate: boolean;
    migrations: {
      count: number;
      newest: {
        name: string;
        appliedAt: string;
      } | null;
    };
  };
  nodes: SystemNode[];
  queues: QueueState[];
  providers: {
    provider: ProviderName;
    name: string;
    isConnected: boolean;
    isSimulated: boolean;
    checkedAt: string | null;
    verdict: 'ACCEPTED' | 'REFUSED' | 'UNKNOWN' | null;
    silentUntil: string | null;
    noisyUntil: string | null;
  }[];
};
