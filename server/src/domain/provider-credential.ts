/**
 * Credentials as they are stored, sealed, one per workspace, provider and app. `simulated` ones use the simulators of the
 * sandbox.
 */
export type FcmCredential = {
  provider: 'fcm';
  projectId: string;
  clientEmail: string;
  privateKeyId: string;
  /** PKCS#8 PEM of the service account. */
  privateKey: string;
  /** The one package that messages are for; an app says it, and it is not stored here. */
  restrictedPackage?: string;
  simulated: boolean;
};

export type ApnsCredential = {
  provider: 'apns';
  teamId: string;
  keyId: string;
  /** PKCS#8 PEM (.p8), P-256. */
  privateKey: string;
  /** Bundle id, sent as `apns-topic`. */
  topic: string;
  environment: 'production' | 'sandbox';
  simulated: boolean;
};

export type WebPushCredential = {
  provider: 'webpush';
  /** Uncompressed P-256 point, base64url (RFC 8292 §3.2), 65 bytes. */
  publicKey: string;
  /** Scalar, base64url, 32 bytes. */
  privateKey: string;
  /** `mailto:` or `https:` contact (RFC 8292 §2.1). */
  subject: string;
  /** Made for the sandbox; the addresses of the subscriptions decide where messages go. */
  simulated: boolean;
};

export type HmsCredential = {
  provider: 'hms';
  /** Of the OAuth client, with its secret. */
  clientId: string;
  clientSecret: string;
  /** Whose messages they are: those of a project of AppGallery Connect, or of one app (the second and the first version of the interface). */
  owner: { kind: 'project' | 'app'; id: string };
  simulated: boolean;
};

export type ProviderCredentials = {
  fcm?: FcmCredential;
  apns?: ApnsCredential;
  webpush?: WebPushCredential;
  hms?: HmsCredential;
};

export type ProviderCredential = FcmCredential | ApnsCredential | WebPushCredential | HmsCredential;
