/**
 * The problems that prevent a node from working, by the names that `/readyz`, the console and docs/operations.md use. A
 * node with any of them is not ready: a load balancer sends requests to another one.
 */
export const troubleMeanings = {
  starting: 'The node is still starting.',
  stopping: 'The node is stopping.',
  database: 'The database did not respond within a second.',
  outcomes:
    'The node cannot store the outcomes of messages that it sent. It keeps them in memory and sends nothing new. Outcomes that the database rejects because of their content are given up after twenty seconds. The detail has the number of windows, batches and messages, and the kind of fault.',
  'read-only': 'The database rejects writes: it is a standby, or it is set to read-only.',
  writes: 'The database rejected a write within the last 15 seconds: its disk is full, or it lacks memory.',
  jobs: 'Jobs of this node failed three times in a row. The detail names each job with the kind of fault.',
} as const;

export type TroubleName = keyof typeof troubleMeanings;

/** `detail` names our own components and kinds of faults, never a value: it is shown without credentials. */
export type Trouble = { name: TroubleName; detail?: string };

/** For example `jobs: release-runs (53100)`. */
export function describeTrouble({ name, detail }: Trouble): string {
  return detail === undefined ? name : `${name}: ${detail}`;
}

/** The result of the last tunnel request to the outgoing proxy; faults use the codes of the ledger. */
export const proxyStates = ['UNUSED', 'OK', 'PROXY_UNREACHABLE', 'PROXY_REFUSED', 'PROXY_AUTH'] as const;

export type ProxyState = (typeof proxyStates)[number];
