import type { Draws } from './draws.ts';
import type { EventQueue } from './event-queue.ts';
import type { Scenario } from './scenario.ts';
import { shardOfBucket } from './shard-of-bucket.ts';
import { makeLogDisk, makeStation } from './stations.ts';
import type { LogDisk, Station } from './stations.ts';
import type { ClusterValues } from './cluster-values.ts';

/** The work of one database transaction. */
export type Operation = {
  /** The bucket of its rows; absent for tables on the coordinator. */
  bucket?: number;
  statements: number;
  /** Processor time on the server with the rows. */
  microseconds: number;
  walBytes: number;
  kind: 'read' | 'write';
  /** Rows that the coordinator forwards to a shard. */
  devices?: number;
};

/** The requesting process, which may die before the response. */
export type Asker = { isAlive: boolean };

export type Request = {
  asker: Asker;
  /** Called at the commit, even if the process never gets the response. */
  committed?: () => void;
  done: () => void;
};

/** One server of the cluster. */
export type DatabaseServer = { name: string; cpu: Station; disk: LogDisk; walBytes: number; statements: number };

export type SimulatedDatabase = {
  perform(operation: Operation, request: Request): void;
  coordinator: DatabaseServer;
  /** The servers with the buckets' rows; on a single PostgreSQL the coordinator itself. */
  workers: DatabaseServer[];
  transactions(): number;
  statements(): number;
  maxConnectionsHeld(): number;
};

export type SimulatedDatabaseOptions = {
  queue: EventQueue;
  scenario: Scenario;
  values: ClusterValues;
  draws: Draws;
  /** The single machine, if everything runs on it. */
  sharedHost: Station | undefined;
};

// Service times vary by statement; uniformly, around the measured value.
const spread = 0.4;

/**
 * Simulates PostgreSQL, or a coordinator and workers with Citus. A transaction costs its round trips, processor time on the
 * server with its rows, and a flush of that server's log. If it touches a shard, it also costs the coordinator its planning and
 * the forwarded rows.
 */
export function makeSimulatedDatabase(options: SimulatedDatabaseOptions): SimulatedDatabase {
  const { queue, scenario, values, draws } = options;
  const { database } = scenario;
  const coordinator = makeServer(options, {
    name: database.kind === 'citus' ? 'coordinator' : 'database',
    cores: database.kind === 'citus' ? database.coordinatorCores : database.cores,
  });
  const workers =
    database.kind === 'citus'
      ? Array.from({ length: database.workers }, (_, index) =>
          makeServer(options, { name: `database worker ${index + 1}`, cores: database.workerCores }),
        )
      : [coordinator];
  const serverOf = (bucket: number): DatabaseServer =>
    database.kind === 'citus' ? workers[shardOfBucket(bucket, database.shards) % database.workers]! : coordinator;
  let transactions = 0;
  let statements = 0;
  let held = 0;
  let maxHeld = 0;
  const vary = (microseconds: number): number => (microseconds * (1 - spread / 2 + spread * draws.next())) / 1000;

  /** Uses the processor, then flushes the log. If the process died before the flush, the transaction is rolled back. */
  function work(
    server: DatabaseServer,
    operation: Operation,
    { isWanted, done }: { isWanted(): boolean; done(): void },
  ) {
    server.statements += operation.statements;
    server.cpu.work(vary(operation.microseconds), () => {
      if (operation.kind === 'read' || !isWanted()) return done();
      server.walBytes += operation.walBytes;
      server.disk.work(0, done);
    });
  }

  return {
    coordinator,
    workers,
    transactions: () => transactions,
    statements: () => statements,
    maxConnectionsHeld: () => maxHeld,
    perform(operation, { asker, committed, done }) {
      transactions += 1;
      statements += operation.statements;
      held += 1;
      maxHeld = Math.max(maxHeld, held);
      let isRolledBack = false;
      const isWanted = (): boolean => {
        isRolledBack ||= !asker.isAlive;
        return !isRolledBack;
      };
      const end = (): void => {
        held -= 1;
        if (!isRolledBack) committed?.();
        if (asker.isAlive) done();
      };
      const isRemote = database.kind === 'citus' && operation.bucket !== undefined;
      const trips = operation.statements * values.roundTripMilliseconds;
      queue.after(trips, () => {
        if (!isRemote) return work(coordinator, operation, { isWanted, done: end });
        // Planning and forwarding. The transaction's row of its chunk, which the coordinator locks, is a separate commit.
        const routing: Operation = {
          statements: operation.statements,
          microseconds:
            operation.statements * values.coordinatorMicrosecondsPerStatement +
            (operation.devices ?? 0) * values.coordinatorMicrosecondsPerDevice,
          walBytes: values.coordinatorWalBytesPerTransaction,
          kind: 'read',
        };
        work(coordinator, routing, {
          isWanted,
          done: () =>
            queue.after(trips, () =>
              work(serverOf(operation.bucket!), operation, {
                isWanted,
                done() {
                  if (operation.kind === 'read' || !isWanted()) return end();
                  coordinator.walBytes += routing.walBytes;
                  coordinator.disk.work(0, end);
                },
              }),
            ),
        });
      });
    },
  };
}

function makeServer(
  { queue, values, sharedHost }: SimulatedDatabaseOptions,
  { name, cores }: { name: string; cores: number },
): DatabaseServer {
  return {
    name,
    cpu: sharedHost ? makePart(sharedHost, name) : makeStation(queue, { name: `${name}: processor`, servers: cores }),
    disk: makeLogDisk(queue, { name: `${name}: log`, flushMilliseconds: values.flushMilliseconds }),
    walBytes: 0,
    statements: 0,
  };
}

/** Returns a station that counts the share of one of several users of a host. */
function makePart(host: Station, name: string): Station {
  let busy = 0;
  return {
    name: `${name}: processor`,
    servers: host.servers,
    work(milliseconds, done) {
      host.work(milliseconds, () => {
        busy += milliseconds;
        done();
      });
    },
    busyMilliseconds: () => busy,
  };
}
