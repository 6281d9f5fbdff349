import { Type } from 'typebox';
import { deviceBehaviours } from '../../app/sandbox/virtual-devices.ts';
import { ProviderName } from './overview-shapes.ts';
import { Platform } from './platform-shapes.ts';
import { described, oneOf, orNull } from './shape-parts.ts';

export const SandboxState = Type.Object({
  clock: Type.Object({
    now: Type.String(),
    offsetSeconds: Type.Number(),
    isFrozen: Type.Boolean(),
    advancing: described(
      Type.Union([Type.Object({ stops: Type.Number(), remainingSeconds: Type.Number() }), Type.Null()]),
      'How far an advance has come; null when the clock is not being moved.',
    ),
  }),
  counters: described(
    Type.Object({
      ANDROID: Type.Optional(Type.Object({ received: Type.Number(), accepted: Type.Number(), refused: Type.Number() })),
      IOS: Type.Optional(Type.Object({ received: Type.Number(), accepted: Type.Number(), refused: Type.Number() })),
      WEB: Type.Optional(Type.Object({ received: Type.Number(), accepted: Type.Number(), refused: Type.Number() })),
      HMS: Type.Optional(Type.Object({ received: Type.Number(), accepted: Type.Number(), refused: Type.Number() })),
    }),
    'What the simulated providers counted.',
  ),
});

export const DeviceBehaviour = described(
  oneOf(deviceBehaviours),
  '`works`, or how the provider answers for its address.',
);

export const VirtualDevice = described(
  Type.Object({
    id: Type.String(),
    userId: Type.String(),
    customerId: Type.String(),
    deviceId: Type.String(),
    platform: Platform,
    provider: described(orNull(ProviderName), 'Null: the usual one of the platform.'),
    state: Type.String(),
    token: Type.String({ description: 'By which messages of the inbox name it.' }),
    messages: described(
      Type.Array(
        Type.Object({
          id: Type.String(),
          deviceToken: Type.String(),
          title: Type.String(),
          body: Type.String(),
          receivedAt: Type.String(),
        }),
      ),
      'The newest three.',
    ),
    behaviour: DeviceBehaviour,
  }),
  'A device of a person who is marked for tests.',
);
