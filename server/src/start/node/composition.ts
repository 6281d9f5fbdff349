import type { Clock } from '../../clock.ts';
import type { Tracing } from '../../domain/operations/tracing.ts';
import type { Rest } from '../../engine/jobs/job.ts';
import type { Logger } from '../../log.ts';
import type { OutgoingProxy } from '../../outgoing/proxy.ts';
import type { DeliveryEndpoints } from '../../providers/endpoints.ts';
import type { SimulatorPlace } from '../../providers/simulator/start-simulators.ts';
import { makeSimulatedSubscription } from '../../providers/webpush/simulated-browser.ts';
import type { Config } from '../config.ts';
import type { OpenInstallation } from '../database/open-installation.ts';

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
