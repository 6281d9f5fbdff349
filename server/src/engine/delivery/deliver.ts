import type { Clock } from '../../clock.ts';
import type { Message } from '../../domain/campaigns/message.ts';
import type { ProviderCredentials } from '../../domain/provider-credential.ts';
import type { Logger } from '../../log.ts';
import type { ShareProviderToken } from './apns/apns-provider-token.ts';
import { makeApnsProvider } from './apns/make-apns-provider.ts';
import type { DeliveryEndpoints } from './delivery-endpoints.ts';
import { makeFcmProvider } from './fcm/make-fcm-provider.ts';
import { makeHttp2Transport } from './http2/http2-transport.ts';
import type { DeliveryProvider, DeviceAddress, Outcome, Plan } from './provider.ts';
import { makeWebPushProvider } from './webpush/make-web-push-provider.ts';

export type Delivery = {
  /** Sends one message to one device through its provider. Never rejects. */
  deliver(request: DeliveryRequest): Promise<Outcome>;
  /** The same question, with nothing delivered where the provider can be asked so (FCM's validate_only). */
  probe(request: DeliveryRequest): Promise<Outcome>;
  close(): Promise<void>;
};

export type DeliveryRequest = { message: Message; device: DeviceAddress; credentials: ProviderCredentials };

export type DeliveryOptions = {
  clock: Clock;
  log: Logger;
  endpoints: DeliveryEndpoints;
  allowedNetworks: readonly string[];
  /** One Apple token for all nodes; each process has its own when this is left out. */
  shareToken?: ShareProviderToken;
};

/** The three providers behind one call, sharing one transport. */
export function makeDelivery(options: DeliveryOptions): Delivery {
  const { clock, log, endpoints, allowedNetworks, shareToken = async ({ make }) => make() } = options;
  const transport = makeHttp2Transport({ log, allowedNetworks });
  const { simulators } = endpoints;
  const fcm = makeFcmProvider({ clock, transport, endpoints: endpoints.fcm, simulator: simulators?.fcm });
  const apns = makeApnsProvider({
    clock,
    transport,
    endpoints: endpoints.apns,
    simulatorOrigin: simulators?.apns,
    shareToken,
  });
  const webpush = makeWebPushProvider({ clock, transport, simulator: simulators?.webPush });

  const send = async ({ message, device, credentials }: DeliveryRequest, change: ChangePlan): Promise<Outcome> => {
    const through = <C>(provider: DeliveryProvider<C>, credential: C | undefined): Promise<Outcome> | Outcome =>
      credential === undefined
        ? noCredential(message)
        : deliverThrough(provider, { message, device, credential, change }, clock);
    switch (message.platform) {
      case 'ANDROID':
        return through(fcm, credentials.fcm);
      case 'IOS':
        return through(apns, credentials.apns);
      case 'WEB':
        return through(webpush, credentials.webpush);
      default: {
        const never: never = message;
        throw new Error(`unknown platform ${String(never)}`);
      }
    }
  };

  return {
    deliver: (request) => send(request, (plan) => plan),
    probe: (request) => send(request, request.message.platform === 'ANDROID' ? validateOnly : (plan) => plan),
    async close() {
      await transport.close();
      await Promise.all([fcm.close(), apns.close(), webpush.close()]);
    },
  };
}

function noCredential(message: Message): Outcome {
  return { kind: 'stopped', code: 'NO_CREDENTIAL', detail: `this workspace has no credential for ${message.platform}` };
}

type ChangePlan = (plan: Plan) => Plan;

/** FCM checks account, project, address and message, and delivers nothing (delivery 1). */
function validateOnly(plan: Plan): Plan {
  const body = JSON.parse(plan.body.toString('utf8')) as object;
  return { ...plan, body: Buffer.from(JSON.stringify({ validate_only: true, ...body })) };
}

type Sending<C> = { message: Message; device: DeviceAddress; credential: C; change: ChangePlan };

async function deliverThrough<C>(provider: DeliveryProvider<C>, sending: Sending<C>, clock: Clock): Promise<Outcome> {
  try {
    const planned = provider.plan(sending);
    if ('outcome' in planned) return planned.outcome;
    return provider.classify(await provider.send(sending.change(planned.plan), sending.credential), clock.realNow());
  } catch (error) {
    // An unusable credential (a broken key, for example) throws here; it must not fail the whole window.
    return { kind: 'stopped', code: 'CREDENTIAL_UNUSABLE', detail: (error as Error).message };
  }
}
