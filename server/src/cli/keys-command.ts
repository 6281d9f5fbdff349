import { Option } from 'commander';
import type { Command } from 'commander';
import { createKey } from '../app/keys/create-key.ts';
import { withInstallation } from './command-context.ts';
import type { CommandContext } from './command-context.ts';
import { workspaceOption } from './command-options.ts';
import { findWorkspaceToUse } from './find-workspace-to-use.ts';

/** `carillon keys`: API keys. */
export function registerKeys(program: Command): void {
  program
    .command('keys')
    .description('API keys')
    .command('create')
    .description('Create an API key; its secret is shown once')
    .addOption(
      new Option('--kind <kind>', 'what the key is for')
        .choices(['oauth', 'data', 'push', 'campaigns'])
        .makeOptionMandatory(),
    )
    .option('--name <name>', 'up to 100 characters', 'Created on the command line')
    .option(...workspaceOption)
    .action((options: CreateKeyOptions) => withInstallation(program, (context) => printNewKey(context, options)));
}

type CreateKeyOptions = { kind: 'oauth' | 'data' | 'push' | 'campaigns'; name: string; workspace?: string };

/** Prints the new secret, the only time it is shown. */
async function printNewKey(context: CommandContext, options: CreateKeyOptions): Promise<void> {
  const workspaceId = await findWorkspaceToUse(context.database, options.workspace);
  const { key, secret } = await createKey(context, context.database, {
    workspaceId,
    kind: options.kind,
    name: options.name,
    at: context.clock.now(),
  });
  process.stdout.write(`Workspace  ${workspaceId}\nKey id     ${key.id}\nSecret     ${secret}\n`);
}
