import type { Clock } from '../clock.ts';
import type { PayloadMode } from '../domain/content/content.ts';
import { ServiceError } from '../domain/errors.ts';
import type { PushBodies } from '../domain/push.ts';
import { presentFrequencyCap } from '../domain/workspace-controls.ts';
import type { QuietMode, WorkspaceControls } from '../domain/workspace-controls.ts';
import { inTransaction } from '../storage/database.ts';
import type { Database } from '../storage/database.ts';
import { findWorkspace, findWorkspaceControls } from '../storage/workspaces.ts';
import type { Workspace } from '../storage/workspaces.ts';
import { audit } from './accounts/audit.ts';
import type { SignedIn } from './accounts/audit.ts';
import { readLimits } from './limits.ts';
import type { ReadLimitsDependencies } from './limits.ts';
import {
  changeWorkspace,
  parseAndroidPayload,
  parseControls,
  WorkspaceRefusedError,
  requireWorkspace,
} from './workspaces.ts';

/** In the form users type them; `none` for a control that is not set. */
export type SettingTexts = {
  name: string;
  timeZone: string;
  frequencyCaps: string;
  quietHours: string;
  quietMode: QuietMode;
  minimumDelay: string;
  zoneAttribute: string;
  controlGroup: string;
  pushBodies: PushBodies;
  androidMode: PayloadMode;
  pushFrom: string;
  dataPrefix: string;
};

export type ConsoleSettings = ReturnType<typeof makeConsoleSettings>;

export type ConsoleSettingsDependencies = {
  database: Database;
  clock: Clock;
  headerPrefix: string;
  limits: Omit<ReadLimitsDependencies, 'database'>;
};

/** A workspace's settings as an owner reads and changes them. */
export function makeConsoleSettings({ database, clock, ...deps }: ConsoleSettingsDependencies) {
  /** @throws ServiceError NOT_FOUND */
  async function read(workspaceId: string): Promise<SettingTexts> {
    const workspace = await findWorkspace(database, workspaceId);
    const controls = await findWorkspaceControls(database, workspaceId);
    if (!workspace || !controls) throw new ServiceError('NOT_FOUND', { detail: 'no such workspace' });
    return presentSettings(workspace, controls);
  }

  return {
    read,

    /** Returns the fixed properties: ids, and values from the installation's settings. @throws ServiceError NOT_FOUND */
    async readFixed(workspaceId: string) {
      const workspace = await requireWorkspace(database, workspaceId);
      return {
        workspaceId,
        dbName: workspace.dbName,
        dataCenter: workspace.dataCenter,
        headerPrefix: { value: deps.headerPrefix, setting: 'CARILLON_HEADER_PREFIX' },
        limits: await readLimits({ ...deps.limits, database }, { workspaceId, at: clock.now() }),
      };
    },

    /** Changes the values that differ. @throws ServiceError NOT_FOUND, PARAMETER_INVALID */
    async change({ actor, workspaceId, ...texts }: SettingTexts & { actor: SignedIn; workspaceId: string }) {
      const before = await read(workspaceId);
      const names = (Object.keys(before) as (keyof SettingTexts)[]).filter((name) => texts[name] !== before[name]);
      if (names.length === 0) return before;
      const detail = Object.fromEntries(names.map((name) => [name, texts[name]]));
      const object = { id: workspaceId, name: texts.name };
      await refusing(() =>
        inTransaction(database, async (tx) => {
          await changeWorkspace(
            { database: tx },
            {
              id: workspaceId,
              name: texts.name,
              timeZone: texts.timeZone,
              ...parseControls(texts),
              ...parseAndroidPayload(texts),
              pushBodies: texts.pushBodies,
              devicesPerMinute: undefined,
              campaignVersioning: undefined,
              v1SearchBareArray: undefined,
              earlierStatistics: undefined,
              secretRequiredAtRefresh: undefined,
              signatureV2Required: undefined,
            },
          );
          await audit(tx, { actor, workspaceId, action: 'workspace.change', object, detail, at: clock.realNow() });
        }),
      );
      return read(workspaceId);
    },
  };
}

function presentSettings(
  { name, timeZone, pushBodies, androidPayload }: Workspace,
  { caps, quietHours, minimumDelayMinutes, zoneAttribute, controlGroupPercent }: WorkspaceControls,
): SettingTexts {
  return {
    name,
    timeZone,
    frequencyCaps: caps.map(presentFrequencyCap).join(',') || 'none',
    quietHours: quietHours ? `${quietHours.from}-${quietHours.to}` : 'none',
    quietMode: quietHours?.mode ?? 'HOLD',
    minimumDelay: minimumDelayMinutes === null ? 'none' : String(minimumDelayMinutes),
    zoneAttribute,
    controlGroup: controlGroupPercent === null ? 'none' : String(controlGroupPercent),
    pushBodies,
    androidMode: androidPayload.mode,
    pushFrom: androidPayload.pushFrom,
    dataPrefix: androidPayload.dataPrefix ?? 'none',
  };
}

async function refusing(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof WorkspaceRefusedError)) throw error;
    throw new ServiceError('PARAMETER_INVALID', { field: 'settings', reason: error.message.replace(/\.$/, '') });
  }
}
