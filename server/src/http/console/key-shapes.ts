import { Type } from 'typebox';
import { keyKinds } from '../../domain/tokens/key-kinds.ts';
import { described, oneOf, orNull } from './shape-parts.ts';

export const KeyKind = oneOf(keyKinds);

export const ConsoleKey = Type.Object({
  id: Type.String(),
  kind: KeyKind,
  name: Type.String(),
  hint: Type.String({ description: 'First and last characters of the secret.' }),
  createdAt: Type.String(),
  lastUsedAt: described(orNull(Type.String()), 'To the minute.'),
  accessTokenMinutes: Type.Number(),
  archivedAt: orNull(Type.String()),
  endsAt: described(orNull(Type.String()), 'It was rotated and ends then.'),
});

export const CreatedKey = described(
  Type.Object({ key: ConsoleKey, secret: Type.String(), curl: Type.String() }),
  'The secret is answered here alone.',
);

export const RotatedKey = Type.Object({
  ...CreatedKey.properties,
  endsAt: Type.String({ description: 'When the old key stops working.' }),
});
