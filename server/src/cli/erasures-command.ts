import { customerDigest } from '../app/data/delete-user.ts';
import type { CommandContext } from '../cli.ts';
import { listErasures } from '../storage/users/erasures.ts';
import { findWorkspaceToUse } from './find-workspace-to-use.ts';
import { printTable } from './print-table.ts';

export type ListErasuresOptions = { customer?: string; workspace?: string };

const maxShown = 100;

/** `carillon erasures list`: which deletions were asked for, and what each removed. */
export const erasuresCommand = {
  async list({ database }: Pick<CommandContext, 'database'>, options: ListErasuresOptions): Promise<void> {
    const workspaceId = await findWorkspaceToUse(database, options.workspace);
    const digest = options.customer === undefined ? null : customerDigest(workspaceId, options.customer);
    const erasures = await listErasures(database, { workspaceId, customerDigest: digest, limit: maxShown });
    printTable(
      ['ID', 'STATE', 'REQUESTED', 'REMOVED', 'ROWS'],
      erasures.map(({ id, state, requestedAt, dueAt, removedAt, counts }) => [
        id,
        state,
        requestedAt.toISOString(),
        removedAt?.toISOString() ?? `due ${dueAt.toISOString()}`,
        Object.entries(counts)
          .filter(([, count]) => count > 0)
          .map(([table, count]) => `${table} ${count}`)
          .join(', '),
      ]),
    );
  },
};
