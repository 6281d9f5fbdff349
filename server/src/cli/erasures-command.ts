import type { Command } from 'commander';
import { customerDigest } from '../app/data/delete-user.ts';
import { listErasures } from '../storage/users/erasures.ts';
import { withInstallation } from './command-context.ts';
import type { CommandContext } from './command-context.ts';
import { jsonOption, workspaceOption } from './command-options.ts';
import { findWorkspaceToUse } from './find-workspace-to-use.ts';
import { printTable } from './print-table.ts';

/** `carillon erasures`: which deletions were asked for, and what each removed. */
export function registerErasures(program: Command): void {
  program
    .command('erasures')
    .description('Deletions of users')
    .command('list')
    .option(...jsonOption)
    .description('List the newest deletions with what each removed')
    .option('--customer <id>', 'only those of this customer id')
    .option(...workspaceOption)
    .action((options: ListErasuresOptions) => withInstallation(program, (context) => printErasures(context, options)));
}

type ListErasuresOptions = { customer?: string; workspace?: string; json?: true };

const maxShown = 100;

async function printErasures({ database }: CommandContext, options: ListErasuresOptions): Promise<void> {
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
    options,
  );
}
