// Generated from the shapes of the routes by `npm run console:types`; edits are lost.

export type FactorChange = {
  /** New codes, shown once; null if the account has some. */
  recoveryCodes: string[] | null;
};

export type NewAuthenticator = {
  secret: string;

  /** The text of the QR code. */
  address: string;
};

export type OwnFactors = {
  /** When the authenticator app was added; null if there is none. */
  authenticatorAt: string | null;

  /** The number of codes that were not used. */
  recoveryCodes: number;
  passkeys: OwnPasskey[];

  /** Why this installation can have no passkeys; null if it can. */
  passkeyFault: string | null;
  isRequired: boolean;
};

export type OwnPasskey = {
  id: string;
  name: string;
  createdAt: string;
  usedAt: string | null;
};

/** What the browser passes to the authenticator (WebAuthn). */
export type PasskeyOptions = {
  options: unknown;
};

/** The second step of a sign-in. */
export type SecondStep = {
  stage: 'OPEN' | 'SECOND_FACTOR' | 'ENROLMENT';
  email: string | null;
  hasAuthenticator: boolean;
  hasPasskey: boolean;
  hasRecoveryCode: boolean;
};
