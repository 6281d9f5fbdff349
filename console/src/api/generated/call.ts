// Generated from the shapes of the routes by `npm run console:types`; edits are lost.

export type CallDetail = {
  id: string;
  receivedAt: string;
  method: string;
  path: string;
  route: string;
  status: number;
  durationMilliseconds: number;
  keyId: string | null;
  keyName: string | null;

  /** Null: it was done. */
  errorName: string | null;

  /** What the caller was told. */
  errorText: string | null;

  /** What to do about it. */
  advice: string | null;

  /** What the caller was not told. */
  errorDetail: string | null;
  warnings: string[];
  requestBody: string | null;
};

export type CallPage = {
  calls: LoggedCall[];
  next: string | null;
};

/** A call of the API. Bodies are kept up to 4,096 characters, those with credentials not at all. */
export type LoggedCall = {
  id: string;
  receivedAt: string;
  method: string;
  path: string;
  route: string;
  status: number;
  durationMilliseconds: number;
  keyId: string | null;
  keyName: string | null;

  /** Null: it was done. */
  errorName: string | null;

  /** What the caller was told. */
  errorText: string | null;

  /** What to do about it. */
  advice: string | null;

  /** What the caller was not told. */
  errorDetail: string | null;
  warnings: string[];
};
