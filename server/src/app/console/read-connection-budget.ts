import type { Clock } from '../../clock.ts';
import { judgeConnectionBudget } from '../../domain/overview/judge-connection-budget.ts';
import type { ConnectionBudget } from '../../domain/overview/judge-connection-budget.ts';
import type { Database } from '../../storage/database.ts';
import { readConnectionLimit } from '../../storage/installation/installation.ts';
import type { NodeReport } from '../../storage/installation/nodes.ts';
import { isAlive } from './node-health.ts';

/** What the nodes that were heard of lately may open, beside what the database has for them. */
export async function readConnectionBudget(
  { database, clock }: { database: Database; clock: Clock },
  nodes: readonly NodeReport[],
): Promise<ConnectionBudget> {
  const limit = await readConnectionLimit(database);
  return judgeConnectionBudget({ nodes: nodes.filter((node) => isAlive(node, clock)), limit });
}
