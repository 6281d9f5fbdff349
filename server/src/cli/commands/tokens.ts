import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import {
  endAllTokens,
  readTokenSecrets,
  retireTokenSecret,
  rotateTokenSecret,
} from '../../app/tokens/token-secrets.ts';
import { ServiceError } from '../../domain/errors.ts';
import { StartError } from '../../start/start-errors.ts';
import { commandLine, withInstallation } from '../command-context.ts';
import type { CommandContext } from '../command-context.ts';
import { jsonLineOption } from '../command-options.ts';
import { nothing, printJsonLine, printTable } from '../print-table.ts';

/** `carillon tokens`: the secrets that sign access and refresh tokens. */
export function registerTokens(program: Command): void {
  const tokens = program.command('tokens').description('The secrets that sign access and refresh tokens');
  tokens
    .command('status')
    .description('Show the secrets, and which of them issues')
    .option(...jsonLineOption)
    .action((options: { json?: true }) => withInstallation(program, (context) => printStatus(context, options)));
  tokens
    .command('rotate-secret')
    .description('Issue under a new secret from now on; tokens under the previous one stay valid')
    .action(() => withInstallation(program, rotate));
  tokens
    .command('retire-secret')
    .description('End every token under a secret that may have leaked')
    .argument('<number>', 'as in tokens status', parseNumber)
    .action((number: number) => withInstallation(program, (context) => retire(context, number)));
  tokens
    .command('end-all')
    .description("End every token, for example after a restore by PostgreSQL's own tools")
    .action(() => withInstallation(program, endAll));
}

async function printStatus(context: CommandContext, { json }: { json?: true }): Promise<void> {
  const { epoch, secrets } = await readTokenSecrets(context);
  if (json) return printJsonLine({ epoch, secrets });
  process.stdout.write(`Epoch  ${epoch}\n\n`);
  printTable(
    ['SECRET', 'STATE', 'CREATED', 'SUCCEEDED', 'RETIRED'],
    secrets.map(({ number, state, createdAt, succeededAt, retiredAt }) => [
      String(number),
      state,
      createdAt.toISOString(),
      succeededAt?.toISOString() ?? nothing,
      retiredAt?.toISOString() ?? nothing,
    ]),
  );
}

async function rotate(context: CommandContext): Promise<void> {
  const number = await rotateTokenSecret(context, { actor: commandLine });
  process.stdout.write(`Secret ${number} issues tokens from now on. Tokens under the previous secret stay valid.\n`);
}

async function retire(context: CommandContext, number: number): Promise<void> {
  try {
    const successor = await retireTokenSecret(context, { actor: commandLine, number });
    process.stdout.write(`Secret ${number} is retired. Its tokens end within a second on every node.\n`);
    if (successor !== undefined) process.stdout.write(`Secret ${successor} issues tokens from now on.\n`);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'NOT_FOUND') throw error;
    const advice = `There is no secret ${number}, or it is retired; see: carillon tokens status.`;
    throw new StartError('SETTING_INVALID', advice, error);
  }
}

async function endAll(context: CommandContext): Promise<void> {
  const epoch = await endAllTokens(context, { actor: commandLine });
  process.stdout.write(`Every token ends within a second on every node. The new epoch is ${epoch}.\n`);
}

/** @throws InvalidArgumentError */
function parseNumber(text: string): number {
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new InvalidArgumentError('must be the number of a secret');
  return Number(text);
}
