import { Type } from 'typebox';

/** Bodies of the data family (facts 5). They document the fields and tell unknown ones; parse-data.ts holds the rules. */
const Platform = Type.Object({
  platform: Type.String(),
  active: Type.Optional(Type.Union([Type.String(), Type.Boolean()])),
});

export const customerBody = Type.Object({
  type: Type.Literal('customer'),
  customer_id: Type.String(),
  attributes: Type.Optional(Type.Record(Type.String(), Type.Any())),
  platforms: Type.Optional(Type.Array(Platform)),
  update_existing_only: Type.Optional(Type.Boolean()),
});

/** @param prefixes spellings of the vendor's abbreviation, lower-case */
export function deviceBody(prefixes: readonly string[]) {
  const vendor = Object.fromEntries(
    prefixes.flatMap((prefix) => [
      [`${prefix}_push_opted`, Type.Optional(Type.Union([Type.String(), Type.Boolean()]))],
      [`${prefix}_push_provisional_opted`, Type.Optional(Type.Union([Type.String(), Type.Boolean()]))],
      [`${prefix}_gaid`, Type.Optional(Type.String())],
    ]),
  );
  return Type.Object({
    type: Type.Literal('device'),
    customer_id: Type.String(),
    device_id: Type.String(),
    attributes: Type.Object({
      platform: Type.String({ description: 'ANDROID, iOS or web' }),
      push_id: Type.Any({
        description: 'FCM or APNs token, or the PushSubscription of a browser (JSON text or object)',
      }),
      model: Type.Optional(Type.String()),
      app_version: Type.Optional(Type.String()),
      os_version: Type.Optional(Type.String()),
      idfv: Type.Optional(Type.String()),
      advertising_identifier: Type.Optional(Type.String()),
      ...vendor,
    }),
  });
}

export const dataAnswer = Type.Object({ status: Type.String(), message: Type.String(), request_id: Type.String() });
export const dataError = Type.Object({
  status: Type.String(),
  error: Type.Object({
    attribute: Type.Optional(Type.String()),
    message: Type.String(),
    type: Type.String(),
    request_id: Type.String(),
  }),
});
