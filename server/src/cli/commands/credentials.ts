import { readFile } from 'node:fs/promises';
import { Argument, Option } from 'commander';
import type { Command } from 'commander';
import { checkCredential, connectCredential, listConnected, removeCredential } from '../../app/credentials.ts';
import type { CredentialDependencies } from '../../app/credentials.ts';
import { defaultAppId } from '../../domain/apps.ts';
import type { App } from '../../domain/apps.ts';
import type { GivenKey, ProviderName } from '../../domain/delivery/providers.ts';
import { providerNames, providers } from '../../domain/delivery/providers.ts';
import type { ChoiceField, KeyFields, PairField, TextField } from '../../domain/providers/key-fields.ts';
import { makeShareProviderToken } from '../../engine/credentials.ts';
import { makeAskProvider } from '../../providers/check-credential.ts';
import { StartError } from '../../start/start-errors.ts';
import { listApps } from '../../storage/apps.ts';
import { commandLine, withInstallation, findWorkspaceToUse } from '../command-context.ts';
import type { CommandContext } from '../command-context.ts';
import { jsonOption, workspaceOption, requireFile } from '../command-options.ts';
import { findProviderEndpoints } from '../find-provider-endpoints.ts';
import { printJsonLine } from '../print-table.ts';

/**
 * `carillon credentials`: a workspace's own provider credentials. A new one is checked with the provider before it replaces the
 * old one; workers use it within seconds.
 */
export function registerCredentials(program: Command): void {
  const credentials = program.command('credentials').description("A workspace's provider credentials");
  const set = credentials.command('set').description('Check a credential with its provider, then store it');
  for (const provider of providerNames) registerSet(program, { set, provider });
  credentials
    .command('list')
    .description('List the stored credentials, without secrets')
    .option(...jsonOption)
    .option(...workspaceOption)
    .action((options: Workspace & Json) =>
      withInstallation(program, (context) => credentialsCommand.list(context, options)),
    );
  credentials
    .command('check')
    .description('Check with the providers whether they still accept the stored credentials')
    .option(...jsonOption)
    .option(...workspaceOption)
    .action((options: Workspace & Json) =>
      withInstallation(program, (context) => credentialsCommand.check(context, options)),
    );
  credentials
    .command('remove')
    .description('Remove a credential')
    .addArgument(new Argument('<provider>').choices(providerNames))
    .option('--while-sending', 'remove it even if runs need it; they are paused')
    .option(...appOption)
    .option(...workspaceOption)
    .action((provider: ProviderName, options: Workspace & OfApp & { whileSending?: boolean }) =>
      withInstallation(program, (context) => credentialsCommand.remove(context, { provider, ...options })),
    );
}

const uncheckedOption = ['--unchecked', 'store it even if the provider cannot be reached'] as const;
const appOption = ['--app <id>', 'id of the app; default: the default app of the platform'] as const;

/** Adds `set <provider>` with an option for each field of the provider's key. */
function registerSet(program: Command, { set, provider }: { set: Command; provider: ProviderName }): void {
  const { description, fields, subscribedWith, checkAlone } = providers[provider].key;
  const command = set.command(provider).description(description);
  for (const field of optionsOf(fields)) {
    const { flags, description: words, fromApp } = field.option;
    const option = new Option(flags, words).makeOptionMandatory(field.isRequired && fromApp === undefined);
    command.addOption(field.choices ? option.choices(field.choices) : option);
  }
  if (subscribedWith) command.option(subscribedWith.option.flags, subscribedWith.option.description);
  // The provider has no accounts, so it is never asked.
  if (!checkAlone) command.option(...uncheckedOption);
  command
    .option(...appOption)
    .option(...workspaceOption)
    .action((options: SetOptions) =>
      withInstallation(program, (context) => credentialsCommand.set(context, { provider, options })),
    );
}

type FieldOption = TextField['option'] & { name: string };
type OptionOfField = { option: FieldOption; isRequired: boolean; choices?: string[] };

function optionsOf(fields: KeyFields): OptionOfField[] {
  return Object.entries(fields).flatMap(([name, field]): OptionOfField[] => {
    if (field.kind === 'pair') return optionsOf(field.fields).map((inner) => ({ ...inner, isRequired: false }));
    const isRequired = !('isOptional' in field);
    const choices = field.kind === 'choice' ? { choices: Object.keys(field.choices) } : {};
    return [{ option: { ...field.option, name }, isRequired, ...choices }];
  });
}

type Json = { json?: true };
type Workspace = { workspace?: string };
/** Stores it although the provider could not be reached. */
type Unchecked = { unchecked?: boolean };

type OfApp = { app?: string };

type SetOptions = Workspace & OfApp & Unchecked & { inPlaceOf?: string } & Readonly<Record<string, unknown>>;

const credentialsCommand = {
  async set(context: CommandContext, { provider, options }: { provider: ProviderName; options: SetOptions }) {
    const { fields, afterwards } = providers[provider].key;
    const app = options.app === undefined ? undefined : await findApp(context, { provider, ...options });
    const given = { provider, ...(await readFields(fields, { options, app })) } as GivenKey;
    const { summary } = await save(context, { ...options, given });
    if (afterwards) process.stdout.write(`${afterwards(summary)}\n`);
  },

  async list(context: CommandContext, options: Workspace & Json): Promise<void> {
    const workspaceId = await findWorkspaceToUse(context.database, options.workspace);
    for (const { provider, appId: app, connected } of await listConnected(context, workspaceId)) {
      if (options.json) {
        printJsonLine({ provider, app, ...connected });
        continue;
      }
      const { isSimulated, summary, updatedAt, check } = connected;
      const shown = Object.entries(summary).map(([name, value]) => `${name} ${value}`);
      const checked = check ? `${check.verdict.toLowerCase()} ${check.at.toISOString()}` : 'never checked';
      process.stdout.write(
        `${nameOf({ provider, app })} ${isSimulated ? 'simulated' : 'real     '} ${updatedAt.toISOString()}  ${shown.join(', ')}  (${checked})\n`,
      );
    }
  },

  /** Checks each connected credential. Exits with code 2 when a provider rejects one, so that scripts notice. */
  async check(context: CommandContext, options: Workspace & Json): Promise<void> {
    const workspaceId = await findWorkspaceToUse(context.database, options.workspace);
    const deps = await composeCredentials(context);
    const refused: string[] = [];
    for (const { provider, appId: app } of await listConnected(deps, workspaceId)) {
      const { check } = await checkCredential(deps, { actor: commandLine, workspaceId, provider, appId: app });
      // The result of the proxy tunnel that the check used.
      const way = context.proxy && { proxy: context.proxy.state() };
      if (options.json) printJsonLine({ provider, app, ...check, ...way });
      else process.stdout.write(`${nameOf({ provider, app })} ${describe(check!)}\n`);
      if (check!.verdict === 'REFUSED') refused.push(nameOf({ provider, app }).trimEnd());
    }
    if (context.proxy && !options.json) process.stdout.write(`outgoing proxy: ${context.proxy.state()}\n`);
    if (refused.length > 0) throw new StartError('SETTING_INVALID', `Rejected: ${refused.join(', ')}.`);
  },

  async remove(
    context: CommandContext,
    options: Workspace & OfApp & { provider: ProviderName; whileSending?: boolean },
  ): Promise<void> {
    const { provider, app: appId = defaultAppId } = options;
    const workspaceId = await findWorkspaceToUse(context.database, options.workspace);
    const whileSending = options.whileSending === true ? 'pause' : 'refuse';
    await removeCredential(await composeCredentials(context), {
      actor: commandLine,
      workspaceId,
      provider,
      appId,
      whileSending,
    });
    const since =
      appId === defaultAppId
        ? 'runs that need it will pause'
        : 'the app now uses the credential of the default app, if there is one';
    process.stdout.write(`${nameOf({ provider, app: appId }).trimEnd()} removed; ${since}.\n`);
  },
};

type Saving = Workspace & OfApp & Unchecked & { given: GivenKey; inPlaceOf?: string };

async function save(context: CommandContext, { given, workspace, app = defaultAppId, unchecked, inPlaceOf }: Saving) {
  const workspaceId = await findWorkspaceToUse(context.database, workspace);
  const deps = await composeCredentials(context);
  const connected = await connectCredential(deps, {
    actor: commandLine,
    workspaceId,
    given,
    appId: app,
    unasked: unchecked === true ? 'store' : 'refuse',
    inPlaceOf,
  });
  process.stdout.write(
    `${nameOf({ provider: given.provider, app }).trimEnd()} stored for ${workspaceId}: ${describe(connected.check!)}\n`,
  );
  return connected;
}

type Wanted = Workspace & OfApp & { provider: ProviderName };

async function findApp({ database }: CommandContext, { provider, workspace, app }: Wanted): Promise<App | undefined> {
  const apps = await listApps(database, await findWorkspaceToUse(database, workspace));
  return apps.find(({ platform, appId }) => providers[provider].platforms.includes(platform) && appId === app);
}

type Given = { options: SetOptions; app: App | undefined };

/** Returns the key that the options give, read from files where they name some. */
async function readFields(fields: KeyFields, given: Given): Promise<Record<string, unknown>> {
  const key: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(fields)) {
    const value = field.kind === 'pair' ? await readPair(field, given) : await readField(field, given);
    if (value !== undefined) key[name] = value;
  }
  return key;
}

async function readPair({ fields, incomplete }: PairField, given: Given): Promise<object | undefined> {
  const names = Object.values(fields).map(({ option }) => new Option(option.flags).attributeName());
  const count = names.filter((name) => given.options[name] !== undefined).length;
  if (count > 0 && count < names.length) throw new StartError('SETTING_INVALID', incomplete);
  return count === 0 ? undefined : await readFields(fields, given);
}

async function readField(field: TextField | ChoiceField, { options, app }: Given): Promise<string | undefined> {
  const { flags, fromApp, otherwise, missing } = field.option;
  const given = options[new Option(flags).attributeName()] as string | undefined;
  const value = given ?? (fromApp && app?.[fromApp]) ?? otherwise;
  if (value === undefined && missing !== undefined) throw new StartError('SETTING_INVALID', missing);
  if (value === undefined || (field.kind !== 'file' && field.kind !== 'secret')) return value;
  const text = await readFile(await requireFile(value), 'utf8');
  return field.kind === 'secret' ? text.trim() : text;
}

const nameOf = ({ provider, app }: { provider: ProviderName; app: string }): string =>
  app === defaultAppId ? provider.padEnd(8) : `${provider} ${app}`.padEnd(8);

/** Returns the dependencies of the console's credential use cases. */
async function composeCredentials(context: CommandContext): Promise<CredentialDependencies> {
  const { database, clock, log, proxy, encryption } = context;
  const ask = makeAskProvider({
    clock,
    log,
    allowedNetworks: [],
    proxy,
    endpoints: await findProviderEndpoints(database),
    shareToken: makeShareProviderToken({ database, encryption, log }),
  });
  // A running node's simulators see the change at the next start; real providers need no notification.
  return { database, clock, encryption, ask, isSandbox: false, onChanged: async () => {} };
}

function describe({ verdict, words, advice }: { verdict: string; words: string; advice: string }): string {
  return verdict === 'ACCEPTED'
    ? `taken. ${words}`
    : `${verdict.toLowerCase()}: ${words.replace(/\.$/, '')}. ${advice}`;
}
