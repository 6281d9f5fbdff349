import type { Clock } from '../clock.ts';
import type { Message } from '../domain/content/message.ts';
import type { ApnsCredential } from '../domain/credentials/credentials.ts';
import { providerOf, providersOf } from '../domain/delivery/providers.ts';
import type { ProviderName } from '../domain/delivery/providers.ts';
import { unknownCase } from '../domain/unknown-case.ts';
import type { Logger } from '../log.ts';
import type { OutgoingProxy } from '../outgoing/proxy.ts';
import { planLiveActivityRequest, measureApnsMessage } from './apns/plan.ts';
import type { LiveActivityMessage } from './apns/plan.ts';
import type { ShareProviderToken } from './apns/provider-token.ts';
import { makeApnsProvider } from './apns/provider.ts';
import { makeSingleBatch } from './batch.ts';
import type { DeliveryBatch, OpenBatch, SendTo } from './batch.ts';
import type { DeliveryEndpoints } from './endpoints.ts';
import { measureFcmMessage } from './fcm/plan.ts';
import { makeFcmProvider } from './fcm/provider.ts';
import { makeHmsProvider } from './hms/provider.ts';
import { makeHttp2Transport } from './http2/transport.ts';
import type { Http2Client } from './http2/transport.ts';
import { makeLaneBatch, unusableCredential } from './lane-batch.ts';
import type { DeliveryProvider, DeliveryRequest, DeviceAddress, Outcome, Plan, RoutedProvider } from './provider.ts';
import { measureWebPushMessage } from './webpush/plan.ts';
import { makeWebPushProvider } from './webpush/provider.ts';

export type Delivery = {
  /** Sends one message to one device through its provider. Never rejects. */
  deliver(request: DeliveryRequest): Promise<Outcome>;
  /** Opens a batch of many messages of one run. */
  openBatch: OpenBatch;
  /** Like `deliver`, but nothing is delivered if the provider supports it (`validate_only`). */
  probe(request: DeliveryRequest): Promise<Outcome>;
  /** Sends an event of a Live Activity, which only Apple carries. Never rejects. */
  deliverLiveActivity(request: { message: LiveActivityMessage; credential: ApnsCredential }): Promise<Outcome>;
  close(): Promise<void>;
};

export type DeliveryOptions = {
  clock: Clock;
  log: Logger;
  endpoints: DeliveryEndpoints;
  allowedNetworks: readonly string[];
  proxy?: OutgoingProxy | undefined;
  /** The HTTP/2 client; this project's by default. */
  http2Client?: Http2Client;
  /** Shares one Apple token among all nodes; without it, each process has its own. */
  shareToken?: ShareProviderToken;
};

/** Makes one interface to all providers, which share one transport. */
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
  const hms = makeHmsProvider({ clock, transport, endpoints: endpoints.hms, simulator: simulators?.hms });

  const send = async ({ message, device, credentials }: DeliveryRequest, change: ChangePlan): Promise<Outcome> => {
    const name = providerOf(device);
    const through = <C>(provider: DeliveryProvider<C>, credential: C | undefined): Promise<Outcome> | Outcome =>
      credential === undefined
        ? noCredential(message, name)
        : deliverThrough(provider, { message, device, credential, change }, clock);
    switch (name) {
      case 'fcm':
        return through(fcm, credentials.fcm);
      case 'apns':
        return through(apns, credentials.apns);
      case 'webpush':
        return through(webpush, credentials.webpush);
      case 'hms':
        return through(hms, credentials.hms);
      default:
        return unknownCase(name);
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
    const name = providerOf(devices[0]!);
    switch (name) {
      case 'fcm':
        return through(fcm, credentials.fcm);
      case 'apns':
        return through(apns, credentials.apns);
      case 'hms':
        return through(hms, credentials.hms);
      case 'webpush':
        // Each push service has its own addresses, and each message is encrypted.
        return openSingleBatch(batch);
      default:
        return unknownCase(name);
    }
  };

  return {
    deliver,
    openBatch,
    probe: (request) =>
      send(request, canValidateOnly.includes(providerOf(request.device)) ? validateOnly : (plan) => plan),
    async deliverLiveActivity({ message, credential }) {
      try {
        const origin = endpoints.apns[credential.environment];
        const planned = planLiveActivityRequest(message, { credential, origin });
        if ('outcome' in planned) return planned.outcome;
        return apns.classify(await apns.send(planned.plan, credential), clock.realNow());
      } catch (error) {
        return unusableCredential(error);
      }
    },
    async close() {
      await transport.close();
      await Promise.all([fcm.close(), apns.close(), webpush.close(), hms.close()]);
    },
  };
}

function noCredential({ platform }: Message, provider: ProviderName): Outcome {
  const by = provider === providersOf[platform][0] ? '' : ` by ${provider}`;
  return { kind: 'stopped', code: 'NO_CREDENTIAL', detail: `this workspace has no credential for ${platform}${by}` };
}

type ChangePlan = (plan: Plan) => Plan;

const canValidateOnly: readonly ProviderName[] = ['fcm', 'hms'];

/** Asks the provider to check account, address and message, and to deliver nothing (delivery 1). */
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

/** How large a message is for its provider. */
export type MessageSize = {
  bytes: number;
  /** The maximum that the provider accepts. */
  most: number;
  /** The maximum that every service of the platform accepts; push services of browsers differ. */
  maxEverywhere: number;
};

/** Returns how many bytes a provider counts for a message, and the maximum it accepts. Pure. */
export function measureMessage(message: Message): MessageSize {
  switch (message.platform) {
    case 'ANDROID':
      return everywhere(measureFcmMessage(message));
    case 'IOS':
      return everywhere(measureApnsMessage(message));
    case 'WEB':
      return measureWebPushMessage(message);
    default:
      return unknownCase(message);
  }
}

function everywhere({ bytes, most }: { bytes: number; most: number }): MessageSize {
  return { bytes, most, maxEverywhere: most };
}
