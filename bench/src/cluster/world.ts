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

/** What all nodes share. */
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
  /** The one machine, if everything stands on it. */
  sharedHost: Station | undefined;
  /** A chunk or deliveries that waited have ended. */
  onEnded: () => void;
};

/** What a process has from its start to its end. */
export type Life = {
  asker: Asker;
  /** A transaction; who died meanwhile hears no more of it. */
  perform(operation: Operation, request: Omit<Request, 'asker'>): void;
  sendRequests: SendRequests;
  /** Stores with the outcomes who waits. */
  remember(outcomes: Outcomes): void;
};
