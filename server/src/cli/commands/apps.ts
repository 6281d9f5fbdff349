import { Option } from 'commander';
import type { Command } from 'commander';
import { addApp, changeApp, findWorkspaceApp, listWorkspaceApps, removeApp } from '../../app/apps.ts';
import { apnsEnvironments, declarativeModes } from '../../domain/apps.ts';
import type { ApnsEnvironment, AppSettings } from '../../domain/apps.ts';
import { payloadModes } from '../../domain/content/content.ts';
import type { Platform } from '../../domain/content/content.ts';
import { commandLine, withInstallation, findWorkspaceToUse } from '../command-context.ts';
import type { CommandContext } from '../command-context.ts';
import { jsonOption, workspaceOption } from '../command-options.ts';
import { nothing, printTable } from '../print-table.ts';

/**
 * `carillon apps`: the further apps of a workspace with their own addresses, in addition to the default app of each platform.
 */
export function registerApps(program: Command): void {
  const apps = program.command('apps').description("A workspace's apps: packages, bundle ids, sites");
  apps
    .command('list')
    .description('List the apps and the credential that each uses')
    .option(...jsonOption)
    .option(...workspaceOption)
    .action((options: Workspace & Json) => withInstallation(program, (context) => appsCommand.list(context, options)));
  const add = ofApp(apps.command('add').description('Add an app'))
    .requiredOption('--identifier <text>', 'Android package, bundle id, or origin of the site')
    .option('--name <name>', 'up to 100 characters; default: the id')
    .addOption(new Option('--environment <name>', "Apple's service; default: production").choices(apnsEnvironments))
    .option('--restrict-package', 'FCM delivers to this package only')
    .option('--critical-alerts', 'Apple granted the app critical alerts, which sound on a muted phone');
  for (const [flags, description] of settingOptions) add.option(flags, description);
  add.action((app: string, options: AddOptions) =>
    withInstallation(program, (context) => appsCommand.add(context, { app, ...options })),
  );
  const change = ofApp(
    apps.command('change').description('Change an app; settings that are not named stay as they are'),
  )
    .option('--name <name>', 'up to 100 characters')
    .addOption(new Option('--restrict-package <switch>', 'FCM delivers to this package only').choices(['on', 'off']))
    .addOption(
      new Option(
        '--critical-alerts <switch>',
        'Apple granted the app critical alerts, which sound on a muted phone',
      ).choices(['on', 'off']),
    );
  for (const [flags, description] of settingOptions)
    change.option(flags, `${description}; "none" for the setting of the workspace`);
  change.action((app: string, options: ChangeOptions) =>
    withInstallation(program, (context) => appsCommand.change(context, { app, ...options })),
  );
  ofApp(apps.command('remove').description('Remove an app that has neither credential nor devices')).action(
    (app: string, options: Of) =>
      withInstallation(program, (context) => appsCommand.remove(context, { app, ...options })),
  );
}

function ofApp(command: Command): Command {
  return command
    .argument('<app>', 'id of the app: letters, digits, dots, - and _')
    .addOption(new Option('--platform <name>', 'the platform').choices(['android', 'ios', 'web']).makeOptionMandatory())
    .option(...workspaceOption);
}

const settingOptions = [
  ['--mode <mode>', `how Android messages are shown: ${payloadModes.join(', ')}`],
  ['--declarative <when>', `when web pushes use the declarative form: ${declarativeModes.join(', ')}`],
  ['--push-from <text>', 'value of push_from'],
  ['--data-prefix <text>', 'prefix of the names of our keys on phones'],
  ['--channel <id>', 'Android channel of messages without one'],
  ['--sound <file>', 'sound of messages without one'],
  ['--icon <name>', 'Android icon of messages without one'],
  ['--color <#rrggbb>', 'Android colour of messages without one'],
] as const;

type Json = { json?: true };
type Workspace = { workspace?: string };
type Of = Workspace & { platform: 'android' | 'ios' | 'web' };
type Settings = Partial<
  Record<'mode' | 'declarative' | 'pushFrom' | 'dataPrefix' | 'channel' | 'sound' | 'icon' | 'color', string>
>;
type AddOptions = Of &
  Settings & {
    identifier: string;
    name?: string;
    environment?: ApnsEnvironment;
    restrictPackage?: true;
    criticalAlerts?: true;
  };
type ChangeOptions = Of & Settings & { name?: string; restrictPackage?: Switch; criticalAlerts?: Switch };
type Switch = 'on' | 'off';
type App = { app: string };

const appsCommand = {
  async list({ database }: CommandContext, options: Workspace & Json): Promise<void> {
    const workspaceId = await findWorkspaceToUse(database, options.workspace);
    printTable(
      ['PLATFORM', 'APP', 'NAME', 'IDENTIFIER', 'ENVIRONMENT', 'PACKAGE ONLY', 'CREDENTIAL OF', 'ITS OWN'],
      (await listWorkspaceApps(database, workspaceId)).map((app) => [
        app.platform,
        app.appId,
        app.name,
        app.identifier ?? nothing,
        app.environment ?? nothing,
        app.restrictsPackage ? 'yes' : nothing,
        app.credentialOf ?? nothing,
        describeSettings(app.settings) || nothing,
      ]),
      options,
    );
  },

  async add(context: CommandContext, options: App & AddOptions): Promise<void> {
    const named = await name(context, options);
    await addApp(context, {
      ...named,
      name: options.name ?? options.app,
      identifier: options.identifier,
      environment: options.environment ?? (named.platform === 'IOS' ? 'production' : null),
      restrictsPackage: options.restrictPackage === true,
      settings: changeSettings(options.criticalAlerts ? { criticalAlerts: true } : {}, options),
    });
    process.stdout.write(`${options.app} is added to ${named.workspaceId}.\n`);
  },

  async change(context: CommandContext, options: App & ChangeOptions): Promise<void> {
    const { restrictPackage: given, criticalAlerts } = options;
    const restrictsPackage = given && given === 'on';
    const named = await name(context, options);
    const { settings: { criticalAlerts: before, ...others } = {} } = await findWorkspaceApp(context.database, named);
    const isCritical = criticalAlerts === undefined ? before : criticalAlerts === 'on';
    const settings = changeSettings({ ...others, ...(isCritical ? { criticalAlerts: true } : {}) }, options);
    const change = { name: options.name, restrictsPackage, settings };
    await changeApp(context, { ...named, ...change });
    process.stdout.write(`Changed ${options.app}.\n`);
  },

  async remove(context: CommandContext, options: App & Of): Promise<void> {
    await removeApp(context, await name(context, options));
    process.stdout.write(`Removed ${options.app}.\n`);
  },
};

function describeSettings({ defaults, ...own }: AppSettings = {}): string {
  const named = Object.entries({ ...own, ...defaults });
  return named.map(([name, value]) => (value === true ? name : `${name} ${value}`)).join(', ');
}

/** Unnamed settings keep their value; `none` removes one. */
function changeSettings(before: AppSettings, options: Settings): AppSettings {
  const { mode, declarative, pushFrom, dataPrefix, channel: channelId, sound, icon, color } = options;
  const defaults = changed(before.defaults ?? {}, { channelId, sound, icon, color });
  const own = changed(before, { mode, declarative, pushFrom, dataPrefix } as Changes<AppSettings>);
  return changed(own, { defaults: Object.keys(defaults).length > 0 ? defaults : ('none' as never) });
}

type Changes<T> = { [Name in keyof T]?: T[Name] | undefined };

function changed<T extends object>(before: T, changes: Changes<T>): T {
  const named = Object.entries(changes).filter(([, value]) => value !== undefined);
  const after = Object.entries({ ...before, ...Object.fromEntries(named) });
  return Object.fromEntries(after.filter(([, value]) => value !== 'none')) as T;
}

async function name({ database }: CommandContext, { app, platform, workspace }: App & Of) {
  const workspaceId = await findWorkspaceToUse(database, workspace);
  return { actor: commandLine, workspaceId, platform: platform.toUpperCase() as Platform, appId: app };
}
