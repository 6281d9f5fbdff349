/** `carillon`: the command line of an installation. Each command talks to the database of a running or resting node. */
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { makeClock } from './clock.ts';
import { readConfig } from './config.ts';
import { accountsCommand } from './cli/accounts-command.ts';
import { callbacksCommand } from './cli/callbacks-command.ts';
import { campaignsCommand } from './cli/campaigns-command.ts';
import { credentialsCommand } from './cli/credentials-command.ts';
import type { SetApnsOptions, SetFcmOptions, SetWebPushOptions } from './cli/credentials-command.ts';
import { createKeyCommand } from './cli/create-key-command.ts';
import { erasuresCommand } from './cli/erasures-command.ts';
import type { ListErasuresOptions } from './cli/erasures-command.ts';
import { generateUsersCommand } from './cli/generate-users-command.ts';
import { importCampaignsCommand } from './cli/import-campaigns-command.ts';
import { explainCommand } from './cli/explain-command.ts';
import type { ExplainOptions } from './cli/explain-command.ts';
import { exportCommand } from './cli/export-command.ts';
import type { ExportOptions } from './cli/export-command.ts';
import type { ExportSubject } from './app/export/export-rows.ts';
import { importCommand } from './cli/import-command.ts';
import type { ImportOptions } from './cli/import-command.ts';
import { printConfigCommand } from './cli/print-config-command.ts';
import { workspacesCommand } from './cli/workspaces-command.ts';
import type { ChangeWorkspaceOptions, CreateWorkspaceOptions } from './cli/workspaces-command.ts';
import { resetSandboxCommand } from './cli/reset-sandbox-command.ts';
import { segmentsCommand } from './cli/segments-command.ts';
import type { CreateSegmentOptions } from './cli/segments-command.ts';
import { ServiceError } from './domain/errors.ts';
import { followDatabaseClock } from './engine/housekeeping/follow-database-clock.ts';
import { makeLog } from './log.ts';
import { openInstallation } from './open-installation.ts';
import type { OpenInstallation } from './open-installation.ts';
import { exitCodes, StartError, toStartError } from './start-errors.ts';

const program = new Command('carillon').description('Carillon: an open, self-hosted push messaging server');
program.option('--data-dir <folder>', 'folder of the embedded database');
// Help ends with 0; an option that is not usable with its documented code, not with commander's own 1.
program.exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : exitCodes.SETTING_INVALID.code));

const importing = program
  .command('import')
  .description('Load a file of JSON lines or CSV (.gz too); a call that was broken off goes on where it was')
  .argument('<file>')
  .addOption(new Option('--kind <kind>', 'what a row is').choices(['users', 'devices', 'events']).default('users'))
  .option('--again', 'load events again that were loaded before')
  .option('--workspace <id>', 'workspace to load into; default: the demo workspace')
  .action((file: string, options: Omit<ImportOptions, 'file'>) =>
    withInstallation((context) => importCommand(context, { file, ...options })),
  );
importing
  .command('campaigns')
  .description('Load campaigns of another service as records, which are found and never sent')
  .argument('<file>')
  .option('--workspace <id>', 'workspace to load into; default: the demo workspace')
  .action((file: string, _options: object, command: Command) => {
    // The command above has the same option and may have taken it.
    const { workspace } = command.optsWithGlobals<{ workspace?: string }>();
    const options = workspace === undefined ? { file } : { file, workspace };
    return withInstallation((context) => importCampaignsCommand(context, options));
  });

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
  .option('--workspace <id>', 'workspace; default: the demo workspace')
  .action((options: { kind: 'oauth' | 'data' | 'push' | 'campaigns'; name: string; workspace?: string }) =>
    withInstallation((context) => createKeyCommand(context, options)),
  );

const workspaceOption = ['--workspace <id>', 'workspace; default: the demo workspace'] as const;

const exports = program.command('export').description('Write what a workspace has, as JSON lines or CSV');
function exportOption(command: Command): Command {
  return command
    .addOption(new Option('--format <format>', 'of the rows').choices(['ndjson', 'csv']).default('ndjson'))
    .option('--out <file>', 'file to write; default: standard output')
    .option(...workspaceOption);
}
const runExport = (subject: ExportSubject, options: ExportOptions): Promise<void> =>
  withInstallation((context) => exportCommand(context, { subject, options }));
for (const [kind, description] of [
  ['users', 'Users with their attributes'],
  ['devices', 'Devices with their states'],
  ['events', 'What users did'],
] as const) {
  exportOption(exports.command(kind).description(description)).action((options: ExportOptions) =>
    runExport({ kind }, options),
  );
}
exportOption(exports.command('segment').description('Customer ids of a segment').argument('<name>')).action(
  (name: string, options: ExportOptions) => runExport({ kind: 'segment', name }, options),
);
exportOption(
  exports
    .command('campaign')
    .description('The ledger of a campaign: one row per run and device')
    .argument('<id>')
    .addArgument(new Argument('<what>').choices(['ledger'])),
).action((campaignId: string, _what: 'ledger', options: ExportOptions) =>
  runExport({ kind: 'ledger', campaignId }, options),
);

const segments = program.command('segments').description('Sets of users');
segments
  .command('list')
  .description('List the segments, newest first')
  .option(...workspaceOption)
  .action((options: { workspace?: string }) => withInstallation((context) => segmentsCommand.list(context, options)));
segments
  .command('create')
  .description('Create a segment from a file here or at an address; a running node fills it')
  .requiredOption('--name <name>', 'name of the segment, not in use yet')
  .requiredOption('--attribute <name>', 'user attribute that the lines of the file are values of')
  .requiredOption('--type <type>', 'string or double')
  .requiredOption('--expiry-days <days>', 'archived after so many days, 1 to 3650')
  .option('--file <path>', 'file of one value a line, up to 150 MB')
  .option('--url <address>', 'address to download that file from')
  .option('--callback-url <address>', 'told when the segment is filled')
  .option(...workspaceOption)
  .action((options: CreateSegmentOptions) => withInstallation((context) => segmentsCommand.create(context, options)));
segments
  .command('show')
  .description('Show a segment, its operations, and the lines that the last one rejected')
  .argument('<name>')
  .option(...workspaceOption)
  .action((name: string, options: { workspace?: string }) =>
    withInstallation((context) => segmentsCommand.show(context, { name, ...options })),
  );

const callbacks = program.command('callbacks').description('Callbacks about file operations');
callbacks
  .command('list')
  .description('List the newest callbacks')
  .option(...workspaceOption)
  .action((options: { workspace?: string }) => withInstallation((context) => callbacksCommand.list(context, options)));
callbacks
  .command('resend')
  .description('Send a callback again that was delivered or given up')
  .argument('<id>')
  .option(...workspaceOption)
  .action((id: string, options: { workspace?: string }) =>
    withInstallation((context) => callbacksCommand.resend(context, { id, ...options })),
  );
callbacks
  .command('secret')
  .description('Show the secret that signs the callbacks of a workspace')
  .option(...workspaceOption)
  .action((options: { workspace?: string }) =>
    withInstallation((context) => callbacksCommand.secret(context, options)),
  );

const campaigns = program.command('campaigns').description('Campaigns and their schedules');
campaigns
  .command('list')
  .description('List the newest campaigns')
  .option(...workspaceOption)
  .action((options: { workspace?: string }) => withInstallation((context) => campaignsCommand.list(context, options)));
for (const [name, description] of [
  ['show', 'Show a campaign, its next moments and its last runs'],
  ['pause', 'Pause a campaign: it sends nothing until it is resumed'],
  ['resume', 'Resume a paused campaign with its next moment, or with the run it was sending'],
  ['stop', 'Stop a campaign for good: what is not sent yet is not sent any more'],
] as const) {
  campaigns
    .command(name)
    .description(description)
    .argument('<id>')
    .option(...workspaceOption)
    .action((id: string, options: { workspace?: string }) =>
      withInstallation((context) => campaignsCommand[name](context, { id, ...options })),
    );
}

const accounts = program.command('accounts').description('People who use the console');
accounts
  .command('list')
  .description('List the accounts with their roles')
  .action(() => withInstallation((context) => accountsCommand.list(context)));
accounts
  .command('password-link')
  .description('Make a link that sets a new password, for somebody who forgot it')
  .argument('<email>')
  .action((email: string) => withInstallation((context) => accountsCommand.passwordLink(context, { email })));

program
  .command('explain')
  .description('Explain why a person got a campaign or did not')
  .requiredOption('--campaign <id>', 'campaign')
  .requiredOption('--user <customer id>', 'person')
  .option('--run <id>', 'one run of the campaign; default: the newest 20')
  .option(...workspaceOption)
  .action((options: ExplainOptions) => withInstallation((context) => explainCommand(context, options)));

program
  .command('erasures')
  .description('Deletions of people')
  .command('list')
  .description('List the newest deletions with what each removed')
  .option('--customer <id>', 'those of one customer id')
  .option(...workspaceOption)
  .action((options: ListErasuresOptions) => withInstallation((context) => erasuresCommand.list(context, options)));

const workspaces = program.command('workspaces').description('Workspaces, the tenants of an installation');
workspaces
  .command('create')
  .description('Make an empty workspace')
  .requiredOption('--name <name>', 'up to 100 characters')
  .option('--id <id>', 'letters, digits, - and _; default: made for it')
  .option('--db-name <name>', 'database name (SVC-DBNAME); default: the id in lower case')
  .option('--time-zone <zone>', 'zone of campaign times that name none', 'UTC')
  .option('--data-center <dc>', 'one of 01 to 06 and 101', '01')
  .action((options: CreateWorkspaceOptions) =>
    withInstallation((context) => workspacesCommand.create(context, options)),
  );
const onOff = (flags: string, description: string): Option => new Option(flags, description).choices(['on', 'off']);
workspaces
  .command('set')
  .description('Change a workspace; what is not named stays')
  .argument('<id>')
  .option('--name <name>', 'up to 100 characters')
  .option('--time-zone <zone>', 'zone of campaign times that name none')
  .option('--devices-per-minute <count>', 'throttle of campaigns that name none; "none" for no throttle', parseThrottle)
  .option('--frequency-caps <rules>', 'messages a user may get, as 2/1d,5/7d; "none" for no cap')
  .option('--quiet-hours <from-to>', 'local times in which nothing is sent, as 22:00-08:00; "none" for none')
  .addOption(new Option('--quiet-mode <mode>', 'what falls into quiet hours').choices(['hold', 'drop']))
  .option('--minimum-delay <minutes>', 'between messages of different campaigns to a user; "none" for none')
  .option('--zone-attribute <name>', "user attribute that names the user's time zone")
  .addOption(onOff('--campaign-versioning <switch>', 'keep published revisions of a campaign (V5)'))
  .addOption(onOff('--v1-bare-array <switch>', 'answer V1 searches with the bare array'))
  .addOption(onOff('--secret-at-refresh <switch>', 'require the client secret when a token is refreshed'))
  .addOption(onOff('--signature-v2 <switch>', 'require the stronger push signature'))
  .action((id: string, options: ChangeWorkspaceOptions) =>
    withInstallation((context) => workspacesCommand.set(context, { id, ...options })),
  );
workspaces
  .command('show')
  .description('Show a workspace and what it asks of its campaigns')
  .argument('<id>')
  .action((id: string) => withInstallation((context) => workspacesCommand.show(context, { id })));
workspaces
  .command('list')
  .description('List the workspaces')
  .action(() => withInstallation((context) => workspacesCommand.list(context)));

const credentials = program.command('credentials').description("A workspace's own credentials of the providers");
const setCredential = credentials.command('set').description('Try a credential with its provider, then store it');
const uncheckedOption = ['--unchecked', 'store it although the provider could not be asked'] as const;
setCredential
  .command('fcm')
  .description('A service account of a Firebase project')
  .requiredOption('--file <path>', 'key file (JSON)')
  .option(...uncheckedOption)
  .option(...workspaceOption)
  .action((options: SetFcmOptions) => withInstallation((context) => credentialsCommand.setFcm(context, options)));
setCredential
  .command('apns')
  .description("A key of Apple's push service")
  .requiredOption('--file <path>', 'key file (.p8)')
  .requiredOption('--team <id>', 'team id')
  .requiredOption('--key <id>', 'key id')
  .requiredOption('--topic <bundle>', 'bundle id of the app')
  .addOption(
    new Option('--environment <name>', 'which of the two services')
      .choices(['production', 'sandbox'])
      .default('production'),
  )
  .option(...uncheckedOption)
  .option(...workspaceOption)
  .action((options: SetApnsOptions) => withInstallation((context) => credentialsCommand.setApns(context, options)));
setCredential
  .command('webpush')
  .description('VAPID keys; a pair is made when none is given')
  .requiredOption('--subject <contact>', 'mailto: or https: contact')
  .option('--public-key <text>', 'base64url, 65 bytes')
  .option('--private-key-file <path>', 'file with the base64url of 32 bytes')
  .option(...workspaceOption)
  .action((options: SetWebPushOptions) =>
    withInstallation((context) => credentialsCommand.setWebPush(context, options)),
  );
credentials
  .command('list')
  .description('List what is stored, without secrets')
  .option(...workspaceOption)
  .action((options: { workspace?: string }) =>
    withInstallation((context) => credentialsCommand.list(context, options)),
  );
credentials
  .command('check')
  .description('Ask the providers whether they still take what is stored')
  .option(...workspaceOption)
  .action((options: { workspace?: string }) =>
    withInstallation((context) => credentialsCommand.check(context, options)),
  );
credentials
  .command('remove')
  .description('Remove a credential')
  .addArgument(new Argument('<provider>').choices(['fcm', 'apns', 'webpush']))
  .option('--while-sending', 'also while sends need it; they pause')
  .option(...workspaceOption)
  .action((provider: 'fcm' | 'apns' | 'webpush', options: { workspace?: string; whileSending?: boolean }) =>
    withInstallation((context) => credentialsCommand.remove(context, { provider, ...options })),
  );

const sandboxCommands = program.command('sandbox').description('The stand-in');
sandboxCommands
  .command('reset')
  .description('Make the demo workspace what its first start made it: same ids, same order, same keys')
  .action(() => withInstallation(resetSandboxCommand));
sandboxCommands
  .command('generate-users')
  .description('Write a file of people with simulated devices, for import')
  .requiredOption('--users <number>', 'how many people, one device each', parseCount)
  .requiredOption('--out <file>', 'file to write')
  .action((options: { users: number; out: string }) =>
    withInstallation((context) => generateUsersCommand(context, options)),
  );

program
  .command('config')
  .description('Settings')
  .command('print')
  .description('Show every setting as this machine sees it; secrets are masked')
  .action(() => printConfigCommand(readSettings()));

export type CommandContext = OpenInstallation & {
  clock: ReturnType<typeof makeClock>;
  log: ReturnType<typeof makeLog>;
  segmentUsersPerDay: number;
};

function parseThrottle(text: string): number | 'none' {
  return text === 'none' ? text : parseCount(text);
}

function parseCount(text: string): number {
  if (!/^[1-9]\d{0,7}$/.test(text)) throw new InvalidArgumentError('a whole number from 1 to 99,999,999');
  return Number(text);
}

function readSettings() {
  const dataFolder = program.opts<{ dataDir?: string }>().dataDir;
  return readConfig({
    environment: process.env,
    arguments: dataFolder === undefined ? [] : ['--data-dir', dataFolder],
  });
}

async function withInstallation(command: (context: CommandContext) => Promise<void>): Promise<void> {
  const config = readSettings();
  const clock = makeClock();
  const log = makeLog({ level: config.logLevel, pretty: process.stderr.isTTY === true });
  const installation = await openInstallation(
    { ...config, databaseConnections: 4 },
    { clock, log, beside: 'running node' },
  );
  try {
    // The sandbox may have moved the clock; what a command writes must agree with the running node.
    await followDatabaseClock({ database: installation.database, clock, onMoved: () => {} }).runOnce(clock.now());
    await command({ ...installation, clock, log, segmentUsersPerDay: config.segmentUsersPerDay });
  } catch (error) {
    throw error instanceof ServiceError ? toRefusal(error) : error;
  } finally {
    await installation.close();
  }
}

/** What a use case refused, for the person who typed it. */
function toRefusal(error: ServiceError): StartError {
  const { field, reason } = error.context;
  const isTold = reason === undefined || error.message.includes(reason);
  const told = field === undefined ? `${error.message} ${reason}.` : `${error.message} ${field}: ${reason}.`;
  return new StartError('SETTING_INVALID', isTold ? error.message : told, error);
}

try {
  await program.parseAsync();
} catch (error) {
  const startError = toStartError(error);
  process.stderr.write(`carillon: ${startError.message}\n`);
  process.exit(exitCodes[startError.code].code);
}
