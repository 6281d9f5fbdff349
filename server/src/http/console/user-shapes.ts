import { Type } from 'typebox';
import { ProviderName } from './overview-shapes.ts';
import { Platform } from './platform-shapes.ts';
import { described, oneOf, orNull } from './shape-parts.ts';

export const FoundUser = Type.Object({
  id: Type.String(),
  customerId: Type.String(),
  updatedAt: Type.String(),
  devices: Type.Number(),
  foundBy: described(oneOf(['USER_ID', 'CARILLON_ID', 'DEVICE_TOKEN', 'ATTRIBUTE']), 'What the word turned out to be.'),
  attribute: described(orNull(Type.String()), 'The name of the attribute that has the value.'),
});

export const DeviceSuspicion = described(
  Type.Object({
    code: Type.String({ description: "The provider's word in the last send." }),
    sends: Type.Number({ description: 'In how many sends it gave such an answer.' }),
    leavesAfterSends: Type.Number(),
    leavesAfterHours: Type.Number({ description: 'Between the first and the last of them, at least.' }),
    since: Type.String(),
    lastAt: Type.String(),
    hasLeft: Type.Boolean({ description: 'It left the audience because of it.' }),
  }),
  'Answers that usually mean a dead address.',
);

const DeviceState = oneOf(['ACTIVE', 'OPTED_OUT', 'BLOCKED', 'GONE']);

export const SuspectedDevice = Type.Object({
  id: Type.String(),
  userId: Type.String(),
  customerId: Type.String(),
  deviceId: Type.String({ description: "The app's name of it." }),
  platform: Platform,
  provider: described(orNull(ProviderName), 'Null: the usual one of the platform.'),
  state: DeviceState,
  suspicion: DeviceSuspicion,
});

export const SuspectedDevicePage = Type.Object({
  devices: described(Type.Array(SuspectedDevice), 'The latest strike first, at most 50.'),
  next: described(orNull(Type.String()), 'The `after` of the next page.'),
});

export const UserDevice = Type.Object({
  id: Type.String(),
  deviceId: Type.String({ description: "The app's name of it." }),
  platform: Platform,
  provider: described(orNull(ProviderName), 'Null: the usual one of the platform.'),
  pushId: Type.String(),
  pushIdType: described(
    orNull(Type.Literal('fid')),
    "The id of a Firebase installation; null: the provider's own address.",
  ),
  state: DeviceState,
  isProvisional: Type.Boolean(),
  model: orNull(Type.String()),
  appVersion: orNull(Type.String()),
  osVersion: orNull(Type.String()),
  registeredAt: Type.String(),
  goneAt: orNull(Type.String()),
  goneReason: described(orNull(Type.String()), "The provider's word."),
  blockedAt: orNull(Type.String()),
  blockReason: orNull(Type.String()),
  suspicion: orNull(DeviceSuspicion),
});

export const UserMessage = Type.Object({
  runId: Type.String(),
  campaignId: Type.String(),
  campaignName: Type.String(),
  deviceId: described(orNull(Type.String()), 'Null: it is there no more.'),
  platform: Platform,
  outcome: Type.String(),
  code: orNull(Type.String()),
  attempts: Type.Number(),
  at: Type.String(),
});

export const Erasure = Type.Object({ id: Type.String(), requestedAt: Type.String(), dueAt: Type.String() });

export const User = Type.Object({
  id: Type.String(),
  customerId: Type.String(),
  mergedCustomerIds: described(Type.Array(Type.String()), 'Customer ids that mean this person since they were merged.'),
  attributes: Type.Record(Type.String(), Type.Unknown()),
  isTest: Type.Boolean({ description: 'Marked for tests of campaigns.' }),
  createdAt: Type.String(),
  updatedAt: Type.String(),
  devices: Type.Array(UserDevice),
  segments: described(
    Type.Array(Type.Object({ id: Type.String(), name: Type.String(), kind: oneOf(['FILE', 'COHORT']) })),
    'Of files and of partners; those of filters are worked out when a campaign starts.',
  ),
  messages: described(Type.Array(UserMessage), 'Newest first, at most 50.'),
  erasure: described(orNull(Erasure), 'The person is to be erased.'),
});

export const TestUser = Type.Omit(FoundUser, ['foundBy', 'attribute']);

export const TimelineEntry = Type.Object({
  key: Type.String({ description: 'Names it among the moments of the person.' }),
  at: Type.String(),
  kind: oneOf([
    'EVENT',
    'MESSAGE',
    'IMPRESSION',
    'CLICK',
    'CLOSE',
    'DEVICE_REGISTERED',
    'DEVICE_BLOCKED',
    'DEVICE_GONE',
    'CHANGED',
    'MERGED',
    'CREATED',
  ]),
  name: described(
    orNull(Type.String()),
    'Of an event, a campaign, an action of the console, or the customer id that was merged.',
  ),
  campaignId: orNull(Type.String()),
  deviceId: described(
    orNull(Type.String()),
    "The app's name of it; null when none is concerned or it is there no more.",
  ),
  platform: orNull(Platform),
  outcome: orNull(Type.String()),
  code: orNull(Type.String()),
  detail: described(
    Type.Record(Type.String(), Type.Unknown()),
    'Attributes of an event, the button of a click, what a change was about.',
  ),
});

export const TimelinePage = Type.Object({ entries: Type.Array(TimelineEntry), next: orNull(Type.String()) });

export const AddedUser = Type.Object({ id: Type.String() });
