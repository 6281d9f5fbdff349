import type { ConsoleCaller } from './console-caller.ts';

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

export type ConsoleSettings = {
  read(workspaceId: string): Promise<WorkspaceSettings>;
  /** @throws CarillonError 400 with what is possible */
  change(settings: WorkspaceSettings & { workspaceId: string }): Promise<WorkspaceSettings>;
};

export function makeConsoleSettings({ read, send }: ConsoleCaller): ConsoleSettings {
  return {
    read: async (workspaceId) => (await read<{ settings: WorkspaceSettings }>('settings', { workspaceId })).settings,
    change: async ({ workspaceId, ...settings }) => {
      const path = `settings?${new URLSearchParams({ workspaceId })}`;
      return (await send<{ settings: WorkspaceSettings }>('PUT', path, settings)).settings;
    },
  };
}
