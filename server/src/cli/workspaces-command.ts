import { changeWorkspace, parseControls } from '../app/workspaces/change-workspace.ts';
import { WorkspaceRefusedError, createWorkspace } from '../app/workspaces/create-workspace.ts';
import type { CommandContext } from '../cli.ts';
import { presentFrequencyCap } from '../domain/eligibility/workspace-controls.ts';
import { listWorkspaces } from '../storage/installation/overview.ts';
import { findWorkspace, findWorkspaceControls } from '../storage/installation/workspaces.ts';
import { toPlainLine } from './print-table.ts';

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
  frequencyCaps?: string;
  quietHours?: string;
  quietMode?: 'hold' | 'drop';
  minimumDelay?: string;
  zoneAttribute?: string;
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
      ...parseControls({
        frequencyCaps: options.frequencyCaps,
        quietHours: options.quietHours,
        quietMode: options.quietMode && (options.quietMode === 'hold' ? 'HOLD' : 'DROP'),
        minimumDelay: options.minimumDelay,
        zoneAttribute: options.zoneAttribute,
      }),
      campaignVersioning: flag(options.campaignVersioning),
      v1SearchBareArray: flag(options.v1BareArray),
      secretRequiredAtRefresh: flag(options.secretAtRefresh),
      signatureV2Required: flag(options.signatureV2),
    });
    process.stdout.write(`Workspace ${id} is changed.\n`);
  },

  async show({ database }: CommandContext, { id }: { id: string }): Promise<void> {
    const [workspace, controls] = [await findWorkspace(database, id), await findWorkspaceControls(database, id)];
    if (!workspace || !controls) throw new WorkspaceRefusedError(`There is no workspace ${toPlainLine(id)}.`);
    const { caps, quietHours, minimumDelayMinutes } = controls;
    const facts: [string, string][] = [
      ['Workspace', workspace.name],
      ['Id', workspace.id],
      ['Database name', workspace.dbName],
      ['Time zone', workspace.timeZone],
      ['Frequency caps', caps.map(presentFrequencyCap).join(',') || 'none'],
      ['Quiet hours', quietHours ? `${quietHours.from}-${quietHours.to}, ${quietHours.mode.toLowerCase()}` : 'none'],
      ['Minimum delay', minimumDelayMinutes === null ? 'none' : `${minimumDelayMinutes} minutes`],
      ['Zone attribute', controls.zoneAttribute],
    ];
    for (const [title, value] of facts) process.stdout.write(`${title.padEnd(16)}${toPlainLine(value)}\n`);
  },

  async list({ database }: CommandContext): Promise<void> {
    for (const { id, dbName, name, timeZone } of await listWorkspaces(database))
      process.stdout.write(`${id}  ${dbName}  ${timeZone}  ${name}\n`);
  },
};
