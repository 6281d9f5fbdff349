import type { Command } from 'commander';
import { StartError } from '../start/start-errors.ts';
import { withInstallation } from './command-context.ts';
import type { CommandContext } from './command-context.ts';
import { jsonLineOption } from './command-options.ts';
import { makeConsoleLink, formatOneTimeAddress } from './console-address.ts';
import { printJsonLine } from './print-table.ts';

/** `carillon console-link`: a new link into the console, for whoever has used the one that the start printed. */
export function registerConsoleLink(program: Command): void {
  program
    .command('console-link')
    .description('Print a new link that signs in to the console of a sandbox, or creates the first owner elsewhere')
    .option(...jsonLineOption)
    .action((options: { json?: true }) => withInstallation(program, (context) => printLink(context, options)));
}

async function printLink(context: CommandContext, { json }: { json?: true }): Promise<void> {
  const made = await makeConsoleLink(context);
  if (!made)
    throw new StartError(
      'SETTING_INVALID',
      'There is an owner already: sign in with an account. For a forgotten password: carillon accounts password-link <email>.',
    );
  const link = await formatOneTimeAddress(context, made.path);
  if (json) return printJsonLine({ link, expiresAt: made.expiresAt });
  process.stdout.write(`Open     ${link}\nUntil    ${made.expiresAt.toISOString()}, once\n`);
}
