import type { Command } from 'commander';
import { listCallbacks, maxLogged, readWebhookSecret, resendCallback } from '../../app/segments/messages.ts';
import { ensureWebhookSecret } from '../../engine/outbox/callbacks.ts';
import type { Queryable } from '../../storage/database.ts';
import { commandLine, withInstallation, findWorkspaceToUse } from '../command-context.ts';
import type { CommandContext } from '../command-context.ts';
import { jsonOption, workspaceOption } from '../command-options.ts';
import { printTable } from '../print-table.ts';

/** `carillon callbacks`: lists the newest callbacks, sends one again, and shows the secret that signs them. */
export function registerCallbacks(program: Command): void {
  const callbacks = program.command('callbacks').description('Callbacks about file operations');
  callbacks
    .command('list')
    .description('List the newest callbacks')
    .option(...jsonOption)
    .option(...workspaceOption)
    .action((options: { workspace?: string; json?: true }) =>
      withInstallation(program, (context) => printCallbacks(context, options)),
    );
  callbacks
    .command('resend')
    .description('Resend a callback that was delivered or given up')
    .argument('<id>')
    .option(...workspaceOption)
    .action((id: string, options: { workspace?: string }) =>
      withInstallation(program, (context) => sendAgain(context, { id, ...options })),
    );
  callbacks
    .command('secret')
    .description('Show the secret that signs the callbacks of a workspace')
    .option(...workspaceOption)
    .action((options: { workspace?: string }) => withInstallation(program, (context) => printSecret(context, options)));
}

async function printCallbacks(context: CommandContext, options: { workspace?: string; json?: true }): Promise<void> {
  const workspaceId = await findWorkspaceToUse(context.database, options.workspace);
  const callbacks = await listCallbacks(context, { workspaceId });
  const last = callbacks.length < maxLogged ? undefined : callbacks.at(-1);
  const older = last && (await listCallbacks(context, { workspaceId, after: last }));
  if (older && older.length > 0)
    process.stderr.write(`Only the newest ${maxLogged} are listed; the API log of the console has all of them.\n`);
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
    options,
  );
}

async function sendAgain(context: CommandContext, options: { id: string; workspace?: string }): Promise<void> {
  const workspaceId = await findWorkspaceToUse(context.database, options.workspace);
  const { id, url } = await resendCallback(context, { actor: commandLine, workspaceId, id: options.id });
  process.stdout.write(`Callback   ${id}\nTo         ${url}\nQueued; a running node sends it.\n`);
}

async function printSecret(context: CommandContext, options: { workspace?: string }): Promise<void> {
  const workspaceId = await findWorkspaceToUse(context.database, options.workspace);
  const { encryption } = context;
  const webhookSecretOf = (tx: Queryable): Promise<string> =>
    ensureWebhookSecret({ database: tx, encryption }, workspaceId);
  const secret = await readWebhookSecret({ ...context, webhookSecretOf }, { actor: commandLine, workspaceId });
  process.stdout.write(`Workspace  ${workspaceId}\nSecret     ${secret}\n`);
}
