import { makeSimulatedSubscription } from '../engine/delivery/simulator/make-simulated-subscription.ts';
import type { SimulatorPlace } from '../engine/delivery/simulator/start-simulators.ts';
import type { Rest } from '../engine/rest.ts';
import type { DeliveryEndpoints } from '../engine/delivery/delivery-endpoints.ts';
import type { OutgoingProxy } from '../engine/outgoing-http/outgoing-proxy.ts';
import type { Tracing } from '../domain/tracing/tracing.ts';
import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';
import type { Config } from './config.ts';
import type { OpenInstallation } from './open-installation.ts';

/** What every part of a node is composed from. */
export type Composition = {
  config: Config;
  /** Where the providers are; a test puts stand-ins there, also for the simulated ones. */
  providers: DeliveryEndpoints;
  simulatorsRunIn: SimulatorPlace;
  /** Undefined: its jobs look as often as they should, whoever calls. */
  rest: Rest | undefined;
  /** How the internet is called; directly where there is none. */
  proxy: OutgoingProxy | undefined;
  /** Undefined where no traces are asked for. */
  tracing: Tracing | undefined;
  clock: Clock;
  log: Logger;
  installation: OpenInstallation;
  /** Aborted when the node is to stop; a start under way looks at it between two parts. */
  stopRequested: AbortSignal;
  /** Each part adds itself once it runs; a stop ends them from the last to the first. */
  started: { stop(): Promise<void> }[];
};

/** Makes browser subscriptions that the simulators can decrypt for. */
export function makeSubscriptionsOf(installation: OpenInstallation): (id: string) => string {
  const secret = installation.secretFor('simulator');
  return (id) => makeSimulatedSubscription({ secret, id });
}
