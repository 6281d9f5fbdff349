import { Type } from 'typebox';
import type { Platform } from '../../domain/content/content.ts';
import { providerNames, providers, providersOf } from '../../domain/delivery/providers.ts';
import { maxOffsetSeconds, maxBlockReasonCharacters } from '../../domain/limits/users.ts';
import { nameOfPlatform } from '../../domain/users/device-attributes.ts';
import { codeShape, named } from '../openapi/shapes.ts';
import { dataErrors } from './answers.ts';

/**
 * Bodies of the data family (fact 5). They document the fields and identify unknown ones; parse-data.ts implements the
 * rules.
 */
const Platform = Type.Object({
  platform: Type.String(),
  active: Type.Optional(Type.Unsafe<unknown>({ description: 'Not read: devices say it' })),
});

export const customerBody = named(
  'CustomerRequest',
  Type.Object({
    type: Type.Literal('customer'),
    customer_id: Type.String(),
    attributes: Type.Optional(Type.Record(Type.String(), Type.Any())),
    platforms: Type.Optional(Type.Array(Platform)),
    update_existing_only: Type.Optional(Type.Boolean()),
  }),
);

const providersByPlatform = (Object.keys(providersOf) as Platform[])
  .map((platform) => `${providersOf[platform].join(' or ')} on ${nameOfPlatform(platform)}`)
  .join(', ');

/** @param prefixes spellings of the vendor's abbreviation, lower-case */
export function deviceBody(prefixes: readonly string[]) {
  const vendor = Object.fromEntries(
    prefixes.flatMap((prefix) => [
      [`${prefix}_push_opted`, Type.Optional(Type.Union([Type.String(), Type.Boolean()]))],
      [`${prefix}_push_provisional_opted`, Type.Optional(Type.Union([Type.String(), Type.Boolean()]))],
      [`${prefix}_gaid`, Type.Optional(Type.String())],
    ]),
  );
  return named(
    'DeviceRequest',
    Type.Object({
      type: Type.Literal('device'),
      customer_id: Type.String(),
      device_id: Type.String(),
      attributes: Type.Object({
        platform: Type.String({ description: 'ANDROID, iOS or web' }),
        push_id: Type.Any({
          description: `${providerNames.map((name) => providers[name].names.ofAddress).join(', ')}; a PushSubscription as JSON text or object`,
        }),
        push_provider: Type.Optional(
          Type.String({
            description: `Whose token push_id is: ${providersByPlatform}; absent: the first`,
          }),
        ),
        push_id_type: Type.Optional(
          Type.String({ description: 'What push_id is at Firebase: token, or fid, an installation id; absent: token' }),
        ),
        app_id: Type.Optional(
          Type.String({ description: 'Which app of the workspace; absent: the one it has, or the default app' }),
        ),
        model: Type.Optional(Type.String()),
        app_version: Type.Optional(Type.String()),
        os_version: Type.Optional(Type.String()),
        idfv: Type.Optional(Type.String()),
        locale: Type.Optional(Type.String({ description: 'BCP 47: in which of `payload.locales` it gets messages' })),
        badge_count: Type.Optional(
          Type.Integer({ minimum: 0, maximum: 99_999, description: 'The number on the icon of the app' }),
        ),
        advertising_identifier: Type.Optional(Type.String()),
        ...vendor,
      }),
    }),
  );
}

const Time = (description: string) => Type.Optional(Type.Union([Type.String(), Type.Number()], { description }));

export const eventBody = named(
  'EventRequest',
  Type.Object({
    type: Type.Literal('event'),
    customer_id: Type.String(),
    device_id: Type.Optional(Type.String()),
    actions: Type.Array(
      Type.Object({
        action: Type.String({ description: 'Name of the event' }),
        attributes: Type.Optional(Type.Record(Type.String(), Type.Any())),
        platform: Type.Optional(Type.String({ description: 'ANDROID, iOS, web, TV or unknown' })),
        app_version: Type.Optional(Type.String()),
        user_time: Time('When it happened: ISO 8601 (UTC unless it names an offset) or seconds since 1970'),
        current_time: Time('The clock of the sender; taken when user_time is absent'),
        user_timezone_offset: Type.Optional(
          Type.Integer({ minimum: -maxOffsetSeconds, maximum: maxOffsetSeconds, description: 'Seconds' }),
        ),
      }),
      { minItems: 1 },
    ),
  }),
);

/** @param prefixes spellings of the vendor's abbreviation, lower-case */
export function transitionBody(prefixes: readonly string[]) {
  return named(
    'TransitionRequest',
    Type.Object({
      type: Type.Literal('transition'),
      elements: Type.Array(Type.Union([customerBody, eventBody, deviceBody(prefixes)])),
    }),
  );
}

/** The kind of a user's identifier: `customer_id`, `id`, or the vendor's spelling of the latter. */
const IdentityType = Type.String({ description: 'customer_id or id' });

export const blockBody = named(
  'DeviceBlockRequest',
  Type.Object({
    user_identifier_type: IdentityType,
    user_identifier_value: Type.String(),
    action_type: Type.Union([Type.Literal('block'), Type.Literal('unblock')]),
    device_identifiers: Type.Optional(
      Type.Array(Type.Record(Type.String(), Type.String()), {
        description: 'Absent: all devices. {"push_id": "…"}, or svc_gaid, unique_id, device_unique_id',
      }),
    ),
    reason: Type.Optional(Type.String({ maxLength: maxBlockReasonCharacters })),
    client_reference_id: Type.Optional(Type.String({ maxLength: maxBlockReasonCharacters })),
  }),
);

export const exportBody = named(
  'ExportRequest',
  Type.Object({
    type: Type.Optional(Type.Literal('export_users')),
    data: Type.Object({
      identifiers: Type.Array(Type.Object({ identifier_type: IdentityType, identifier: Type.String() }), {
        minItems: 1,
        maxItems: 20,
      }),
      user_fields_to_export: Type.Optional(Type.Array(Type.String())),
    }),
  }),
);

export const exportAnswer = named(
  'ExportAnswer',
  Type.Object({
    status: Type.String(),
    type: Type.String(),
    data: Type.Object({
      users_not_found: Type.Array(Type.Object({ identifier_type: Type.String(), identifier: Type.String() })),
      users: Type.Array(Type.Object({ user_attributes: Type.Record(Type.String(), Type.Any()) })),
    }),
  }),
);

export const mergeBody = named(
  'MergeRequest',
  Type.Object({
    merge_data: Type.Array(
      Type.Object({
        merged_user: Type.String({ description: 'Customer id of the user who ends' }),
        retained_user: Type.String({ description: 'Customer id of the user who gets everything' }),
      }),
      { minItems: 1, maxItems: 50 },
    ),
  }),
);

export const mergeAnswer = named('MergeAnswer', Type.Object({ status: Type.String(), operation: Type.String() }));

export const deleteBody = named(
  'DeleteRequest',
  Type.Object({ identity_type: IdentityType, identity_value: Type.String() }),
);

export const authenticationBody = named(
  'ConnectionTestRequest',
  Type.Object({
    app_id: Type.String(),
    app_secret: Type.String(),
    source: Type.Optional(Type.String({ description: 'Who asks; kept in the API log' })),
    region: Type.Optional(Type.String({ description: "The workspace's data center, such as 01 or dc_01" })),
  }),
);

export const authenticationAnswer = named(
  'ConnectionTestAnswer',
  Type.Object({ status: Type.String(), app_name: Type.String() }),
);

export const dataAnswer = named(
  'DataAccepted',
  Type.Object({
    status: Type.Literal('success'),
    message: Type.String(),
    request_id: Type.String({ description: 'Finds this call in the API log' }),
  }),
);
export const dataError = named(
  'DataError',
  Type.Object({
    status: Type.Literal('fail'),
    error: Type.Object({
      attribute: Type.Optional(Type.String()),
      message: Type.String(),
      type: codeShape(
        Object.values(dataErrors).map(({ type }) => type),
        'What kind of refusal it is',
      ),
      request_id: Type.String(),
    }),
  }),
);
