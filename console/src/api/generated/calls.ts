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

  /** Null if the call succeeded. */
  errorName: string | null;

  /** The public text of the error, which the caller received. */
  errorText: string | null;

  /** What to do about it. */
  advice: string | null;

  /** The private detail of the error, which the caller did not receive. */
  errorDetail: string | null;
  warnings: string[];

  /** Headers from a fixed list; credentials are redacted. Null if none were stored. */
  requestHeaders: Record<string, string> | null;
  requestBody: string | null;

  /** Headers from a fixed list; credentials are redacted. Null if none were stored. */
  responseHeaders: Record<string, string> | null;

  /** Null if there was no body, or it was a file or contained a credential. */
  responseBody: string | null;

  /** The objects that the call created or changed and that its response names. */
  made: MadeObject[];
};

export type CallPage = {
  calls: LoggedCall[];
  next: string | null;

  /** A search examines 20,000 calls for each page. Calls older than this have not been examined. */
  searchedUntil: string | null;
};

/** A call of the API. The first 4,096 characters of a body are stored; bodies with credentials are not. */
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

  /** Null if the call succeeded. */
  errorName: string | null;

  /** The public text of the error, which the caller received. */
  errorText: string | null;

  /** What to do about it. */
  advice: string | null;

  /** The private detail of the error, which the caller did not receive. */
  errorDetail: string | null;
  warnings: string[];
};

export type MadeObject = {
  kind: 'campaign' | 'segment' | 'user';
  id: string;
};
