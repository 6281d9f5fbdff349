import { drawFromBudget } from '../../domain/limits/send-budget.ts';
import type { BudgetDraw } from '../../domain/limits/send-budget.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { lockSendBudget, storeSendBudget } from '../../storage/limits/send-budgets.ts';

export type BudgetLease = BudgetDraw & { key: string };

/**
 * Takes messages from a budget that all nodes share: under its row's lock, so together they never take more.
 *
 * @returns how many, 0 … `wanted`
 */
export async function leaseBudget(database: Database, lease: BudgetLease): Promise<number> {
  return inTransaction(database, async (tx) => {
    const before = await lockSendBudget(tx, lease);
    const { budget, granted } = drawFromBudget(before, lease);
    await storeSendBudget(tx, { key: lease.key, budget });
    return granted;
  });
}
