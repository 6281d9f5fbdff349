import { Option } from 'commander';
import type { Command } from 'commander';
import {
  changeWorkspace,
  parseAndroidPayload,
  parseControls,
  WorkspaceRefusedError,
  createWorkspace,
} from '../../app/workspaces.ts';
import { payloadModes } from '../../domain/content/content.ts';
import type { PayloadMode } from '../../domain/content/content.ts';
import { pushBodies } from '../../domain/push.ts';
import type { PushBodies } from '../../domain/push.ts';
import { presentFrequencyCap } from '../../domain/workspace-controls.ts';
import { listWorkspaces } from '../../storage/installation/overview.ts';
import { findWorkspace, findWorkspaceControls } from '../../storage/workspaces.ts';
import { withInstallation, withInstallationOrNew } from '../command-context.ts';
import type { CommandContext } from '../command-context.ts';
import { jsonLineOption, jsonOption, parseCount } from '../command-options.ts';
import { printJsonLine, printTable, toPlainLine } from '../print-table.ts';

/** `carillon workspaces`: the tenants of an installation. */
export function registerWorkspaces(program: Command): void {
  const workspaces = program.command('workspaces').description('Workspaces: the tenants of an installation');
  workspaces
    .command('create')
    .description('Create an empty workspace')
    .requiredOption('--name <name>', 'up to 100 characters')
    .option('--id <id>', 'letters, digits, - and _; default: generated')
    .option('--db-name <name>', 'database name (SVC-DBNAME); default: the id in lower case')
    .option('--time-zone <zone>', 'time zone of campaign times without a zone', 'UTC')
    .option('--data-center <dc>', 'one of 01 to 06 and 101', '01')
    .option(...jsonLineOption)
    .action((options: CreateWorkspaceOptions) =>
      withInstallationOrNew(program, (context) => workspacesCommand.create(context, options)),
    );
  addChangeOptions(
    workspaces.command('set').description('Change a workspace; settings that are not named stay as they are'),
  ).action((id: string, options: ChangeWorkspaceOptions) =>
    withInstallation(program, (context) => workspacesCommand.set(context, { id, ...options })),
  );
  workspaces
    .command('show')
    .description('Show a workspace and its delivery controls')
    .argument('<id>')
    .option(...jsonLineOption)
    .action((id: string, options: Json) =>
      withInstallation(program, (context) => workspacesCommand.show(context, { id, ...options })),
    );
  workspaces
    .command('list')
    .description('List the workspaces')
    .option(...jsonOption)
    .action((options: Json) => withInstallation(program, (context) => workspacesCommand.list(context, options)));
}

function addChangeOptions(command: Command): Command {
  const onOff = (flags: string, description: string): Option => new Option(flags, description).choices(['on', 'off']);
  const throttle = 'throttle of campaigns without one; "none" for no throttle';
  return command
    .argument('<id>')
    .option('--name <name>', 'up to 100 characters')
    .option('--time-zone <zone>', 'time zone of campaign times without a zone')
    .option('--devices-per-minute <count>', throttle, (text) => (text === 'none' ? text : parseCount(text)))
    .option('--frequency-caps <rules>', 'maximum messages to a user, such as 2/1d,5/7d; "none" for no cap')
    .option('--quiet-hours <from-to>', 'local times during which nothing is sent, such as 22:00-08:00; "none" for none')
    .addOption(new Option('--quiet-mode <mode>', 'what happens to messages in quiet hours').choices(['hold', 'drop']))
    .option('--minimum-delay <minutes>', 'minimum between messages of different campaigns to a user; "none" for none')
    .option('--zone-attribute <name>', "user attribute that names the user's time zone")
    .option('--control-group <percent>', 'percent of users in the global control group; "none" for none')
    .addOption(new Option('--push-bodies <reading>', 'how push bodies are parsed').choices([...pushBodies]))
    .addOption(new Option('--android-mode <mode>', 'kind of Android messages').choices([...payloadModes]))
    .option('--push-from <name>', 'value of push_from in the data of Android messages')
    .option(
      '--data-prefix <prefix>',
      'prefix of our keys in that data and in iOS payloads; "none" for the header prefix of the installation',
    )
    .addOption(onOff('--campaign-versioning <switch>', 'keep published revisions of a campaign (V5)'))
    .addOption(onOff('--v1-bare-array <switch>', 'return V1 searches as a bare array'))
    .addOption(
      onOff('--earlier-statistics <switch>', 'return statistics with lower-case platforms and without a total'),
    )
    .addOption(onOff('--secret-at-refresh <switch>', 'require the client secret when a token is refreshed'))
    .addOption(onOff('--signature-v2 <switch>', 'require the stronger push signature'));
}

type Json = { json?: true };

type CreateWorkspaceOptions = Json & {
  id?: string;
  dbName?: string;
  name: string;
  timeZone: string;
  dataCenter: string;
};

type ChangeWorkspaceOptions = {
  name?: string;
  timeZone?: string;
  devicesPerMinute?: number | 'none';
  frequencyCaps?: string;
  quietHours?: string;
  quietMode?: 'hold' | 'drop';
  minimumDelay?: string;
  zoneAttribute?: string;
  controlGroup?: string;
  pushBodies?: PushBodies;
  androidMode?: PayloadMode;
  pushFrom?: string;
  dataPrefix?: string;
  campaignVersioning?: Switch;
  v1BareArray?: Switch;
  earlierStatistics?: Switch;
  secretAtRefresh?: Switch;
  signatureV2?: Switch;
};

type Switch = 'on' | 'off';

const workspacesCommand = {
  async create(context: CommandContext, options: CreateWorkspaceOptions): Promise<void> {
    const { id, dbName } = await createWorkspace(context, {
      id: options.id,
      dbName: options.dbName,
      name: options.name,
      timeZone: options.timeZone,
      dataCenter: options.dataCenter,
      at: context.clock.now(),
    });
    if (options.json) return printJsonLine({ id, dbName });
    process.stdout.write(`Workspace      ${id}\nDatabase name  ${dbName}\n`);
  },

  async set(context: CommandContext, { id, ...options }: ChangeWorkspaceOptions & { id: string }): Promise<void> {
    const flag = (given: Switch | undefined): boolean | undefined => given && given === 'on';
    await changeWorkspace(context, {
      id,
      name: options.name,
      timeZone: options.timeZone,
      devicesPerMinute: options.devicesPerMinute === 'none' ? null : options.devicesPerMinute,
      ...parseControls({
        frequencyCaps: options.frequencyCaps,
        quietHours: options.quietHours,
        quietMode: options.quietMode && (options.quietMode === 'hold' ? 'HOLD' : 'DROP'),
        minimumDelay: options.minimumDelay,
        zoneAttribute: options.zoneAttribute,
        controlGroup: options.controlGroup,
      }),
      ...parseAndroidPayload({
        androidMode: options.androidMode,
        pushFrom: options.pushFrom,
        dataPrefix: options.dataPrefix,
      }),
      pushBodies: options.pushBodies,
      campaignVersioning: flag(options.campaignVersioning),
      v1SearchBareArray: flag(options.v1BareArray),
      earlierStatistics: flag(options.earlierStatistics),
      secretRequiredAtRefresh: flag(options.secretAtRefresh),
      signatureV2Required: flag(options.signatureV2),
    });
    process.stdout.write(`Changed workspace ${id}.\n`);
  },

  async show({ database }: CommandContext, { id, json }: Json & { id: string }): Promise<void> {
    const [workspace, controls] = [await findWorkspace(database, id), await findWorkspaceControls(database, id)];
    if (!workspace || !controls) throw new WorkspaceRefusedError(`There is no workspace ${toPlainLine(id)}.`);
    if (json) return printJsonLine({ ...workspace, controls });
    const { caps, quietHours, minimumDelayMinutes, controlGroupPercent } = controls;
    const { mode, pushFrom, dataPrefix } = workspace.androidPayload;
    const facts: [string, string][] = [
      ['Workspace', workspace.name],
      ['Id', workspace.id],
      ['Database name', workspace.dbName],
      ['Time zone', workspace.timeZone],
      ['Frequency caps', caps.map(presentFrequencyCap).join(',') || 'none'],
      ['Quiet hours', quietHours ? `${quietHours.from}-${quietHours.to}, ${quietHours.mode.toLowerCase()}` : 'none'],
      ['Minimum delay', minimumDelayMinutes === null ? 'none' : `${minimumDelayMinutes} minutes`],
      ['Zone attribute', controls.zoneAttribute],
      ['Control group', controlGroupPercent === null ? 'none' : `${controlGroupPercent} % of the users`],
      ['Push bodies', workspace.pushBodies],
      ['Android mode', mode],
      ['push_from', pushFrom],
      ['Data prefix', dataPrefix ?? 'that of the installation'],
    ];
    for (const [title, value] of facts) process.stdout.write(`${title.padEnd(16)}${toPlainLine(value)}\n`);
  },

  async list({ database }: CommandContext, options: Json): Promise<void> {
    printTable(
      ['ID', 'DB NAME', 'TIME ZONE', 'NAME'],
      (await listWorkspaces(database)).map(({ id, dbName, timeZone, name }) => [id, dbName, timeZone, name]),
      options,
    );
  },
};
