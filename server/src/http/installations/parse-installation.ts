import { Type } from 'typebox';
import type { RegisterCommand } from '../../app/installations/installations.ts';
import type { SentIdentity } from '../../app/installations/verify-identity.ts';
import { isInstallationId, isInstallationSecret } from '../../domain/access/installations.ts';
import { isAppId } from '../../domain/apps.ts';
import { platforms } from '../../domain/content/content.ts';
import { canonicalTag } from '../../domain/content/locales.ts';
import { providerNames, pushIdTypes } from '../../domain/delivery/providers.ts';
import { maxIdentityTokenCharacters } from '../../domain/limits/installations.ts';
import { maxDeviceTextCharacters } from '../../domain/limits/users.ts';
import { findTimeZone } from '../../domain/timing/local-time.ts';
import { parseDeviceAttributes } from '../../domain/users/device-attributes.ts';
import type { Registration } from '../../domain/users/registrations.ts';
import { customerIdFault, textFault } from '../../domain/users/user-attributes.ts';
import {
  anything,
  checked,
  enumeration,
  flag,
  part,
  required,
  text,
  withDescription,
} from '../../fields/combinators.ts';
import { reading, schemaOf } from '../../fields/field.ts';
import type { RequestReader } from '../../fields/request-reader.ts';
import { named } from '../openapi/shapes.ts';
import { makeOwnReader, refuseOwnFaults } from '../route/own-dialect.ts';
import type { Body } from '../route/route.ts';

const isStorable = (value: string): boolean => textFault(value) === undefined;
const deviceText = (description: string) =>
  checked(text({ max: maxDeviceTextCharacters, description }), {
    is: isStorable,
    reason: 'must be a text that can be stored',
  });

/** What an app says about the device, and may change at any time. */
const changeable = {
  opted_in: flag('False: the user wants no messages on this device. Absent: true at the first registration'),
  locale: checked(text({ description: 'BCP 47: the language of the device' }), {
    is: (tag) => canonicalTag(tag) !== undefined,
    reason: 'must be a language tag',
  }),
  time_zone: checked(text({ description: 'IANA name such as Europe/Berlin; stored as the attribute app:time_zone' }), {
    is: (zone) => findTimeZone(zone) !== undefined,
    reason: 'must be the name of a time zone',
  }),
  app_version: deviceText('Version of the app'),
  os_version: deviceText('Version of the system or browser'),
  model: deviceText('Model of the device, or name of the browser'),
};

export const installationId = required(
  checked(text({ description: 'Made by the app: 16 to 64 letters, digits, - and _, of at least 96 random bits' }), {
    is: isInstallationId,
    reason: 'must be 16 to 64 letters, digits, - and _',
  }),
);

const previous = part(
  {
    installation_id: installationId,
    secret: required(
      checked(text({ description: 'Its secret: 256 bits in base64url' }), {
        is: isInstallationSecret,
        reason: 'must be 256 bits in base64url',
      }),
    ),
  },
  { description: 'The earlier installation of a reinstalled app: its push token moves to this one' },
);

const registrationMembers = {
  installation_id: installationId,
  platform: required(enumeration(platforms, 'ANDROID, IOS or WEB')),
  push_token: withDescription(
    anything,
    'The token of the push service, or the PushSubscription of a browser. Absent: the device cannot receive pushes',
  ),
  push_provider: enumeration(providerNames, 'Whose token it is. Absent: FCM, APNs or the push service of the browser'),
  push_token_type: enumeration(pushIdTypes, 'For FCM: token, or fid for an installation id. Absent: token'),
  app_id: checked(text({ description: 'An app of the workspace. Absent: the default app' }), {
    is: isAppId,
    reason: 'must be the id of an app',
  }),
  provisional: flag('iOS: the user has only allowed quiet delivery'),
  ...changeable,
  previous,
  push_token_challenge: checked(
    text({ description: 'The code of the silent push that this app received through the push token' }),
    { is: isInstallationSecret, reason: 'must be 256 bits in base64url' },
  ),
};

export const registrationBody = schemaOf(registrationMembers, { title: 'InstallationRequest' });
export const changesBody = schemaOf(changeable, { title: 'InstallationChanges' });

/** @throws ServiceError PARAMETER_INVALID */
export function parseRegistration(body: Body): Pick<RegisterCommand, 'id' | 'registration' | 'challengeCode'> & {
  previous: { id: string; secret: string } | undefined;
} {
  const reader = makeOwnReader(body);
  const read = reading(reader, registrationMembers);
  const id = read('installation_id');
  const platform = read('platform');
  const common = {
    appId: read('app_id') ?? null,
    isProvisional: read('provisional') ?? false,
    isOptedOut: read('opted_in') === false,
    locale: localeOf(read('locale')) ?? null,
    timeZone: read('time_zone') ?? null,
    appVersion: read('app_version') ?? null,
    osVersion: read('os_version') ?? null,
    model: read('model') ?? null,
  };
  const sent = { provider: read('push_provider'), type: read('push_token_type') };
  const earlier = read('previous');
  const challengeCode = read('push_token_challenge');
  refuseOwnFaults(reader);
  const address = readAddress(reader, { platform: platform!, ...sent });
  refuseOwnFaults(reader);
  return {
    id: id!,
    registration: { platform: platform!, ...common, ...address },
    challengeCode,
    previous: earlier && { id: earlier.installation_id!, secret: earlier.secret! },
  };
}

type Address = Pick<Registration, 'pushId' | 'provider' | 'pushIdType'>;

/** Reads a push token with the rules of the data API. */
function readAddress(
  reader: RequestReader,
  { platform, provider, type }: { platform: string; provider: string | undefined; type: string | undefined },
): Address {
  const none = { pushId: null, provider: null, pushIdType: null };
  const token = reader.get('push_token');
  if (token === undefined || token === null) return none;
  const parsed = parseDeviceAttributes(
    {
      platform,
      push_id: token,
      ...(provider === undefined ? {} : { push_provider: provider }),
      ...(type === undefined ? {} : { push_id_type: type }),
    },
    [],
  );
  if ('device' in parsed) {
    const { pushId, provider: read, pushIdType } = parsed.device;
    return { pushId, provider: read, pushIdType };
  }
  if ('missing' in parsed) reader.missing('push_token');
  else reader.invalid(addressNames[parsed.fault.attribute] ?? 'push_token', parsed.fault.reason);
  return none;
}

const addressNames: Record<string, string> = { push_provider: 'push_provider', push_id_type: 'push_token_type' };

/** @throws ServiceError PARAMETER_INVALID */
export function parseChanges(body: Body): Partial<Registration> {
  const reader = makeOwnReader(body);
  const read = reading(reader, changeable);
  const optedIn = read('opted_in');
  const sent = {
    isOptedOut: optedIn === undefined ? undefined : !optedIn,
    locale: localeOf(read('locale')),
    timeZone: read('time_zone'),
    appVersion: read('app_version'),
    osVersion: read('os_version'),
    model: read('model'),
  };
  refuseOwnFaults(reader);
  return Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined));
}

function localeOf(tag: string | undefined): string | undefined {
  return tag === undefined ? undefined : canonicalTag(tag);
}

const identityMembers = {
  identity_token: text({
    max: maxIdentityTokenCharacters,
    description: 'JWT of your server: kid, sub, aud (the workspace id), exp at most 24 hours ahead',
  }),
  user_id: checked(
    text({
      max: 512,
      description: 'The customer id. With a token, it must be its sub; only a sandbox accepts it alone',
    }),
    { is: (id) => customerIdFault(id) === undefined, reason: 'must be a customer id' },
  ),
};

export const identityBody = schemaOf(identityMembers, { title: 'IdentityRequest' });

/** @throws ServiceError PARAMETER_INVALID */
export function parseIdentity(body: Body): SentIdentity {
  const reader = makeOwnReader(body);
  const read = reading(reader, identityMembers);
  const identity = { token: read('identity_token'), customerId: read('user_id') };
  refuseOwnFaults(reader);
  return identity;
}

export const installationAnswer = named(
  'Installation',
  Type.Object({
    installation_id: Type.String({ description: 'As the app sent it' }),
    signed_in: Type.Boolean({ description: 'True: a proved user is attached. False: the installation is anonymous' }),
    opted_in: Type.Boolean({ description: 'False: the user wants no messages on this device' }),
    can_receive: Type.Boolean({ description: 'True: a push token is stored' }),
    web_push_public_key: Type.Optional(
      Type.String({ description: 'WEB only: the VAPID public key with which the browser subscribes' }),
    ),
  }),
);
