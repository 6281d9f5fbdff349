import type { Clock } from '../../clock.ts';
import type { Tracing } from '../../domain/operations/tracing.ts';
import type { Rest } from '../../engine/jobs/job.ts';
import type { Logger } from '../../log.ts';
import type { OutgoingProxy } from '../../outgoing/proxy.ts';
import type { DeliveryEndpoints } from '../../providers/registry.ts';
import type { SimulatorThread } from '../../providers/simulator/simulator-thread.ts';
import type { SimulatorPlace } from '../../providers/simulator/start-simulators.ts';
import { makeSimulatedSubscription } from '../../providers/webpush/simulated-browser.ts';
import type { Config } from '../config.ts';
import type { OpenInstallation } from '../database/open-installation.ts';

/** The shared inputs that every part of a node is composed from. */
export type Composition = {
  config: Config;
  /** Endpoints of the providers. A test sets stand-ins, also for the simulated ones. */
  providers: DeliveryEndpoints;
  simulatorsRunIn: SimulatorPlace;
  /** The thread of the simulators, opened while the node waited for its database. */
  simulatorThread: SimulatorThread | undefined;
  /** Undefined: jobs keep their normal interval, whether or not callers are active. */
  rest: Rest | undefined;
  /** The outgoing proxy; undefined for direct calls. */
  proxy: OutgoingProxy | undefined;
  /** Undefined if traces are not enabled. */
  tracing: Tracing | undefined;
  clock: Clock;
  log: Logger;
  installation: OpenInstallation;
  /** Aborted when the node is to stop; a start under way checks it between two parts. */
  stopRequested: AbortSignal;
  /** Each part adds itself once it runs; a stop ends them in reverse order. */
  started: { stop(): Promise<void> }[];
};

/** Returns a function that makes browser subscriptions that the simulators can decrypt for. */
export function makeSubscriptionsOf(installation: OpenInstallation): (id: string) => string {
  const secret = installation.secretFor('simulator');
  return (id) => makeSimulatedSubscription({ secret, id });
}
