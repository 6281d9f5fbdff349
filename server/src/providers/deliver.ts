import type { Clock } from '../clock.ts';
import type { Message } from '../domain/content/message.ts';
import type { ApnsCredential } from '../domain/providers/apns.ts';
import { providerOf, providersOf } from '../domain/delivery/providers.ts';
import type { ProviderCredential, ProviderName } from '../domain/delivery/providers.ts';
import type { Logger } from '../log.ts';
import type { OutgoingProxy } from '../outgoing/proxy.ts';
import { planLiveActivityRequest } from './apns/plan.ts';
import type { LiveActivityMessage } from './apns/plan.ts';
import type { ShareProviderToken } from './apns/provider-token.ts';
import { makeSingleBatch } from './batch.ts';
import type { DeliveryBatch, OpenBatch, SendTo } from './batch.ts';
import { makeHttp2Transport } from './http2/transport.ts';
import type { Http2Client } from './http2/transport.ts';
import { makeLaneBatch, unusableCredential } from './lane-batch.ts';
import type { DeliveryProvider, DeliveryRequest, DeviceAddress, Outcome, Plan, RoutedProvider } from './provider.ts';
import { descriptors, mapProviders } from './registry.ts';
import type { DeliveryEndpoints } from './registry.ts';

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
  const made = mapProviders<DeliveryProvider<ProviderCredential>>((descriptor, name) =>
    descriptor.make({
      ...{ clock, log, transport, shareToken },
      endpoints: (endpoints as Partial<Record<ProviderName, unknown>>)[name],
      simulator: endpoints.simulators?.[name],
    }),
  );

  const send = async ({ message, device, credentials }: DeliveryRequest, change: ChangePlan): Promise<Outcome> => {
    const name = providerOf(device);
    const credential = credentials[name];
    if (credential === undefined) return noCredential(message, name);
    return await deliverThrough(made[name], { message, device, credential, change }, clock);
  };

  const deliver = (request: DeliveryRequest): Promise<Outcome> => send(request, (plan) => plan);
  const openSingleBatch = makeSingleBatch(deliver);
  const openBatch = (batch: DeliveryBatch): SendTo => {
    const name = providerOf(batch.devices[0]!);
    const [provider, credential] = [made[name], batch.credentials[name]];
    return batch.pace === 'promptly' || credential === undefined || !isRouted(provider)
      ? openSingleBatch(batch)
      : makeLaneBatch({ clock, transport, provider, credential, batch });
  };

  return {
    deliver,
    openBatch,
    probe: (request) =>
      send(request, descriptors[providerOf(request.device)].canValidateOnly ? validateOnly : (plan) => plan),
    async deliverLiveActivity({ message, credential }) {
      try {
        const origin = endpoints.apns[credential.environment];
        const planned = planLiveActivityRequest(message, { credential, origin });
        if ('outcome' in planned) return planned.outcome;
        return made.apns.classify(await made.apns.send(planned.plan, credential), clock.realNow());
      } catch (error) {
        return unusableCredential(error);
      }
    },
    async close() {
      await transport.close();
      await Promise.all(Object.values(made).map((provider) => provider.close()));
    },
  };
}

function noCredential({ platform }: Message, provider: ProviderName): Outcome {
  const by = provider === providersOf[platform][0] ? '' : ` by ${provider}`;
  return { kind: 'stopped', code: 'NO_CREDENTIAL', detail: `this workspace has no credential for ${platform}${by}` };
}

type ChangePlan = (plan: Plan) => Plan;

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
  const { measure } = descriptors[providersOf[message.platform][0]];
  if (!measure) throw new Error(`the usual provider of ${message.platform} measures no messages`);
  const { bytes, most, maxEverywhere = most } = measure(message);
  return { bytes, most, maxEverywhere };
}

/** Push services of browsers have separate addresses, and each of their messages is encrypted, so messages share no lane. */
function isRouted<C>(provider: DeliveryProvider<C>): provider is RoutedProvider<C> {
  return 'access' in provider;
}
