/** What came of the last tunnel that the outgoing proxy was asked for; faults by the codes of the ledger. */
export const proxyStates = ['UNUSED', 'OK', 'PROXY_UNREACHABLE', 'PROXY_REFUSED', 'PROXY_AUTH'] as const;

export type ProxyState = (typeof proxyStates)[number];
