import { distanceMilliseconds } from '../../clock.ts';
import type { Clock } from '../../clock.ts';
import type { Platform } from '../../domain/content/content.ts';
import { ServiceError } from '../../domain/errors.ts';
import { parseFaults, makeFaultSwitch } from '../../domain/sandbox/faults.ts';
import type { Struck, Fault } from '../../domain/sandbox/faults.ts';
import type { SandboxRefusal } from '../../domain/sandbox/refusals.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Transaction, Database } from '../../storage/database.ts';
import { deleteSandboxMessages, listSandboxMessages } from '../../storage/installation/sandbox.ts';
import type { SandboxMessage } from '../../storage/installation/sandbox.ts';
import { audit } from '../accounts/audit.ts';
import type { SignedIn } from '../accounts/audit.ts';
import type { ClockAdvance, ClockProgress } from './clock-advance.ts';
import type { DeviceBehaviour, VirtualDevices } from './sandbox-devices.ts';

type By = { actor: SignedIn };
export type ConsoleSandboxDependencies = { clock: Clock; sandbox: SandboxDependencies; devices: VirtualDevices };

type DeviceOf = { workspaceId: string; behaviour: DeviceBehaviour };
export type ConsoleSandbox = ReturnType<typeof makeConsoleSandbox>;

/** The sandbox as the console uses it; each change writes an audit log entry. */
export function makeConsoleSandbox({ clock, sandbox, devices }: ConsoleSandboxDependencies) {
  const noteOf =
    ({ actor, action, detail = {} }: By & { action: `sandbox.${string}`; detail?: Record<string, unknown> }) =>
    (tx: Transaction) =>
      audit(tx, { actor, action, detail, at: clock.realNow() });

  /** Returns the clock and the counters of the simulated providers. */
  async function read() {
    const { now, offsetMilliseconds, isFrozen, advancing } = readSandboxClock(sandbox);
    return {
      clock: { now, offsetSeconds: offsetMilliseconds / 1000, isFrozen, advancing },
      counters: await readCounters(sandbox),
    };
  }

  return {
    read,
    listDevices: devices.list,
    /** A report from a phone is not a change made in the console: it is recorded with the campaign. */
    report: devices.report,

    /** @throws ServiceError NOT_FOUND */
    async addDevice({ actor, ...device }: By & DeviceOf & { customerId: string; platform: Platform }) {
      const { platform, behaviour } = device;
      await devices.add(
        { ...device, provider: null },
        noteOf({ actor, action: 'sandbox.device-add', detail: { platform, behaviour } }),
      );
      return devices.list(device.workspaceId);
    },

    /** @throws ServiceError NOT_FOUND */
    async changeDevice({ actor, ...device }: By & DeviceOf & { id: string }) {
      const { behaviour } = device;
      await devices.change(device, noteOf({ actor, action: 'sandbox.device-change', detail: { behaviour } }));
      return devices.list(device.workspaceId);
    },

    /** @throws ServiceError PARAMETER_INVALID, CLOCK_ADVANCING */
    async moveClock({ move, actor }: By & { move: ClockMove }) {
      await moveClock(sandbox, { move, note: noteOf({ actor, action: 'sandbox.clock', detail: move }) });
      return read();
    },

    /** Sets the faults that apply from now on; an empty list ends all. @throws ServiceError PARAMETER_INVALID */
    async setFaults({ faults, actor }: By & { faults: Record<string, unknown> }) {
      await setFaults(sandbox, { faults, note: noteOf({ actor, action: 'sandbox.faults', detail: faults }) });
      return read();
    },

    /** Resets demo workspace, counters and faults to the seed. @throws ServiceError PARAMETER_INVALID, OVERLOADED */
    async reset({ actor }: By) {
      await resetSandbox(sandbox, { note: noteOf({ actor, action: 'sandbox.reset' }) });
      return read();
    },

    /** Empties inbox, counters and faults; users and campaigns stay. */
    async empty({ actor }: By) {
      await clearInbox(sandbox, { note: noteOf({ actor, action: 'sandbox.empty' }) });
      return read();
    },
  };
}

export type { SandboxMessage };

/** The sandbox's control over its phones; the simulators of the engine have this form. */
export type SimulatorControl = {
  counters(): Promise<unknown>;
  /** Newest first. */
  refusals(): Promise<SandboxRefusal[]>;
  setFaults(faults: object): Promise<void>;
  reset(): Promise<void>;
};

export type SandboxDependencies = {
  database: Database;
  clock: Clock;
  /** The workspace whose inbox is shown by default. */
  demoWorkspaceId: () => string | undefined;
  simulators: SimulatorControl;
  apiFaults: ApiFaults;
  /** Resolves when a message arrives in the inbox or the time is over, whichever is first. */
  waitForMessage: (milliseconds: number) => Promise<void>;
  clockAdvance: ClockAdvance;
  /** Restores the demo workspace to the state of its first start. */
  resetDemo: (note?: Note) => Promise<{ workspaceId: string }>;
};

export type InboxQuery = {
  workspaceId?: string;
  after: string;
  limit: number;
  waitMilliseconds: number;
  /** True if no caller waits any more. */
  isOver?: () => boolean;
};

/** Writes an entry with a change, in its transaction. */
type Note = (tx: Transaction) => Promise<void>;
type Noted = { note?: Note };

/** Newest first; waits up to `waitMilliseconds` for a first message newer than `after`. */
export async function readInbox(deps: SandboxDependencies, query: InboxQuery): Promise<SandboxMessage[]> {
  const workspaceId = inboxWorkspace(deps, query);
  const deadline = performance.now() + query.waitMilliseconds;
  const asked = { workspaceId, afterId: query.after, limit: query.limit };
  for (;;) {
    const messages = await listSandboxMessages(deps.database, asked);
    const left = deadline - performance.now();
    if (messages.length > 0 || left <= 0 || query.isOver?.()) return messages;
    await deps.waitForMessage(Math.min(left, 250));
  }
}

/** Returns the id of the newest message; empty if there is none. */
export async function findNewestMessage(deps: SandboxDependencies, scope: { workspaceId?: string }): Promise<string> {
  const asked = { workspaceId: inboxWorkspace(deps, scope), afterId: '', limit: 1 };
  return (await listSandboxMessages(deps.database, asked))[0]?.id ?? '';
}

function inboxWorkspace(deps: SandboxDependencies, scope: { workspaceId?: string }): string {
  const workspaceId = scope.workspaceId ?? deps.demoWorkspaceId();
  if (workspaceId === undefined)
    throw new ServiceError('PARAMETER_INVALID', { field: 'workspaceId', reason: 'is required' });
  return workspaceId;
}

/** Returns the counters of the simulated providers, per platform. */
export function readCounters({ simulators }: Pick<SandboxDependencies, 'simulators'>): Promise<unknown> {
  return simulators.counters();
}

/** Lists what the simulated providers rejected, and why; newest first. */
export async function listRefusals(
  { simulators }: Pick<SandboxDependencies, 'simulators'>,
  { limit }: { limit: number },
): Promise<SandboxRefusal[]> {
  return (await simulators.refusals()).slice(0, limit);
}

export type SandboxClock = {
  now: Date;
  /** Ahead of real time, or behind it. */
  offsetMilliseconds: number;
  isFrozen: boolean;
  /** Null while the clock is not being moved to a later time. */
  advancing: ClockProgress | null;
};

export function readSandboxClock({
  clock,
  clockAdvance,
}: Pick<SandboxDependencies, 'clock' | 'clockAdvance'>): SandboxClock {
  const advancing = clockAdvance.progress() ?? null;
  const isFrozen = clock.standsAt() !== undefined;
  return { now: clock.now(), offsetMilliseconds: distanceMilliseconds(clock), isFrozen, advancing };
}

type ClockMove =
  | { advanceSeconds: number }
  | { runUntilIdle: true; withinSeconds?: number }
  | { freeze: true }
  | { resume: true }
  | { reset: true };

/** A campaign that recurs forever is never idle. */
const idleSeconds = 31 * 24 * 3600;

/**
 * Moves the clock of all nodes forward, stopping where work is due: by a given time, or until nothing is due within one.
 * `freeze` stops the clock, so that only a move makes work due; `resume` starts it again. `reset` returns it to real time; time
 * never runs backwards otherwise.
 *
 * @throws ServiceError PARAMETER_INVALID, CLOCK_ADVANCING
 */
export async function moveClock(
  deps: SandboxDependencies,
  { move, note }: Noted & { move: ClockMove },
): Promise<SandboxClock> {
  if ('reset' in move) await deps.clockAdvance.reset(note);
  else if ('freeze' in move) await deps.clockAdvance.freeze(note);
  else if ('resume' in move) await deps.clockAdvance.resume(note);
  else if ('runUntilIdle' in move)
    await deps.clockAdvance.runUntilIdle({ withinMilliseconds: (move.withinSeconds ?? idleSeconds) * 1000, note });
  else await deps.clockAdvance.advance({ milliseconds: move.advanceSeconds * 1000, note });
  return readSandboxClock(deps);
}

/** The simulators are outside the database, so the note is stored first and rolled back if they reject the faults. */
export async function setFaults(
  { database, simulators, apiFaults }: SandboxDependencies,
  { faults, note }: Noted & { faults: object },
): Promise<void> {
  const { api, ...ofProviders } = parseFaults(faults);
  await inTransaction(database, async (tx) => {
    await note?.(tx);
    await simulators.setFaults(ofProviders);
  });
  apiFaults.set(api);
}

/**
 * Resets the demo workspace, the counters and the faults to the seed. Faults end first, because one that delays responses would
 * also delay stopping the sends. The inbox is cleared last, to include messages that arrived in the meantime.
 *
 * @throws ServiceError PARAMETER_INVALID, OVERLOADED
 */
export async function resetSandbox(deps: SandboxDependencies, { note }: Noted = {}): Promise<{ workspaceId: string }> {
  await deps.simulators.setFaults({});
  deps.apiFaults.set([]);
  const demo = await deps.resetDemo(note);
  await deps.simulators.reset();
  return demo;
}

/** Empties the inbox, the counters and the fault switches; users and campaigns stay. */
export async function clearInbox(
  { database, simulators, apiFaults }: SandboxDependencies,
  { note }: Noted = {},
): Promise<void> {
  await inTransaction(database, async (tx) => {
    await note?.(tx);
    await deleteSandboxMessages(tx);
    await simulators.reset();
  });
  apiFaults.set([]);
}

/** The faults of this node's own API, for callers that test their reaction to them. */
export type ApiFaults = {
  set(faults: Fault[]): void;
  /** Returns the fault that applies to a request, if there is one. */
  strike(request: Struck): Fault | undefined;
};

export function makeApiFaults(): ApiFaults {
  let faults: Fault[] = [];
  let strike = makeFaultSwitch([]);
  return {
    set(next) {
      faults = next;
      strike = makeFaultSwitch(faults);
    },
    strike: (request) => (faults.length === 0 ? undefined : strike(request)),
  };
}
