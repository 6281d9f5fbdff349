import type { Command } from 'commander';
import { withInstallation } from './command-context.ts';
import type { CommandContext } from './command-context.ts';
import { workspaceOption } from './command-options.ts';
import { composeSegments } from './compose-segments.ts';
import { findWorkspaceToUse } from './find-workspace-to-use.ts';
import { printTable } from './print-table.ts';

/** `carillon callbacks`: the newest callbacks, one sent again, and the secret that signs them. */
export function registerCallbacks(program: Command): void {
  const callbacks = program.command('callbacks').description('Callbacks about file operations');
  callbacks
    .command('list')
    .description('List the newest callbacks')
    .option(...workspaceOption)
    .action((options: { workspace?: string }) =>
      withInstallation(program, (context) => listCallbacks(context, options)),
    );
  callbacks
    .command('resend')
    .description('Send a callback again that was delivered or given up')
    .argument('<id>')
    .option(...workspaceOption)
    .action((id: string, options: { workspace?: string }) =>
      withInstallation(program, (context) => resendCallback(context, { id, ...options })),
    );
  callbacks
    .command('secret')
    .description('Show the secret that signs the callbacks of a workspace')
    .option(...workspaceOption)
    .action((options: { workspace?: string }) => withInstallation(program, (context) => printSecret(context, options)));
}

async function listCallbacks(context: CommandContext, options: { workspace?: string }): Promise<void> {
  const workspaceId = await findWorkspaceToUse(context.database, options.workspace);
  const callbacks = await composeSegments(context).read.listCallbacks({ workspaceId });
  printTable(
    ['ID', 'CREATED', 'STATE', 'TRIES', 'RESENDS', 'URL'],
    callbacks.map((callback) => [
      callback.id,
      callback.createdAt.toISOString(),
      callback.state,
      String(callback.attempts),
      String(callback.resends),
      callback.url,
    ]),
  );
}

async function resendCallback(context: CommandContext, options: { id: string; workspace?: string }): Promise<void> {
  const workspaceId = await findWorkspaceToUse(context.database, options.workspace);
  const { id, url } = await composeSegments(context).read.resendCallback({ workspaceId, id: options.id });
  process.stdout.write(`Callback   ${id}\nTo         ${url}\nDue now; a running node sends it.\n`);
}

async function printSecret(context: CommandContext, options: { workspace?: string }): Promise<void> {
  const workspaceId = await findWorkspaceToUse(context.database, options.workspace);
  const secret = await composeSegments(context).read.readWebhookSecret({ workspaceId });
  process.stdout.write(`Workspace  ${workspaceId}\nSecret     ${secret}\n`);
}
