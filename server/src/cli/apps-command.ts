import { Option } from 'commander';
import type { Command } from 'commander';
import { addApp, changeApp, listWorkspaceApps, removeApp } from '../app/apps/manage-apps.ts';
import { apnsEnvironments } from '../domain/apps/app.ts';
import type { ApnsEnvironment } from '../domain/apps/app.ts';
import type { Platform } from '../domain/campaigns/content.ts';
import { withInstallation } from './command-context.ts';
import type { CommandContext } from './command-context.ts';
import { jsonOption, workspaceOption } from './command-options.ts';
import { findWorkspaceToUse } from './find-workspace-to-use.ts';
import { nothing, printTable } from './print-table.ts';

/** `carillon apps`: what else of a workspace has addresses of its own, beside the default app of each platform. */
export function registerApps(program: Command): void {
  const apps = program.command('apps').description("A workspace's apps: packages, bundle ids, sites");
  apps
    .command('list')
    .description('List the apps and whose credential each takes')
    .option(...jsonOption)
    .option(...workspaceOption)
    .action((options: Workspace & Json) => withInstallation(program, (context) => appsCommand.list(context, options)));
  ofApp(apps.command('add').description('Add an app'))
    .requiredOption('--identifier <text>', 'Android package, bundle id, or origin of the site')
    .option('--name <name>', 'up to 100 characters; default: the id')
    .addOption(
      new Option('--environment <name>', "which of Apple's services; default: production").choices(apnsEnvironments),
    )
    .option('--restrict-package', 'let FCM deliver to this package only')
    .action((app: string, options: AddOptions) =>
      withInstallation(program, (context) => appsCommand.add(context, { app, ...options })),
    );
  ofApp(apps.command('change').description('Change an app; what is not named stays'))
    .option('--name <name>', 'up to 100 characters')
    .addOption(new Option('--restrict-package <switch>', 'let FCM deliver to this package only').choices(['on', 'off']))
    .action((app: string, options: ChangeOptions) =>
      withInstallation(program, (context) => appsCommand.change(context, { app, ...options })),
    );
  ofApp(apps.command('remove').description('Remove an app that has neither credential nor devices')).action(
    (app: string, options: Of) =>
      withInstallation(program, (context) => appsCommand.remove(context, { app, ...options })),
  );
}

function ofApp(command: Command): Command {
  return command
    .argument('<app>', 'its id: letters, digits, dots, - and _')
    .addOption(new Option('--platform <name>', 'the platform').choices(['android', 'ios', 'web']).makeOptionMandatory())
    .option(...workspaceOption);
}

type Json = { json?: true };
type Workspace = { workspace?: string };
type Of = Workspace & { platform: 'android' | 'ios' | 'web' };
type AddOptions = Of & { identifier: string; name?: string; environment?: ApnsEnvironment; restrictPackage?: true };
type ChangeOptions = Of & { name?: string; restrictPackage?: 'on' | 'off' };
type App = { app: string };

const by = { id: null, name: 'the command line' };

const appsCommand = {
  async list({ database }: CommandContext, options: Workspace & Json): Promise<void> {
    const workspaceId = await findWorkspaceToUse(database, options.workspace);
    printTable(
      ['PLATFORM', 'APP', 'NAME', 'IDENTIFIER', 'ENVIRONMENT', 'PACKAGE ONLY', 'CREDENTIAL OF'],
      (await listWorkspaceApps(database, workspaceId)).map((app) => [
        app.platform,
        app.appId,
        app.name,
        app.identifier ?? nothing,
        app.environment ?? nothing,
        app.restrictsPackage ? 'yes' : nothing,
        app.credentialOf ?? nothing,
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
    });
    process.stdout.write(`${options.app} is added to ${named.workspaceId}.\n`);
  },

  async change(context: CommandContext, options: App & ChangeOptions): Promise<void> {
    const { restrictPackage: given } = options;
    const restrictsPackage = given && given === 'on';
    await changeApp(context, { ...(await name(context, options)), name: options.name, restrictsPackage });
    process.stdout.write(`${options.app} is changed.\n`);
  },

  async remove(context: CommandContext, options: App & Of): Promise<void> {
    await removeApp(context, await name(context, options));
    process.stdout.write(`${options.app} is removed.\n`);
  },
};

async function name({ database }: CommandContext, { app, platform, workspace }: App & Of) {
  const workspaceId = await findWorkspaceToUse(database, workspace);
  return { by, workspaceId, platform: platform.toUpperCase() as Platform, appId: app };
}
