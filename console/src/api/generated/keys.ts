// Generated from the shapes of the routes by `npm run console:types`; edits are lost.

export type ConsoleKey = {
  id: string;
  kind: KeyKind;
  name: string;

  /** The first and last characters of the secret. */
  hint: string;
  createdAt: string;

  /** The time of the last use, exact to the minute. */
  lastUsedAt: string | null;
  accessTokenMinutes: number;
  archivedAt: string | null;

  /** The time at which the key ends, if it was rotated. */
  endsAt: string | null;
};

/** The only response that contains the secret. */
export type CreatedKey = {
  key: ConsoleKey;
  secret: string;
  curl: string;
};

export type KeyKind = 'oauth' | 'data' | 'push' | 'campaigns' | 'app';

export type RotatedKey = {
  key: ConsoleKey;
  secret: string;
  curl: string;

  /** When the old key stops working. */
  endsAt: string;
};
