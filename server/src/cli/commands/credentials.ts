import { readFile } from 'node:fs/promises';
import { Argument, Option } from 'commander';
import type { Command } from 'commander';
import { checkCredential, connectCredential, listConnected, removeCredential } from '../../app/credentials.ts';
import type { CredentialDependencies } from '../../app/credentials.ts';
import { apnsEnvironments, defaultAppId } from '../../domain/apps.ts';
import type { ApnsEnvironment } from '../../domain/apps.ts';
import type { GivenKey, ProviderName } from '../../domain/delivery/providers.ts';
import { providerNames } from '../../domain/delivery/providers.ts';
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
  const credentials = program.command('credentials').description("A workspace's own credentials of the providers");
  const set = credentials.command('set').description('Try a credential with its provider, then store it');
  registerSet(program, set);
  registerSetHms(program, set);
  credentials
    .command('list')
    .description('List what is stored, without secrets')
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
    .option('--while-sending', 'remove it even if sends need it; they are paused')
    .option(...appOption)
    .option(...workspaceOption)
    .action((provider: ProviderName, options: Workspace & OfApp & { whileSending?: boolean }) =>
      withInstallation(program, (context) => credentialsCommand.remove(context, { provider, ...options })),
    );
}

const uncheckedOption = ['--unchecked', 'store it although the provider could not be asked'] as const;
const appOption = ['--app <id>', 'of which app; default: the default app of the platform'] as const;

function registerSet(program: Command, set: Command): void {
  set
    .command('fcm')
    .description('A service account of a Firebase project')
    .requiredOption('--file <path>', 'key file (JSON)')
    .option(...uncheckedOption)
    .option(...appOption)
    .option(...workspaceOption)
    .action((options: SetFcmOptions) =>
      withInstallation(program, (context) => credentialsCommand.setFcm(context, options)),
    );
  set
    .command('apns')
    .description("A key of Apple's push service")
    .requiredOption('--file <path>', 'key file (.p8)')
    .requiredOption('--team <id>', 'team id')
    .requiredOption('--key <id>', 'key id')
    .option('--topic <bundle>', 'bundle id of the app; default with --app: its identifier')
    .addOption(
      new Option('--environment <name>', 'which of the two services; default: that of --app, or production').choices(
        apnsEnvironments,
      ),
    )
    .option(...uncheckedOption)
    .option(...appOption)
    .option(...workspaceOption)
    .action((options: SetApnsOptions) =>
      withInstallation(program, (context) => credentialsCommand.setApns(context, options)),
    );
  set
    .command('webpush')
    .description('VAPID keys; without keys, another contact keeps the pair in use, and the first one makes a pair')
    .requiredOption('--subject <contact>', 'mailto: or https: contact on the internet')
    .option('--public-key <text>', 'base64url, 65 bytes')
    .option('--private-key-file <path>', 'file with the base64url of 32 bytes')
    .option('--in-place-of <text>', 'first 8 characters of the public key in use, whose browsers are lost')
    .option(...appOption)
    .option(...workspaceOption)
    .action((options: SetWebPushOptions) =>
      withInstallation(program, (context) => credentialsCommand.setWebPush(context, options)),
    );
}

function registerSetHms(program: Command, set: Command): void {
  set
    .command('hms')
    .description('An OAuth client of Huawei Push Kit, of a project or an app of AppGallery Connect')
    .requiredOption('--client-id <number>', 'client id')
    .requiredOption('--secret-file <path>', 'file with the client secret')
    .option('--project <number>', 'id of the project')
    .option('--huawei-app <number>', 'or id of the app')
    .option(...uncheckedOption)
    .option(...appOption)
    .option(...workspaceOption)
    .action((options: SetHmsOptions) =>
      withInstallation(program, (context) => credentialsCommand.setHms(context, options)),
    );
}

type Json = { json?: true };
type Workspace = { workspace?: string };
/** Stores it although the provider could not be reached. */
type Unchecked = { unchecked?: boolean };

type OfApp = { app?: string };

type SetFcmOptions = Workspace & OfApp & Unchecked & { file: string };
type SetApnsOptions = Workspace &
  OfApp &
  Unchecked & { file: string; team: string; key: string; topic?: string; environment?: ApnsEnvironment };
type SetHmsOptions = Workspace &
  OfApp &
  Unchecked & { clientId: string; secretFile: string; project?: string; huaweiApp?: string };
type SetWebPushOptions = Workspace &
  OfApp & { subject: string; publicKey?: string; privateKeyFile?: string; inPlaceOf?: string };

const credentialsCommand = {
  async setFcm(context: CommandContext, options: SetFcmOptions): Promise<void> {
    await save(context, {
      ...options,
      given: { provider: 'fcm', keyFile: await readFile(await requireFile(options.file), 'utf8') },
    });
  },

  async setApns(context: CommandContext, options: SetApnsOptions): Promise<void> {
    const { team: teamId, key: keyId } = options;
    const app = options.app === undefined ? undefined : await findIosApp(context, options);
    const { topic = app?.identifier, environment = app?.environment ?? 'production' } = options;
    if (topic === undefined)
      throw new StartError('SETTING_INVALID', 'Give --topic, or the --app whose bundle id it is.');
    const privateKey = await readFile(await requireFile(options.file), 'utf8');
    await save(context, { ...options, given: { provider: 'apns', privateKey, teamId, keyId, topic, environment } });
  },

  async setWebPush(context: CommandContext, options: SetWebPushOptions): Promise<void> {
    const { subject, publicKey, privateKeyFile } = options;
    if ((publicKey === undefined) !== (privateKeyFile === undefined))
      throw new StartError('SETTING_INVALID', 'Give --public-key and --private-key-file, or neither to make a pair.');
    const keys =
      publicKey === undefined
        ? undefined
        : { publicKey, privateKey: (await readFile(await requireFile(privateKeyFile!), 'utf8')).trim() };
    const { summary } = await save(context, { ...options, given: { provider: 'webpush', subject, keys } });
    process.stdout.write(`Public key for subscribing browsers: ${summary.publicKey}\n`);
  },

  async setHms(context: CommandContext, options: SetHmsOptions): Promise<void> {
    const { clientId, secretFile, project: projectId, huaweiApp: huaweiAppId } = options;
    const clientSecret = (await readFile(await requireFile(secretFile), 'utf8')).trim();
    await save(context, { ...options, given: { provider: 'hms', clientId, clientSecret, projectId, huaweiAppId } });
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
    if (refused.length > 0) throw new StartError('SETTING_INVALID', `Refused: ${refused.join(', ')}.`);
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
        : 'the app takes that of the default app now, if there is one';
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

async function findIosApp({ database }: CommandContext, { workspace, app }: Workspace & OfApp) {
  const apps = await listApps(database, await findWorkspaceToUse(database, workspace));
  return apps.find(({ platform, appId }) => platform === 'IOS' && appId === app);
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
