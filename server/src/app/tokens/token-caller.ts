/** Who calls a token endpoint, before anything is proved. */
export type TokenCaller = {
  /** Whatever was sent as client_id. */
  clientId: string;
  /** Address of the caller, or of the trusted proxy's client. */
  address: string;
  /** Data center of the host that was called, if it names one (decision D1). */
  dataCenter?: string | undefined;
};
