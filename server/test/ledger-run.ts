import type { Queryable } from '../src/storage/database.ts';

/** The numbers under which the ledger has a run and its workspace. */
export async function ledgerRun(tx: Queryable, runId: string): Promise<{ runNumber: number; workspaceNumber: number }> {
  const [row] = await tx<{ runNumber: number; workspaceNumber: number }[]>`
    select runs.number as "runNumber", workspaces.number as "workspaceNumber"
    from runs join workspaces on workspaces.id = runs.workspace_id
    where runs.id = ${runId}`;
  return row!;
}
