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

/** In sandbox mode only; 404 elsewhere. */
export type ConsoleSandbox = {
  read(): Promise<SandboxState>;
  /** Forward, or back to real time. */
  moveClock(move: { advanceSeconds: number } | { reset: true }): Promise<SandboxState>;
  /** Those that strike from now on; `{}` ends all. */
  setFaults(faults: Partial<Record<SimulatedProvider, Fault>>): Promise<SandboxState>;
  /** Empties inbox, counters and faults; people and campaigns stay. */
  empty(): Promise<SandboxState>;
};

export function makeConsoleSandbox({ read, send }: ConsoleCaller): ConsoleSandbox {
  return {
    read: () => read('sandbox', {}),
    moveClock: (move) => send('POST', 'sandbox/clock', move),
    setFaults: (faults) => send('PUT', 'sandbox/faults', faults),
    empty: () => send('POST', 'sandbox/empty'),
  };
}
