import type { Command } from 'commander';
import { createStartLink } from '../../app/accounts/links.ts';
import { isAlive } from '../../app/system/nodes.ts';
import { StartError } from '../../start/start-errors.ts';
import { findInstallation } from '../../storage/installation/installation.ts';
import { listNodes } from '../../storage/installation/nodes.ts';
import { withInstallation } from '../command-context.ts';
import type { CommandContext } from '../command-context.ts';
import { jsonLineOption } from '../command-options.ts';
import { printJsonLine } from '../print-table.ts';

/** `carillon console-link`: a new link to the console, for a user who has used the one that the start printed. */
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
      'An owner exists already: sign in with an account. For a forgotten password, run: carillon accounts password-link <email>.',
    );
  const link = await formatOneTimeAddress(context, made.path);
  if (json) return printJsonLine({ link, expiresAt: made.expiresAt });
  process.stdout.write(`Open     ${link}\nUntil    ${made.expiresAt.toISOString()}, once\n`);
}

type AddressContext = Pick<CommandContext, 'database' | 'clock' | 'publicUrl'>;

/**
 * Returns the URL of a page of the console, as a link to share: at the public URL, else at a node that serves calls; undefined
 * when neither is known.
 */
export async function findConsoleAddress(
  { database, clock, publicUrl }: AddressContext,
  path: string,
): Promise<string | undefined> {
  const nodes = (await listNodes(database)).filter((node) => isAlive(node, clock));
  const origin = publicUrl ?? nodes.find(({ role, url }) => role !== 'worker' && url !== null)?.url;
  return origin ? `${origin}${path}` : undefined;
}

/** Returns the same for a link that works once; if no URL is known, the path with a note. */
export async function formatOneTimeAddress(context: AddressContext, path: string): Promise<string> {
  return (await findConsoleAddress(context, path)) ?? `${path}  (on the host of the console)`;
}

export type ConsoleLink = { path: string; expiresAt: Date };

/**
 * Makes a link that opens the console of a sandbox, or creates the first owner of any other. The database decides whether it is
 * a sandbox, because the settings of a command may differ from those of the nodes.
 *
 * @returns undefined when users sign in with their accounts: there is an owner
 */
export async function makeConsoleLink({
  database,
  clock,
}: Pick<CommandContext, 'database' | 'clock'>): Promise<ConsoleLink | undefined> {
  const installation = await findInstallation(database);
  const isSandbox = installation !== undefined && installation.demoWorkspaceId !== null;
  const link = await createStartLink({ database, clock, isSandbox });
  return link && { path: `/console/#${link.kind}=${link.code}`, expiresAt: link.expiresAt };
}
