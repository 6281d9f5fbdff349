import { simulatedPushOrigin } from '../domain/delivery/push-services.ts';
import { mapProviders, realProviderEndpoints, simulatorEndpointsAt } from '../providers/registry.ts';
import type { DeliveryEndpoints } from '../providers/registry.ts';
import type { Database } from '../storage/database.ts';
import { listNodes } from '../storage/installation/nodes.ts';

/** Returns the endpoints of the providers; those of a running sandbox's simulators come from its report. */
export async function findProviderEndpoints(database: Database): Promise<DeliveryEndpoints> {
  const origins = (await listNodes(database)).at(-1)?.simulators;
  if (!origins) return realProviderEndpoints;
  // No command sends to browsers, so the report does not say where their push service listens.
  const known = mapProviders((_, name) => origins[name] ?? simulatedPushOrigin);
  return { ...realProviderEndpoints, simulators: simulatorEndpointsAt(known) };
}
