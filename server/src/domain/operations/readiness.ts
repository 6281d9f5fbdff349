/**
 * The problems that prevent a node from working, by the names that `/readyz`, the console and docs/operations.md use. A
 * node with any of them is not ready: a load balancer sends requests to another one.
 */
export const troubleMeanings = {
  starting: 'The node is not done with its start.',
  stopping: 'The node was asked to stop.',
  database: 'The database did not answer within a second.',
  outcomes:
    'Outcomes of requests that have left cannot be stored; they are kept in memory, and nothing new is sent; what the database refuses for what is in it is given up after twenty seconds. The number of windows, batches and messages, and the kind of the fault.',
  'read-only': 'The database takes no writes: it is a copy, or was made read-only.',
  writes: 'The database refused a write within the last 15 seconds: its disk is full, or it lacks memory.',
  jobs: 'Jobs of this node failed three times in a row; each is named with the kind of its fault.',
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
