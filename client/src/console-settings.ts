import type { ConsoleCaller } from './console-caller.ts';
import type { LimitUse } from './console-overview.ts';

/** As a person writes them; `none` for a control that is not set. */
export type WorkspaceSettings = {
  name: string;
  /** IANA name. */
  timeZone: string;
  /** `2/1d,5/7d`: messages in hours or days. */
  frequencyCaps: string;
  /** `22:00-08:00`, in each person's zone. */
  quietHours: string;
  quietMode: 'HOLD' | 'DROP';
  /** Minutes between two messages to a person. */
  minimumDelay: string;
  /** The attribute that holds a person's zone. */
  zoneAttribute: string;
};

/** What is as it is: ids, and what the installation's settings say. */
export type FixedSettings = {
  workspaceId: string;
  dbName: string;
  dataCenter: string;
  /** Under which callers reach the API. */
  url: string;
  headerPrefix: { value: string; setting: string };
  limits: LimitUse[];
};

export type ConsoleSettings = {
  readFixed(workspaceId: string): Promise<FixedSettings>;
  read(workspaceId: string): Promise<WorkspaceSettings>;
  /** @throws CarillonError 400 with what is possible */
  change(settings: WorkspaceSettings & { workspaceId: string }): Promise<WorkspaceSettings>;
};

export function makeConsoleSettings({ read, send }: ConsoleCaller): ConsoleSettings {
  return {
    readFixed: (workspaceId) => read('settings/fixed', { workspaceId }),
    read: async (workspaceId) => (await read<{ settings: WorkspaceSettings }>('settings', { workspaceId })).settings,
    change: async ({ workspaceId, ...settings }) => {
      const path = `settings?${new URLSearchParams({ workspaceId })}`;
      return (await send<{ settings: WorkspaceSettings }>('PUT', path, settings)).settings;
    },
  };
}
