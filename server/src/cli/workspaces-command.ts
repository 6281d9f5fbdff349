import { changeWorkspace } from '../app/workspaces/change-workspace.ts';
import { createWorkspace } from '../app/workspaces/create-workspace.ts';
import type { CommandContext } from '../cli.ts';
import { listWorkspaces } from '../storage/sql/overview.ts';

export type CreateWorkspaceOptions = {
  id?: string;
  dbName?: string;
  name: string;
  timeZone: string;
  dataCenter: string;
};

export type ChangeWorkspaceOptions = {
  name?: string;
  timeZone?: string;
  devicesPerMinute?: number | 'none';
  campaignVersioning?: Switch;
  v1BareArray?: Switch;
  secretAtRefresh?: Switch;
  signatureV2?: Switch;
};

export type Switch = 'on' | 'off';

/** `carillon workspaces …`: the tenants of an installation. */
export const workspacesCommand = {
  async create(context: CommandContext, options: CreateWorkspaceOptions): Promise<void> {
    const { id, dbName } = await createWorkspace(context, {
      id: options.id,
      dbName: options.dbName,
      name: options.name,
      timeZone: options.timeZone,
      dataCenter: options.dataCenter,
      at: context.clock.now(),
    });
    process.stdout.write(`Workspace      ${id}\nDatabase name  ${dbName}\n`);
  },

  async set(context: CommandContext, { id, ...options }: ChangeWorkspaceOptions & { id: string }): Promise<void> {
    const flag = (given: Switch | undefined): boolean | undefined => given && given === 'on';
    await changeWorkspace(context, {
      id,
      name: options.name,
      timeZone: options.timeZone,
      devicesPerMinute: options.devicesPerMinute === 'none' ? null : options.devicesPerMinute,
      campaignVersioning: flag(options.campaignVersioning),
      v1SearchBareArray: flag(options.v1BareArray),
      secretRequiredAtRefresh: flag(options.secretAtRefresh),
      signatureV2Required: flag(options.signatureV2),
    });
    process.stdout.write(`Workspace ${id} is changed.\n`);
  },

  async list({ database }: CommandContext): Promise<void> {
    for (const { id, dbName, name, timeZone } of await listWorkspaces(database))
      process.stdout.write(`${id}  ${dbName}  ${timeZone}  ${name}\n`);
  },
};
