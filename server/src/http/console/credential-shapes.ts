import { Type } from 'typebox';
import { CredentialCheck, ProviderName } from './overview-shapes.ts';
import { Platform } from './platform-shapes.ts';
import { described, orNull } from './shape-parts.ts';

export const ConnectedCredential = described(
  Type.Object({
    isSimulated: Type.Boolean(),
    summary: described(
      Type.Record(Type.String(), Type.String()),
      'What tells it from others: project, ids, the public VAPID key.',
    ),
    updatedAt: Type.String(),
    check: orNull(Type.Object({ ...CredentialCheck.properties, advice: Type.String() })),
  }),
  'Everything of a credential but its secret.',
);

export const ProviderCredentialState = Type.Object({
  platform: Platform,
  provider: ProviderName,
  name: Type.String(),
  connected: orNull(ConnectedCredential),
  ofOtherApps: described(
    Type.Array(Type.Object({ appId: Type.String(), connected: ConnectedCredential })),
    'Credentials of apps beside the default one (docs/apps.md).',
  ),
  hits: described(
    Type.Object({ devices: Type.Number(), runs: Type.Number() }),
    'What hangs on it: devices that take push, and sends under way.',
  ),
});
