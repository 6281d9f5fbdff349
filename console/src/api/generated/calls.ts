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

  /** Those of a list; what proves the caller is redacted. Null: none were kept. */
  requestHeaders: Record<string, string> | null;
  requestBody: string | null;

  /** Those of a list; what proves the caller is redacted. Null: none were kept. */
  responseHeaders: Record<string, string> | null;

  /** Null: there was none, it was a file, or it carried a credential. */
  responseBody: string | null;

  /** What the call made or changed, as far as its answer names it. */
  made: MadeObject[];
};

export type CallPage = {
  calls: LoggedCall[];
  next: string | null;

  /** A search looks at 20,000 calls for a page: older ones than this were not looked at. */
  searchedUntil: string | null;
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

export type MadeObject = {
  kind: 'campaign' | 'segment' | 'user';
  id: string;
};
