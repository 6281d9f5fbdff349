import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import { archiveKey, issueKey, rotateKey } from '../../app/keys/keys.ts';
import { keyKinds } from '../../domain/access/keys.ts';
import type { KeyKind } from '../../domain/access/keys.ts';
import { ServiceError } from '../../domain/errors.ts';
import { StartError } from '../../start/start-errors.ts';
import { listApiKeys } from '../../storage/keys/api-keys.ts';
import type { ApiKey } from '../../storage/keys/api-keys.ts';
import { commandLine, withInstallation, findWorkspaceToUse } from '../command-context.ts';
import type { CommandContext } from '../command-context.ts';
import { jsonLineOption, jsonOption, workspaceOption } from '../command-options.ts';
import { nothing, printJsonLine, printTable } from '../print-table.ts';

/** `carillon keys`: API keys. */
export function registerKeys(program: Command): void {
  const keys = program.command('keys').description('API keys');
  keys
    .command('list')
    .description('List the API keys of a workspace, without their secrets')
    .option(...jsonOption)
    .option(...workspaceOption)
    .action((options: ListKeysOptions) => withInstallation(program, (context) => listKeys(context, options)));
  keys
    .command('create')
    .description('Create an API key; its secret is shown once')
    .addOption(new Option('--kind <kind>', 'API that the key is for').choices(keyKinds).makeOptionMandatory())
    .option('--name <name>', 'up to 100 characters', 'Created on the command line')
    .option(...jsonLineOption)
    .option(...workspaceOption)
    .action((options: CreateKeyOptions) => withInstallation(program, (context) => printNewKey(context, options)));
  keys
    .command('rotate')
    .description('Create the successor of an API key; the old key stays valid for a while')
    .argument('<id>')
    .option('--overlap-hours <hours>', 'hours for which the old key stays valid, 0 to 720', parseOverlap, 24)
    .option(...jsonLineOption)
    .option(...workspaceOption)
    .action((id: string, options: { overlapHours: number; workspace?: string; json?: true }) =>
      withInstallation(program, (context) => printSuccessor(context, { id, ...options })),
    );
  keys
    .command('revoke')
    .description('Revoke an API key permanently, with all of its tokens')
    .argument('<id>')
    .option(...workspaceOption)
    .action((id: string, options: { workspace?: string }) =>
      withInstallation(program, (context) => revokeKey(context, { id, ...options })),
    );
}

type ListKeysOptions = { workspace?: string; json?: true };
type CreateKeyOptions = {
  kind: KeyKind;
  name: string;
  workspace?: string;
  json?: true;
};
type KeyOptions = { id: string; workspace?: string; json?: true };

async function listKeys({ database, clock }: CommandContext, options: ListKeysOptions): Promise<void> {
  const workspaceId = await findWorkspaceToUse(database, options.workspace);
  const keys = await listApiKeys(database, workspaceId);
  printTable(
    ['ID', 'KIND', 'STATE', 'ENDS WITH', 'CREATED', 'LAST USED', 'NAME'],
    keys.map((key) => [
      key.id,
      key.kind,
      stateOf(key, clock.now()),
      key.secretHint,
      key.createdAt.toISOString(),
      key.lastUsedAt?.toISOString() ?? nothing,
      key.name,
    ]),
    options,
  );
}

function stateOf({ archivedAt, endsAt }: ApiKey, at: Date): string {
  if (archivedAt) return 'revoked';
  if (endsAt === null) return 'active';
  return endsAt > at ? `until ${endsAt.toISOString()}` : 'revoked';
}

/** Prints the new secret, which is shown only once. */
async function printNewKey(context: CommandContext, options: CreateKeyOptions): Promise<void> {
  const workspaceId = await findWorkspaceToUse(context.database, options.workspace);
  const { key, secret } = await issueKey(context, {
    actor: commandLine,
    workspaceId,
    kind: options.kind,
    name: options.name,
  });
  if (options.json) return printJsonLine({ workspaceId, id: key.id, kind: key.kind, secret });
  process.stdout.write(`Workspace  ${workspaceId}\nKey id     ${key.id}\nSecret     ${secret}\n`);
}

async function printSuccessor(context: CommandContext, options: KeyOptions & { overlapHours: number }): Promise<void> {
  const workspaceId = await findWorkspaceToUse(context.database, options.workspace);
  const { id: keyId, overlapHours } = options;
  const { key, secret, endsAt } = await ofKey(keyId, () =>
    rotateKey(context, { actor: commandLine, workspaceId, keyId, overlapHours }),
  );
  if (options.json) return printJsonLine({ workspaceId, id: key.id, secret, oldKeyEndsAt: endsAt });
  process.stdout.write(`Workspace  ${workspaceId}\nKey id     ${key.id}\nSecret     ${secret}\n`);
  process.stdout.write(`The old key is valid until ${endsAt.toISOString()}.\n`);
}

async function revokeKey(context: CommandContext, options: KeyOptions): Promise<void> {
  const workspaceId = await findWorkspaceToUse(context.database, options.workspace);
  await ofKey(options.id, () => archiveKey(context, { actor: commandLine, workspaceId, keyId: options.id }));
  process.stdout.write(`Key id     ${options.id}\nThe key and all of its tokens are revoked.\n`);
}

async function ofKey<Result>(id: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'NOT_FOUND') throw error;
    throw new StartError(
      'SETTING_INVALID',
      `There is no key ${id}, or it was revoked; see: carillon keys list.`,
      error,
    );
  }
}

/** @throws InvalidArgumentError */
function parseOverlap(text: string): number {
  if (!/^\d{1,3}$/.test(text) || Number(text) > 720)
    throw new InvalidArgumentError('must be a whole number from 0 to 720');
  return Number(text);
}
