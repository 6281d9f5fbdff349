import { Type } from 'typebox';
import { madeKinds } from '../../domain/api-log/find-made.ts';
import { described, oneOf, orNull } from './shape-parts.ts';

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

const Headers = described(
  orNull(Type.Record(Type.String(), Type.String())),
  'Those of a list; what proves the caller is redacted. Null: none were kept.',
);

export const MadeObject = Type.Object({ kind: oneOf(madeKinds), id: Type.String() });

export const CallDetail = Type.Object({
  ...LoggedCall.properties,
  requestHeaders: Headers,
  requestBody: orNull(Type.String()),
  responseHeaders: Headers,
  responseBody: described(orNull(Type.String()), 'Null: there was none, it was a file, or it carried a credential.'),
  made: described(Type.Array(MadeObject), 'What the call made or changed, as far as its answer names it.'),
});

export const CallPage = Type.Object({
  calls: Type.Array(LoggedCall),
  next: orNull(Type.String()),
  searchedUntil: described(
    orNull(Type.String()),
    'A search looks at 20,000 calls for a page: older ones than this were not looked at.',
  ),
});
