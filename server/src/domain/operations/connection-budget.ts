import type { ShownIssue } from './issue.ts';

/** How many connections the database allows for the role of the nodes, and which limits apply. */
export type ConnectionLimit = {
  maxConnections: number;
  /** The number of these that are reserved for administrators. */
  reserved: number;
  /** Null if none is set. */
  ofRole: number | null;
  ofDatabase: number | null;
};

export type ConnectionBudget = {
  nodes: number;
  /** The maximum that all nodes open together, each with all its pools full. */
  mayOpen: number;
  /** The number available to the nodes. */
  available: number;
  /** The issue to report if there are too few. */
  finding: ShownIssue | undefined;
};

/**
 * Checks that the database has enough connections for everything that the nodes may open, each with all its pools full.
 * Commands, backups and other programs need more. Pure.
 */
export function judgeConnectionBudget({
  nodes,
  limit,
}: {
  nodes: readonly { connections: number }[];
  limit: ConnectionLimit;
}): ConnectionBudget {
  const mayOpen = nodes.reduce((sum, { connections }) => sum + connections, 0);
  const limits = [
    {
      available: limit.maxConnections - limit.reserved,
      why: `max_connections ${limit.maxConnections}, ${limit.reserved} of them reserved`,
      raise: `raise max_connections to at least ${mayOpen + limit.reserved}`,
    },
    ...limitOf('role', limit.ofRole, mayOpen),
    ...limitOf('database', limit.ofDatabase, mayOpen),
  ];
  const { available, why, raise } = limits.reduce((least, one) => (one.available < least.available ? one : least));
  const budget = { nodes: nodes.length, mayOpen, available };
  if (mayOpen <= available) return { ...budget, finding: undefined };
  const who = nodes.length === 1 ? 'The node' : `The ${nodes.length} nodes`;
  return {
    ...budget,
    finding: {
      level: 'attention',
      what: `${who} may open ${mayOpen} connections to the database, which has ${available} for them (${why}).`,
      todo: `Lower CARILLON_DATABASE_CONNECTIONS, ${raise}, or put a pooler in between.`,
      place: { screen: 'system' },
    },
  };
}

function limitOf(what: 'role' | 'database', available: number | null, mayOpen: number) {
  if (available === null) return [];
  return [
    {
      available,
      why: `the connection limit of the ${what}`,
      raise: `raise the connection limit of the ${what} to at least ${mayOpen}`,
    },
  ];
}
