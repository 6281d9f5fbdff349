import type { Clock } from '../../clock.ts';
import type { Message } from '../../domain/campaigns/message.ts';
import type { Logger } from '../../log.ts';
import type { OutgoingProxy } from '../outgoing-http/outgoing-proxy.ts';
import type { ShareProviderToken } from './apns/apns-provider-token.ts';
import { makeApnsProvider } from './apns/make-apns-provider.ts';
import type { DeliveryEndpoints } from './delivery-endpoints.ts';
import { makeFcmProvider } from './fcm/make-fcm-provider.ts';
import { makeLaneBatch } from './lane-batch.ts';
import { makeSingleBatch } from './delivery-batch.ts';
import type { DeliveryBatch, OpenBatch, SendTo } from './delivery-batch.ts';
import { makeHttp2Transport } from './http2/http2-transport.ts';
import type { Http2Client } from './http2/http2-transport.ts';
import type { DeliveryProvider, DeliveryRequest, DeviceAddress, Outcome, Plan, RoutedProvider } from './provider.ts';
import { unusableCredential } from './request-writer.ts';
import { makeWebPushProvider } from './webpush/make-web-push-provider.ts';

export type Delivery = {
  /** Sends one message to one device through its provider. Never rejects. */
  deliver(request: DeliveryRequest): Promise<Outcome>;
  /** For many messages of one run. */
  openBatch: OpenBatch;
  /** The same question, with nothing delivered where the provider can be asked so (FCM's validate_only). */
  probe(request: DeliveryRequest): Promise<Outcome>;
  close(): Promise<void>;
};

export type DeliveryOptions = {
  clock: Clock;
  log: Logger;
  endpoints: DeliveryEndpoints;
  allowedNetworks: readonly string[];
  proxy?: OutgoingProxy | undefined;
  /** Whose HTTP/2 is spoken; this project's when it is left out. */
  http2Client?: Http2Client;
  /** One Apple token for all nodes; each process has its own when this is left out. */
  shareToken?: ShareProviderToken;
};

/** The three providers behind one call, sharing one transport. */
export function makeDelivery(options: DeliveryOptions): Delivery {
  const { clock, log, endpoints, allowedNetworks, proxy, shareToken = async ({ make }) => make() } = options;
  const transport = makeHttp2Transport({ log, allowedNetworks, proxy, client: options.http2Client });
  const { simulators } = endpoints;
  const fcm = makeFcmProvider({ clock, transport, endpoints: endpoints.fcm, simulator: simulators?.fcm });
  const apns = makeApnsProvider({
    clock,
    transport,
    endpoints: endpoints.apns,
    simulatorOrigin: simulators?.apns,
    shareToken,
  });
  const webpush = makeWebPushProvider({ clock, log, transport, simulator: simulators?.webPush });

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

  const deliver = (request: DeliveryRequest): Promise<Outcome> => send(request, (plan) => plan);
  const openSingleBatch = makeSingleBatch(deliver);
  const openBatch = (batch: DeliveryBatch): SendTo => {
    const through = <C>(provider: RoutedProvider<C>, credential: C | undefined): SendTo =>
      batch.pace === 'promptly' || credential === undefined
        ? openSingleBatch(batch)
        : makeLaneBatch({ clock, transport, provider, credential, batch });
    const { credentials, devices } = batch;
    switch (devices[0]?.platform) {
      case 'ANDROID':
        return through(fcm, credentials.fcm);
      case 'IOS':
        return through(apns, credentials.apns);
      default:
        // Each push service has addresses of its own, and each message is encrypted.
        return openSingleBatch(batch);
    }
  };

  return {
    deliver,
    openBatch,
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
    return unusableCredential(error);
  }
}
