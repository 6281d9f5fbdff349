import type { ProviderCredential, ProviderName } from '../domain/delivery/providers.ts';
import { admDescriptor } from './adm/descriptor.ts';
import { apnsDescriptor } from './apns/descriptor.ts';
import type { ProviderDescriptor } from './descriptor.ts';
import { fcmDescriptor } from './fcm/descriptor.ts';
import { hmsDescriptor } from './hms/descriptor.ts';
import { webPushDescriptor } from './webpush/descriptor.ts';

/** The providers that can send. Their facts are listed in `domain/delivery/providers.ts`. */
const registry = {
  fcm: fcmDescriptor,
  apns: apnsDescriptor,
  webpush: webPushDescriptor,
  hms: hmsDescriptor,
  adm: admDescriptor,
};

export const descriptors: Readonly<Record<ProviderName, ProviderDescriptor<ProviderCredential>>> = registry;

type Registry = typeof registry;
type WithEndpoints = {
  [Name in ProviderName]: Registry[Name]['endpoints'] extends undefined ? never : Name;
}[ProviderName];

/** Addresses of the providers. */
export type DeliveryEndpoints = { [Name in WithEndpoints]: Registry[Name]['endpoints'] } & {
  simulators?: SimulatorEndpoints;
};

/** Loopback origins of the sandbox's simulators. */
export type SimulatorEndpoints = { [Name in ProviderName]: ReturnType<Registry[Name]['simulatorEndpoints']> };

/** What the simulated providers know about a workspace, without secrets. */
export type SimulatorAccount = { workspaceId: string } & {
  [Name in ProviderName]?: ReturnType<Registry[Name]['simulatedAccount']>;
};

export const realProviderEndpoints = mapProviders(({ endpoints }) => endpoints) as DeliveryEndpoints;

/** Returns the endpoints of the simulators at these loopback origins. */
export function simulatorEndpointsAt(origins: Readonly<Record<ProviderName, string>>): SimulatorEndpoints {
  return mapProviders((descriptor, name) => descriptor.simulatorEndpoints(origins[name])) as SimulatorEndpoints;
}

/** Returns an object with one value for each provider; undefined values are left out. */
export function mapProviders<Value>(
  valueOf: (descriptor: ProviderDescriptor<ProviderCredential>, name: ProviderName) => Value,
): Record<ProviderName, Value> {
  const values = (Object.keys(registry) as ProviderName[]).map((name) => [name, valueOf(descriptors[name], name)]);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined)) as Record<ProviderName, Value>;
}
