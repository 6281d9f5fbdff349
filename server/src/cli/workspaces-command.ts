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

  async list({ database }: CommandContext): Promise<void> {
    for (const { id, dbName, name, timeZone } of await listWorkspaces(database))
      process.stdout.write(`${id}  ${dbName}  ${timeZone}  ${name}\n`);
  },
};
