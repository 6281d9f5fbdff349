/** PEM: the certificate with those between it and its authority, and its private key. */
export type TlsPair = { cert: string; key: string };

/** What this server shows its callers; it may be renewed while it is served. */
export type ServedCertificate = {
  /** As it is now. */
  pair(): TlsPair;
  /** Returns what ends the telling. */
  onChange(tell: (pair: TlsPair) => void): () => void;
};
