import { createKey } from '../app/keys/create-key.ts';
import type { CommandContext } from '../cli.ts';
import { findWorkspaceToUse } from './find-workspace-to-use.ts';

export type CreateKeyOptions = { kind: 'oauth' | 'data' | 'push' | 'campaigns'; name: string; workspace?: string };

/** `carillon keys create`: prints the new secret, the only time it is shown. */
export async function createKeyCommand(context: CommandContext, options: CreateKeyOptions): Promise<void> {
  const workspaceId = await findWorkspaceToUse(context.database, options.workspace);
  const { key, secret } = await createKey(context, context.database, {
    workspaceId,
    kind: options.kind,
    name: options.name,
    at: context.clock.now(),
  });
  process.stdout.write(`Workspace  ${workspaceId}\nKey id     ${key.id}\nSecret     ${secret}\n`);
}
