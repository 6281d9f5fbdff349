import type { Command } from 'commander';
import { createPasswordLink, listAccountsAndInvitations } from '../../app/accounts/accounts.ts';
import { accessOf } from '../../domain/access/accounts.ts';
import { createStartLink } from '../../app/accounts/links.ts';
import { ServiceError } from '../../domain/errors.ts';
import { StartError } from '../../start/start-errors.ts';
import { findAccountByEmail, maxAccountsListed } from '../../storage/accounts/accounts.ts';
import type { Account } from '../../storage/accounts/accounts.ts';
import { resetFactors } from '../../app/accounts/second-factors.ts';
import { commandLine, withInstallation } from '../command-context.ts';
import type { CommandContext } from '../command-context.ts';
import { jsonOption } from '../command-options.ts';
import { printTable } from '../print-table.ts';
import { formatOneTimeAddress } from './console-link.ts';

/** `carillon accounts`: lists the console's accounts, and restores access for an owner who forgot the password. */
export function registerAccounts(program: Command): void {
  const accounts = program.command('accounts').description('Accounts of the console');
  accounts
    .command('list')
    .description('List the accounts with their roles')
    .option(...jsonOption)
    .action((options: { json?: true }) => withInstallation(program, (context) => listAccounts(context, options)));
  accounts
    .command('first-owner-link')
    .description('Create a link for the first owner of the console, while it has none')
    .action(() => withInstallation(program, makeFirstOwnerLink));
  accounts
    .command('password-link')
    .description('Create a link to set a new password, for a user who forgot it')
    .argument('<email>')
    .action((email: string) => withInstallation(program, (context) => makePasswordLink(context, { email })));
  accounts
    .command('reset-second-factor')
    .description('Remove the second factors of a user who lost them; the password stays')
    .argument('<email>')
    .action((email: string) => withInstallation(program, (context) => resetSecondFactor(context, { email })));
}

async function resetSecondFactor({ database, clock }: CommandContext, { email }: { email: string }): Promise<void> {
  const account = await findAccountByEmail(database, email);
  if (!account)
    throw new StartError('SETTING_INVALID', 'There is no account with this address; see: carillon accounts list.');
  await resetFactors({ database, clock }, { actor: commandLine, id: account.id }).catch((error: unknown) => {
    if (!(error instanceof ServiceError) || error.code !== 'NOT_FOUND') throw error;
    throw new StartError('SETTING_INVALID', `${account.email} has no second factor.`);
  });
  process.stdout.write(`The second factors of ${account.email} are removed, and all sessions have ended.\n`);
}

async function listAccounts({ database, clock }: CommandContext, options: { json?: true }): Promise<void> {
  const { accounts } = await listAccountsAndInvitations({ database, clock });
  printTable(
    ['ID', 'E-MAIL', 'NAME', 'ROLES', 'SECOND FACTOR', 'LAST SIGNED IN', 'STATE'],
    accounts.map((account) => [
      account.id,
      account.email,
      account.name,
      describeRoles(account),
      account.hasSecondFactor ? 'yes' : 'no',
      account.signedInAt?.toISOString() ?? 'never',
      account.disabledAt ? 'disabled' : 'active',
    ]),
    options,
  );
  if (accounts.length === maxAccountsListed)
    process.stderr.write(`At most the oldest ${maxAccountsListed} accounts are listed.\n`);
}

/** Returns the roles as text: `analyst, developer@shop-1` for one in all workspaces and one in the workspace `shop-1`. */
function describeRoles(account: Account): string {
  const { installation, workspaces } = accessOf(account);
  const inWorkspaces = Object.entries(workspaces).map(([id, roles]) => `${roles.join('+')}@${id}`);
  return [...installation, ...inWorkspaces].join(', ') || 'none';
}

async function makeFirstOwnerLink(context: CommandContext): Promise<void> {
  const { database, clock } = context;
  const link = await createStartLink({ database, clock, isSandbox: false });
  if (!link)
    throw new StartError(
      'SETTING_INVALID',
      'An owner exists already. For a forgotten password, run: carillon accounts password-link <email>.',
    );
  const address = await formatOneTimeAddress(context, `/console/#first-owner=${link.code}`);
  process.stdout.write(`Open     ${address}\nUntil    ${link.expiresAt.toISOString()}, once\n`);
}

async function makePasswordLink(context: CommandContext, { email }: { email: string }): Promise<void> {
  const { database, clock } = context;
  const account = await findAccountByEmail(database, email);
  if (!account || account.disabledAt)
    throw new StartError(
      'SETTING_INVALID',
      'There is no account with this address that can sign in; see: carillon accounts list.',
    );
  const { code, expiresAt } = await createPasswordLink({ database, clock }, { actor: commandLine, id: account.id });
  const address = await formatOneTimeAddress(context, `/console/#new-password=${code}`);
  process.stdout.write(`Account  ${account.email}\nOpen     ${address}\nUntil    ${expiresAt.toISOString()}, once\n`);
}
