import type { ConsoleCaller } from './console-caller.ts';

export type SimulatedProvider = 'fcm' | 'apns' | 'webpush';

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

export type SandboxState = {
  clock: { now: string; offsetSeconds: number };
  /** What the simulated providers counted. */
  counters: Partial<Record<'ANDROID' | 'IOS' | 'WEB', { received: number; accepted: number; refused: number }>>;
};

/** `works`, or how the provider answers for its address. */
export type DeviceBehaviour = 'works' | 'gone' | 'invalid' | 'rejected' | 'busy' | 'silent';

/** A device of a person who is marked for tests. */
export type VirtualDevice = {
  id: string;
  personId: string;
  customerId: string;
  deviceId: string;
  platform: 'ANDROID' | 'IOS' | 'WEB';
  state: string;
  /** By which messages of the inbox name it. */
  token: string;
  /** The newest three. */
  messages: { id: string; title: string; body: string; receivedAt: string }[];
  behaviour: DeviceBehaviour;
};

/** In sandbox mode only; 404 elsewhere. */
export type ConsoleSandbox = {
  read(): Promise<SandboxState>;
  /** Forward, or back to real time. */
  moveClock(move: { advanceSeconds: number } | { reset: true }): Promise<SandboxState>;
  /** Those that strike from now on; `{}` ends all. */
  setFaults(faults: Partial<Record<SimulatedProvider, Fault>>): Promise<SandboxState>;
  /** The demo workspace, counters and faults back to the seed. */
  reset(): Promise<SandboxState>;
  listDevices(workspaceId: string): Promise<VirtualDevice[]>;
  /** Its person is marked for tests, and made when unknown. */
  addDevice(device: {
    workspaceId: string;
    customerId: string;
    platform: 'ANDROID' | 'IOS' | 'WEB';
    behaviour: DeviceBehaviour;
  }): Promise<VirtualDevice[]>;
  changeDevice(change: { workspaceId: string; id: string; behaviour: DeviceBehaviour }): Promise<VirtualDevice[]>;
  /** What the app on the device would tell of a message. */
  report(report: { workspaceId: string; id: string; kind: 'impression' | 'click' | 'close' }): Promise<void>;
  /** Empties inbox, counters and faults; people and campaigns stay. */
  empty(): Promise<SandboxState>;
};

type Devices = { devices: VirtualDevice[] };

export function makeConsoleSandbox({ read, send }: ConsoleCaller): ConsoleSandbox {
  const at = (path: string, workspaceId: string) => `${path}?${new URLSearchParams({ workspaceId })}`;
  return {
    read: () => read('sandbox', {}),
    moveClock: (move) => send('POST', 'sandbox/clock', move),
    setFaults: (faults) => send('PUT', 'sandbox/faults', faults),
    empty: () => send('POST', 'sandbox/empty'),
    reset: () => send('POST', 'sandbox/reset'),
    listDevices: async (workspaceId) => (await read<Devices>('sandbox/devices', { workspaceId })).devices,
    addDevice: async ({ workspaceId, ...device }) =>
      (await send<Devices>('POST', at('sandbox/devices', workspaceId), device)).devices,
    changeDevice: async ({ workspaceId, id, behaviour }) =>
      (await send<Devices>('PUT', at(`sandbox/devices/${id}`, workspaceId), { behaviour })).devices,
    report: ({ workspaceId, id, kind }) => send('POST', at(`sandbox/messages/${id}/${kind}`, workspaceId)),
  };
}
