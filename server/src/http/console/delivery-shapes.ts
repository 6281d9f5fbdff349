import { Type } from 'typebox';
import { Platform } from './platform-shapes.ts';
import { described, orNull } from './shape-parts.ts';

export const DeliveryKey = described(
  Type.Object({
    day: Type.String(),
    bucket: Type.Number(),
    userId: Type.String(),
    runId: Type.String(),
    deviceRowId: Type.String(),
  }),
  'Names a row of the ledger.',
);

export const LoggedDelivery = Type.Object({
  ...DeliveryKey.properties,
  platform: Platform,
  outcome: Type.String(),
  code: orNull(Type.String()),
  providerMessageId: orNull(Type.String()),
  attempts: Type.Number(),
  at: Type.String(),
  retryAt: described(orNull(Type.String()), 'Of one that waits.'),
  campaignId: Type.String(),
  campaignName: Type.String(),
  customerId: described(orNull(Type.String()), 'Null: the person, the device is there no more.'),
  deviceId: orNull(Type.String()),
});

export const DeliveryPage = Type.Object({
  deliveries: Type.Array(LoggedDelivery),
  next: orNull(Type.String()),
  keptSince: described(orNull(Type.String()), 'The oldest day that the ledger has, YYYY-MM-DD.'),
});

export const ReportedDevice = Type.Object({
  deviceRowId: Type.String(),
  runId: Type.String(),
  platform: Platform,
  action: described(orNull(Type.String()), 'The button of a click; null: the message itself.'),
  times: Type.Number({ description: 'How often it was reported.' }),
  at: described(Type.String(), 'When it was reported first.'),
  deviceId: described(orNull(Type.String()), 'Null: removed since, as is its user.'),
  userId: orNull(Type.String()),
  customerId: orNull(Type.String()),
});

export const ReportedDevicePage = Type.Object({
  devices: Type.Array(ReportedDevice),
  next: described(orNull(Type.String()), 'The `after` of the next page.'),
});

export const DeliveryDetail = Type.Object({
  ...LoggedDelivery.properties,
  pushId: orNull(Type.String()),
  runStatus: Type.String(),
  sendUntil: Type.String({ description: 'Attempts end then.' }),
  content: described(
    orNull(Type.Record(Type.String(), Type.Unknown())),
    'What the campaign says to this platform, before it is made personal.',
  ),
  settings: Type.Record(Type.String(), Type.Unknown()),
  advice: Type.Optional(Type.String()),
});
