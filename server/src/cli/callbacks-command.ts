import type { CommandContext } from '../cli.ts';
import { composeSegments } from './compose-segments.ts';
import { findWorkspaceToUse } from './find-workspace-to-use.ts';
import { printTable } from './print-table.ts';

/** `carillon callbacks`: the newest callbacks, one sent again, and the secret that signs them. */
export const callbacksCommand = { list: listCallbacks, resend: resendCallback, secret: printSecret };

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
