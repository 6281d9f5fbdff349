import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import { createAgentToken, revokeAgentToken } from '../../app/accounts/agent-tokens.ts';
import { ServiceError } from '../../domain/errors.ts';
import { maxAgentTokenDays } from '../../domain/limits/access.ts';
import { StartError } from '../../start/start-errors.ts';
import { listAgentTokens } from '../../storage/accounts/agent-tokens.ts';
import { findInstallation } from '../../storage/installation/installation.ts';
import { commandLine, withInstallation } from '../command-context.ts';
import type { CommandContext } from '../command-context.ts';
import { jsonLineOption, jsonOption } from '../command-options.ts';
import { printJsonLine, printTable } from '../print-table.ts';

type CreateOptions = { account?: string; name: string; days: number; mayPropose?: true; json?: true };

/** `carillon agent-tokens`: tokens with which agents read, and may propose, with the rights of an account. */
export function registerAgentTokens(program: Command): void {
  const tokens = program
    .command('agent-tokens')
    .description('Tokens for agents, which read and propose with the rights of an account');
  tokens
    .command('create')
    .description('Create a token with the rights of an account; it is shown once')
    .option('--account <email>', 'the account whose rights the token has; a sandbox needs none')
    .option('--name <name>', 'where the token is used', 'Agent')
    .option('--days <days>', `days until the token expires, 1 to ${maxAgentTokenDays}`, parseDays, 90)
    .option('--may-propose', 'the agent may also change drafts and propose to send them; a person decides')
    .option(...jsonLineOption)
    .action((options: CreateOptions) => withInstallation(program, (context) => printNewToken(context, options)));
  tokens
    .command('list')
    .description('List the tokens that have not expired, without their secrets')
    .option(...jsonOption)
    .action((options: { json?: true }) => withInstallation(program, (context) => printTokens(context, options)));
  tokens
    .command('revoke')
    .description('End a token at once')
    .argument('<id>')
    .action((id: string) => withInstallation(program, (context) => endToken(context, id)));
}

function parseDays(text: string): number {
  const days = Number(text);
  if (!/^[1-9]\d{0,2}$/.test(text) || days > maxAgentTokenDays)
    throw new InvalidArgumentError(`must be a whole number from 1 to ${maxAgentTokenDays}`);
  return days;
}

async function printNewToken(
  { database, clock }: CommandContext,
  { account: email, name, days, mayPropose, json }: CreateOptions,
): Promise<void> {
  const installation = await findInstallation(database);
  const isSandbox = installation !== undefined && installation.demoWorkspaceId !== null;
  const asked = { actor: commandLine, email, name, days, mayPropose: mayPropose ?? false };
  const made = await createAgentToken({ database, clock, isSandbox }, asked);
  if (json) return printJsonLine(made);
  process.stdout.write(`Id       ${made.id}\nToken    ${made.token}\nUntil    ${made.expiresAt.toISOString()}\n`);
}

async function printTokens({ database, clock }: CommandContext, options: { json?: true }): Promise<void> {
  const tokens = await listAgentTokens(database, { at: clock.realNow() });
  printTable(
    ['ID', 'NAME', 'ACCOUNT', 'MAY', 'CREATED', 'EXPIRES', 'LAST USED'],
    tokens.map(({ id, name, email, mayPropose, createdAt, expiresAt, usedAt }) => [
      ...[id, name, email ?? 'owner of the sandbox', mayPropose ? 'read and propose' : 'read'],
      ...[createdAt.toISOString(), expiresAt.toISOString(), usedAt?.toISOString() ?? 'never'],
    ]),
    options,
  );
}

async function endToken({ database, clock }: CommandContext, id: string): Promise<void> {
  await revokeAgentToken({ database, clock }, { actor: commandLine, id }).catch((error: unknown) => {
    if (!(error instanceof ServiceError) || error.code !== 'NOT_FOUND') throw error;
    throw new StartError('SETTING_INVALID', `There is no token ${id}; see: carillon agent-tokens list.`);
  });
  process.stdout.write(`Token ${id} is revoked.\n`);
}
