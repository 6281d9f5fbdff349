import type { Platform } from '../server/src/domain/content/content.ts';
import { providerNames, providers, providersOf } from '../server/src/domain/delivery/providers.ts';
import { nameOfPlatform } from '../server/src/domain/users/device-attributes.ts';
import type { KeyField, TextField } from '../server/src/domain/providers/key-fields.ts';

const formTypes = `
/** A field of a provider key. */
export type KeyField = {
  name: string;
  /** The object of the request that contains it together with other fields: all of them are sent, or none. */
  within?: string;
  kind: 'text' | 'secret' | 'file' | 'choice';
  label: string;
  hint: string;
  isOptional?: true;
  isWide?: true;
  /** File names that the form offers. */
  accept?: string;
  /** Values with their labels. */
  choices?: Readonly<Record<string, string>>;
};

export type ProviderForm = {
  fields: readonly KeyField[];
  /** Labels of the public properties of a credential. */
  summaryNames: Readonly<Record<string, string>>;
  /** Devices are registered with the public property of this name. \`{name}\` in the hint is a public property. */
  subscribedWith?: { name: string; label: string; hint: string; warning: string };
};
`;

/** Returns the modules of the console with the names of the providers and the forms for their keys, by file. */
export function renderConsoleProviders(heading: string): Record<string, string> {
  const names = providerNames.map((name) => {
    const { platforms, names: given, counter } = providers[name];
    return [name, { platform: platforms[0], short: given.short, inLists: given.inLists, counter }];
  });
  const forms = providerNames.map((name) => {
    const { key, summaryNames } = providers[name];
    const { option: _option, ...subscribedWith } = key.subscribedWith ?? { option: undefined };
    return [name, { fields: fieldsOf(key.fields), summaryNames, ...(key.subscribedWith ? { subscribedWith } : {}) }];
  });
  const kinds = (Object.keys(providersOf) as Platform[]).flatMap((platform) =>
    providersOf[platform].map((provider, place) => ({
      ...{ platform, registeredAs: nameOfPlatform(platform) },
      ...(place === 0 ? {} : { provider }),
      address: providers[provider].names.ofAddress,
    })),
  );
  return {
    'providers.ts': `${heading}/** The providers, by name. */
export const providers = ${JSON.stringify(Object.fromEntries(names))} as const;

type DeviceKind = { platform: 'ANDROID' | 'IOS' | 'WEB'; registeredAs: string; provider?: string; address: string };

/** The kinds of devices that can be registered. A kind without a provider uses the default provider of its platform. */
export const deviceKinds: readonly DeviceKind[] = ${JSON.stringify(kinds)};\n`,
    'provider-forms.ts': `${heading}import type { ProviderName } from './overview.ts';\n${formTypes}
/** The members of a provider key that the owner of the account enters. */
export const providerForms: Readonly<Record<ProviderName, ProviderForm>> = ${JSON.stringify(Object.fromEntries(forms))};\n`,
  };
}

function fieldsOf(fields: Readonly<Record<string, KeyField>>): object[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    if (field.kind !== 'pair') return [shown({ name }, field)];
    // The group is optional, so each of its members is.
    return Object.entries(field.fields).map(([inner, one]) => shown({ name: inner, within: name }, one));
  });
}

function shown(place: { name: string; within?: string }, field: Exclude<KeyField, { kind: 'pair' }>): object {
  const { option: _option, ...told } = field as TextField;
  return { ...place, ...told, ...(place.within === undefined ? {} : { isOptional: true }) };
}
