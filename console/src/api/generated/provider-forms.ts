// Generated from server/src/domain/providers by `npm run console:types`; edits are lost.

import type { ProviderName } from './overview.ts';

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
  /** Devices are registered with the public property of this name. `{name}` in the hint is a public property. */
  subscribedWith?: { name: string; label: string; hint: string; warning: string };
};

/** The members of a provider key that the owner of the account enters. */
export const providerForms: Readonly<Record<ProviderName, ProviderForm>> = {
  fcm: {
    fields: [
      {
        name: 'keyFile',
        kind: 'file',
        label: 'Key file of the service account',
        hint: 'Firebase console: Project settings, Service accounts, Generate new private key. Paste the JSON or choose the file.',
        accept: '.json,application/json',
      },
    ],
    summaryNames: { projectId: 'Project', clientEmail: 'Service account' },
  },
  apns: {
    fields: [
      {
        name: 'privateKey',
        kind: 'file',
        label: 'Key (.p8)',
        hint: 'Apple developer account: Keys, with Apple Push Notifications service. Paste the file or choose it.',
        accept: '.p8,.pem',
      },
      { name: 'keyId', kind: 'text', label: 'Key id', hint: 'Ten letters and digits' },
      { name: 'teamId', kind: 'text', label: 'Team id', hint: 'Ten letters and digits' },
      { name: 'topic', kind: 'text', label: 'Bundle id', hint: 'For example com.example.shop' },
      {
        name: 'environment',
        kind: 'choice',
        label: 'Environment',
        hint: 'Builds from Xcode use the sandbox',
        choices: { production: 'Production', sandbox: 'Sandbox' },
      },
    ],
    summaryNames: { teamId: 'Team id', keyId: 'Key id', topic: 'Bundle id', environment: 'Environment' },
  },
  webpush: {
    fields: [
      {
        name: 'subject',
        kind: 'text',
        label: 'Contact',
        hint: 'Where push services report problems: mailto:push@your-company.com or an https address, on the internet. Without keys below, another contact leaves the keys in use as they are',
        isWide: true,
      },
      {
        name: 'publicKey',
        within: 'keys',
        kind: 'text',
        label: 'Public key',
        hint: '65 bytes in base64url; leave empty for a new pair',
        isOptional: true,
      },
      {
        name: 'privateKey',
        within: 'keys',
        kind: 'secret',
        label: 'Private key',
        hint: '32 bytes in base64url; leave empty for a new pair',
        isOptional: true,
      },
    ],
    summaryNames: { publicKey: 'Public key', subject: 'Contact' },
    subscribedWith: {
      name: 'publicKey',
      label: 'Key that is replaced',
      hint: 'Browsers subscribed with it receive nothing more. To replace {publicKey}, type its first eight characters; leave empty where the key stays',
      warning: 'With another public key, subscribed browsers receive nothing until they subscribe again.',
    },
  },
  hms: {
    fields: [
      {
        name: 'clientId',
        kind: 'text',
        label: 'Client id',
        hint: 'AppGallery Connect: Project settings, General information',
      },
      { name: 'clientSecret', kind: 'secret', label: 'Client secret', hint: 'On the same page' },
      {
        name: 'projectId',
        kind: 'text',
        isOptional: true,
        label: 'Project id',
        hint: 'Messages are sent for the project',
      },
      {
        name: 'huaweiAppId',
        kind: 'text',
        isOptional: true,
        label: 'App id',
        hint: 'Or, without a project id, for this app alone',
      },
    ],
    summaryNames: { clientId: 'Client id', projectId: 'Project', huaweiAppId: 'App id' },
  },
  adm: {
    fields: [
      {
        name: 'clientId',
        kind: 'text',
        label: 'Client id',
        hint: 'Amazon developer console: the security profile of the app, Web Settings',
      },
      { name: 'clientSecret', kind: 'secret', label: 'Client secret', hint: 'On the same page' },
    ],
    summaryNames: { clientId: 'Client id' },
  },
};
