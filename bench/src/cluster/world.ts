import type { ClusterValues } from './cluster-values.ts';
import type { Draws } from './draws.ts';
import type { EventQueue } from './event-queue.ts';
import type { Operations } from './operations.ts';
import type { Scenario } from './scenario.ts';
import type { SendRequests } from './send-requests.ts';
import type { Asker, Operation, Request, SimulatedDatabase } from './simulated-database.ts';
import type { SimulatedProviders } from './simulated-providers.ts';
import type { SimulatedRetries } from './simulated-retries.ts';
import type { Outcomes, SimulatedRun } from './simulated-run.ts';
import type { Station } from './stations.ts';

/** The state that all nodes share. */
export type World = {
  queue: EventQueue;
  scenario: Scenario;
  values: ClusterValues;
  draws: Draws;
  operations: Operations;
  database: SimulatedDatabase;
  providers: SimulatedProviders;
  run: SimulatedRun;
  retries: SimulatedRetries;
  /** The single machine, if everything runs on it. */
  sharedHost: Station | undefined;
  /** Called when a chunk or waiting deliveries have ended. */
  onEnded: () => void;
};

/** The state of a process from its start to its end. */
export type Life = {
  asker: Asker;
  /** Runs a transaction; `done` is not called if the process died meanwhile. */
  perform(operation: Operation, request: Omit<Request, 'asker'>): void;
  sendRequests: SendRequests;
  /** Stores the outcomes' waiting devices for a retry. */
  remember(outcomes: Outcomes): void;
};
