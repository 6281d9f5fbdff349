import type { Command } from 'commander';
import { cancelErasure, customerDigest } from '../../app/users/erasures.ts';
import { ServiceError } from '../../domain/errors.ts';
import { StartError } from '../../start/start-errors.ts';
import { listErasures } from '../../storage/users/erasures.ts';
import { findUsersByCustomerIds } from '../../storage/users/users.ts';
import { commandLine, withInstallation, findWorkspaceToUse } from '../command-context.ts';
import type { CommandContext } from '../command-context.ts';
import { jsonLineOption, jsonOption, workspaceOption } from '../command-options.ts';
import { printJsonLine, printTable, takeNewest, toPlainLine } from '../print-table.ts';

/** `carillon erasures`: lists requested deletions with what each removed, and cancels a user's pending one. */
export function registerErasures(program: Command): void {
  const erasures = program.command('erasures').description('Deletions of users');
  erasures
    .command('list')
    .option(...jsonOption)
    .description('List the newest deletions with what each removed')
    .option('--customer <id>', 'only deletions of this customer id')
    .option(...workspaceOption)
    .action((options: ListErasuresOptions) => withInstallation(program, (context) => printErasures(context, options)));
  erasures
    .command('cancel')
    .description('Keep a user whose requested deletion has not started')
    .argument('<customer-id>')
    .option(...jsonLineOption)
    .option(...workspaceOption)
    .action((customerId: string, options: CancelErasureOptions) =>
      withInstallation(program, (context) => keepUser(context, { customerId, ...options })),
    );
}

type ListErasuresOptions = { customer?: string; workspace?: string; json?: true };
type CancelErasureOptions = { workspace?: string; json?: true };
const maxShown = 100;

async function printErasures({ database }: CommandContext, options: ListErasuresOptions): Promise<void> {
  const workspaceId = await findWorkspaceToUse(database, options.workspace);
  const digest = options.customer === undefined ? null : customerDigest(workspaceId, options.customer);
  const found = await listErasures(database, { workspaceId, customerDigest: digest, limit: maxShown + 1 });
  const more = 'are listed; --customer <id> finds the others.';
  const erasures = takeNewest(found, { max: maxShown, more });
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

async function keepUser(
  context: CommandContext,
  options: CancelErasureOptions & { customerId: string },
): Promise<void> {
  const { customerId } = options;
  const workspaceId = await findWorkspaceToUse(context.database, options.workspace);
  const [user] = await findUsersByCustomerIds(context.database, { workspaceId, customerIds: [customerId], limit: 1 });
  const id = user && (await cancelWaiting(context, { workspaceId, userId: user.userId }));
  if (id === undefined)
    throw new StartError(
      'SETTING_INVALID',
      `No deletion of ${customerId} is waiting; see: carillon erasures list --customer ${customerId}.`,
    );
  if (options.json) return printJsonLine({ workspaceId, customerId, id });
  process.stdout.write(`Erasure    ${id}\nCancelled: ${toPlainLine(customerId)} is kept.\n`);
}

/** @returns undefined when no erasure is pending */
async function cancelWaiting(
  context: CommandContext,
  user: { workspaceId: string; userId: string },
): Promise<string | undefined> {
  try {
    return await cancelErasure(context, { actor: commandLine, ...user });
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'NOT_FOUND') return undefined;
    throw error;
  }
}
