import type { Platform } from '../content/content.ts';
import { adm } from '../providers/adm.ts';
import { apns } from '../providers/apns.ts';
import { fcm } from '../providers/fcm.ts';
import { hms } from '../providers/hms.ts';
import type { KeyOf } from '../providers/key-fields.ts';
import type { ProviderFacts, Summary } from '../providers/provider-facts.ts';
import { webpush } from '../providers/webpush.ts';

/** The services that carry messages to devices. A provider is added here, and in `providers/registry.ts`. */
const registry = {
  fcm,
  apns,
  webpush,
  hms,
  adm,
} as const;

type Registry = typeof registry;
export type ProviderName = keyof Registry;

export const providerNames = Object.keys(registry) as ProviderName[];

/** A credential of one provider, as it is stored, encrypted, one per workspace, provider and app. */
export type CredentialOf<Name extends ProviderName> = ReturnType<Registry[Name]['key']['parse']>;
export type ProviderCredential = { [Name in ProviderName]: CredentialOf<Name> }[ProviderName];
export type ProviderCredentials = { [Name in ProviderName]?: CredentialOf<Name> };

/** A key as its owner gives it. */
export type GivenKey = {
  [Name in ProviderName]: { provider: Name } & KeyOf<Registry[Name]['key']['fields']>;
}[ProviderName];

/** The names of a provider's magic outcomes and field answers. */
export type MagicNames = { [Name in ProviderName]: keyof Registry[Name]['sandbox']['magic'] & string };
export type FieldAnswerNames = { [Name in ProviderName]: keyof Registry[Name]['sandbox']['fieldAnswers'] & string };
export type CounterName = Registry[ProviderName]['counter'];

export const providers: Readonly<Record<ProviderName, ProviderFacts<ProviderCredential>>> = registry;

/** Returns the short names of the providers as a sentence lists them: "FCM, APNs, Web Push or Huawei Push Kit". */
export function nameProviders(names: readonly ProviderName[] = providerNames): string {
  const shown = names.map((name) => providers[name].names.short);
  return shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} or ${shown.at(-1)}`;
}

/** Returns the same value for each provider. */
export function forAllProviders<Value>(value: Value): Record<ProviderName, Value> {
  return Object.fromEntries(providerNames.map((name) => [name, value])) as Record<ProviderName, Value>;
}

/** Returns the same value for each counter of the sandbox. */
export function forAllCounters<Value>(value: Value): Record<CounterName, Value> {
  return Object.fromEntries(providerNames.map((name) => [providers[name].counter, value])) as Record<
    CounterName,
    Value
  >;
}

/** The providers that can reach devices of a platform. The first is used if a device names none. */
export const providersOf: Record<Platform, readonly [usual: ProviderName, ...others: ProviderName[]]> = {
  ANDROID: findProviders('ANDROID'),
  IOS: findProviders('IOS'),
  WEB: findProviders('WEB'),
};

function findProviders(platform: Platform): [usual: ProviderName, ...others: ProviderName[]] {
  const [usual, ...more] = providerNames.filter((name) => providers[name].usualOn.includes(platform));
  if (usual === undefined || more.length > 0) throw new Error(`${platform} must have one usual provider`);
  const able = providerNames.filter((name) => name !== usual && providers[name].platforms.includes(platform));
  return [usual, ...able];
}

/** The types of address at Firebase: a registration token of an app, or the id of its installation (FID). */
export const pushIdTypes = ['token', 'fid'] as const;

/** How a device is reached: its platform and the provider it names, or the usual provider if it names none. */
export type Reachable = {
  platform: Platform;
  provider?: ProviderName | null | undefined;
  /** Null: a token, as on all devices except some of Firebase. */
  pushIdType?: 'fid' | null | undefined;
};

export function providerOf({ platform, provider }: Reachable): ProviderName {
  return provider ?? providersOf[platform][0];
}

/**
 * Returns the key of the account that a provider counts and limits, such as `fcm:<project>` or `apns:<team>`. For subscriptions
 * it is what the keys of all push services begin with.
 */
export function accountKeyOf(provider: ProviderName, summary: Summary): string {
  return `${provider}:${providers[provider].accountId(summary)}`;
}

/** True if the device's address is a subscription, which names its push service. */
export function hasSubscription(device: Reachable): boolean {
  return providers[providerOf(device)].address === 'subscription';
}

/**
 * Returns the provider that a code comes from. The ledger knows the platform of a delivery but not its provider. If the code
 * does not identify the provider, it is the platform's usual one.
 */
export function providerOfCode({ platform, code }: { platform: Platform; code: string }): ProviderName {
  const [usual, ...others] = providersOf[platform];
  return others.find((name) => providers[name].codes?.pattern.test(code)) ?? usual;
}
