import { judgeConnectionBudget } from '../../../server/src/domain/operations/connection-budget.ts';
import type { ConnectionBudget } from '../../../server/src/domain/operations/connection-budget.ts';
import { countConnections } from '../../../server/src/start/node/engine.ts';
import type { Scenario } from './scenario.ts';

/** PostgreSQL's default (superuser_reserved_connections). */
const reserved = 3;

/** Returns the connections that all nodes together may open, calculated as in the overview of a real cluster. Pure. */
export function clusterConnections({
  nodes,
  apiNodes,
  connectionsPerNode,
  maxConnections,
}: Scenario): ConnectionBudget {
  const many = (role: 'worker' | 'api', count: number): { connections: number }[] =>
    Array.from({ length: count }, () => ({
      connections: countConnections({ role, databaseConnections: connectionsPerNode, databasePooler: 'none' }),
    }));
  return judgeConnectionBudget({
    nodes: [...many('worker', nodes), ...many('api', apiNodes)],
    limit: { maxConnections, reserved, ofRole: null, ofDatabase: null },
  });
}
