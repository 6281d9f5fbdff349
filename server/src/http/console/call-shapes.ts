import { Type } from 'typebox';
import { described, orNull } from './shape-parts.ts';

export const LoggedCall = described(
  Type.Object({
    id: Type.String(),
    receivedAt: Type.String(),
    method: Type.String(),
    path: Type.String(),
    route: Type.String(),
    status: Type.Number(),
    durationMilliseconds: Type.Number(),
    keyId: orNull(Type.String()),
    keyName: orNull(Type.String()),
    errorName: described(orNull(Type.String()), 'Null: it was done.'),
    errorText: described(orNull(Type.String()), 'What the caller was told.'),
    advice: described(orNull(Type.String()), 'What to do about it.'),
    errorDetail: described(orNull(Type.String()), 'What the caller was not told.'),
    warnings: Type.Array(Type.String()),
  }),
  'A call of the API. Bodies are kept up to 4,096 characters, those with credentials not at all.',
);

export const CallDetail = Type.Object({ ...LoggedCall.properties, requestBody: orNull(Type.String()) });

export const CallPage = Type.Object({ calls: Type.Array(LoggedCall), next: orNull(Type.String()) });
