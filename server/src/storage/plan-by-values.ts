import type { Transaction } from './database.ts';

/**
 * Every statement of the transaction has its own plan, for its own values and the tables as they are now. A plan that is
 * kept for all values does not see what is rare, and one that was made while a table was small reads all of it when it
 * has grown. Compiling a plan takes longer than what these statements read. A table that all workspaces share is read
 * as a whole only where no index serves, and nothing takes a core from those that wait for another answer.
 */
export async function planByValues(tx: Transaction): Promise<void> {
  await tx`select set_config('plan_cache_mode', 'force_custom_plan', true), set_config('jit', 'off', true),
    set_config('enable_seqscan', 'off', true), set_config('max_parallel_workers_per_gather', '0', true)`;
}
