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
  /** Breaks the connection. */
  reset?: boolean;
  /** Strikes so often, then no more. */
  count?: number;
  /** 0 to 1. */
  probability?: number;
  every?: number;
};

/** Forward; let it stand, or run on; or back to real time. */
export type ClockMove = { advanceSeconds: number } | { freeze: true } | { resume: true } | { reset: true };

type NewVirtualDevice = { workspaceId: string; customerId: string; platform: Platform; behaviour: DeviceBehaviour };
type DeviceReport = { workspaceId: string; id: string; kind: 'impression' | 'click' | 'close' };

/** In sandbox mode only; 404 elsewhere. */
export function makeSandboxCalls({ ask }: ConsoleCaller) {
  return {
    read: () => ask('GET sandbox'),
    moveClock: (move: ClockMove) => ask('POST sandbox/clock', { body: move }),
    /** Those that strike from now on; `{}` ends all. */
    setFaults: (faults: Partial<Record<ProviderName, Fault>>) => ask('PUT sandbox/faults', { body: faults }),
    /** The demo workspace, counters and faults back to the seed. */
    reset: () => ask('POST sandbox/reset'),
    /** Empties inbox, counters and faults; users and campaigns stay. */
    empty: () => ask('POST sandbox/empty'),
    listDevices: async (workspaceId: string) => (await ask('GET sandbox/devices', { query: { workspaceId } })).devices,
    /** Its user is marked for tests, and created when unknown. */
    addDevice: async ({ workspaceId, ...device }: NewVirtualDevice) =>
      (await ask('POST sandbox/devices', { query: { workspaceId }, body: device })).devices,
    changeDevice: async (change: { workspaceId: string; id: string; behaviour: DeviceBehaviour }) => {
      const { workspaceId, id, behaviour } = change;
      const asked = { params: { id }, query: { workspaceId }, body: { behaviour } };
      return (await ask('PUT sandbox/devices/:id', asked)).devices;
    },
    /** What the app on the device would tell of a message. */
    report: ({ workspaceId, id, kind }: DeviceReport) =>
      ask('POST sandbox/messages/:id/:kind', { params: { id, kind }, query: { workspaceId } }),
  };
}
