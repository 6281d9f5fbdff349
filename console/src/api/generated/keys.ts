// Generated from the shapes of the routes by `npm run console:types`; edits are lost.

export type ConsoleKey = {
  id: string;
  kind: KeyKind;
  name: string;

  /** First and last characters of the secret. */
  hint: string;
  createdAt: string;

  /** To the minute. */
  lastUsedAt: string | null;
  accessTokenMinutes: number;
  archivedAt: string | null;

  /** It was rotated and ends then. */
  endsAt: string | null;
};

/** The secret is answered here alone. */
export type CreatedKey = {
  key: ConsoleKey;
  secret: string;
  curl: string;
};

export type KeyKind = 'oauth' | 'data' | 'push' | 'campaigns';

export type RotatedKey = {
  key: ConsoleKey;
  secret: string;
  curl: string;

  /** When the old key stops working. */
  endsAt: string;
};
