import type { ConsoleCaller } from './console-caller.ts';
import type { Platform } from './generated/shape-parts.ts';
import type { ProviderName } from './generated/overview.ts';
import type { DeviceBehaviour } from './generated/sandbox.ts';

/** How a simulated provider fails, and how often. */
export type Fault = {
  status?: number;
  body?: string;
  headers?: Record<string, string>;
  delayMilliseconds?: number;
  /** Closes the connection. */
  reset?: boolean;
  /** Fails this many requests, then stops. */
  count?: number;
  /** A probability from 0 to 1. */
  probability?: number;
  every?: number;
};

/** Moves the clock forward, stops it, lets it run, or returns to real time. */
export type ClockMove = { advanceSeconds: number } | { freeze: true } | { resume: true } | { reset: true };

type NewVirtualDevice = { workspaceId: string; customerId: string; platform: Platform; behaviour: DeviceBehaviour };
type DeviceReport = { workspaceId: string; id: string; kind: 'impression' | 'click' | 'close' };

/** Sandbox only; other installations return 404. */
export function makeSandboxCalls({ ask }: ConsoleCaller) {
  return {
    read: () => ask('GET sandbox'),
    moveClock: (move: ClockMove) => ask('POST sandbox/clock', { body: move }),
    /** Sets the faults from now on; `{}` removes all. */
    setFaults: (faults: Partial<Record<ProviderName, Fault>>) => ask('PUT sandbox/faults', { body: faults }),
    /** Resets the demo workspace, counters and faults to the seed. */
    reset: () => ask('POST sandbox/reset'),
    /** Empties the inbox, counters and faults. Users and campaigns stay. */
    empty: () => ask('POST sandbox/empty'),
    listDevices: async (workspaceId: string) => (await ask('GET sandbox/devices', { query: { workspaceId } })).devices,
    /** Adds a device. Its user is marked for tests, and created if unknown. */
    addDevice: async ({ workspaceId, ...device }: NewVirtualDevice) =>
      (await ask('POST sandbox/devices', { query: { workspaceId }, body: device })).devices,
    changeDevice: async (change: { workspaceId: string; id: string; behaviour: DeviceBehaviour }) => {
      const { workspaceId, id, behaviour } = change;
      const asked = { params: { id }, query: { workspaceId }, body: { behaviour } };
      return (await ask('PUT sandbox/devices/:id', asked)).devices;
    },
    /** Reports a message as shown, clicked or closed, as an app does. */
    report: ({ workspaceId, id, kind }: DeviceReport) =>
      ask('POST sandbox/messages/:id/:kind', { params: { id, kind }, query: { workspaceId } }),
  };
}
