import { realProviderEndpoints } from '../providers/endpoints.ts';
import type { DeliveryEndpoints } from '../providers/endpoints.ts';
import { simulatedPushOrigin } from '../domain/delivery/push-services.ts';
import type { Database } from '../storage/database.ts';
import { listNodes } from '../storage/installation/nodes.ts';

/** Returns the endpoints of the providers; those of a running sandbox's simulators come from its report. */
export async function findProviderEndpoints(database: Database): Promise<DeliveryEndpoints> {
  const simulators = (await listNodes(database)).at(-1)?.simulators;
  if (!simulators) return realProviderEndpoints;
  return {
    ...realProviderEndpoints,
    simulators: {
      fcm: { messagesOrigin: simulators.fcm, tokenOrigin: simulators.fcm },
      apns: simulators.apns,
      hms: { messagesOrigin: simulators.hms, tokenOrigin: simulators.hms },
      webPush: { origin: simulatedPushOrigin, connectTo: simulatedPushOrigin },
    },
  };
}
