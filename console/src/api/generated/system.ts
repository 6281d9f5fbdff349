// Generated from the shapes of the routes by `npm run console:types`; edits are lost.

import type { ProviderName } from './overview.ts';

export type JobNote = {
  name: string;
  doneAt: string | null;
  done: number;
  failedAt: string | null;
  fault: string | null;
};

/** One value for each step; null if no value was reported. */
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

  /** Items that can be processed now. */
  waiting: number;
  running: number;

  /** Items that are due later. */
  later: number;

  /** Items that failed in the last 24 hours. */
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

  /** The end of the certificate that the node itself serves. */
  certificateEndsAt: string | null;
  jobs: JobNote[];
  isAlive: boolean;
};

/** The state of the installation: numbers, names of its parts, and hosts, but no secrets and no data of users. */
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

    /** True if each page of the database has a checksum, so that a page that the disk changed is an error. */
    hasPageChecksums: boolean;
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

    /** The time of the newest backup that Carillon made; null if none is known. */
    backupMadeAt: string | null;

    /** The interval of automatic backups; null if no node makes them. */
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
