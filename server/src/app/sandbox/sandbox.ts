import { distanceMilliseconds } from '../../clock.ts';
import type { Clock } from '../../clock.ts';
import { ServiceError } from '../../domain/errors.ts';
import { parseFaults, makeFaultSwitch } from '../../domain/sandbox/faults.ts';
import type { Struck, Fault } from '../../domain/sandbox/faults.ts';
import type { ProviderName } from '../../domain/delivery/providers.ts';
import type { SandboxRefusal } from '../../domain/sandbox/refusals.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { deleteSandboxMessages, listSandboxMessages } from '../../storage/installation/sandbox.ts';
import type { SandboxMessage } from '../../storage/installation/sandbox.ts';
import { audit } from '../accounts/audit.ts';
import type { Actor } from '../accounts/audit.ts';
import type { ClockAdvance, ClockMove, ClockProgress } from './clock-advance.ts';
import type { VirtualDevices } from './sandbox-devices.ts';

/** The dependencies of the console's sandbox screen. */
export type ConsoleSandbox = SandboxDependencies & { devices: VirtualDevices };

/** Returns the clock and the counters of the simulated providers, as the console shows them. */
export async function readSandbox(deps: SandboxDependencies) {
  const { now, offsetMilliseconds, isFrozen, advancing } = readSandboxClock(deps);
  return {
    clock: { now, offsetSeconds: offsetMilliseconds / 1000, isFrozen, advancing },
    counters: await readCounters(deps),
    faults: { ...(await deps.simulators.faultsLeft()), api: deps.apiFaults.left() },
  };
}

export type { SandboxMessage };

/** The sandbox's control over its phones; the simulators of the engine have this form. */
export type SimulatorControl = {
  counters(): Promise<unknown>;
  /** Newest first. */
  refusals(): Promise<SandboxRefusal[]>;
  setFaults(faults: object): Promise<void>;
  /** The faults that may still apply, by provider. */
  faultsLeft(): Promise<Record<ProviderName, Fault[]>>;
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
  resetDemo: (by: By) => Promise<{ workspaceId: string }>;
};

export type InboxQuery = {
  workspaceId?: string;
  after: string;
  limit: number;
  waitMilliseconds: number;
  /** True if no caller waits any more. */
  isOver?: () => boolean;
};

type By = { actor: Actor };

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

/**
 * Moves the clock of all nodes forward, stopping where work is due: by a given time, or until nothing is due within one.
 * `freeze` stops the clock, so that only a move makes work due; `resume` starts it again. `reset` returns it to real time; time
 * never runs backwards otherwise.
 *
 * @throws ServiceError PARAMETER_INVALID, CLOCK_ADVANCING
 */
export async function moveClock(deps: SandboxDependencies, requested: By & { move: ClockMove }): Promise<SandboxClock> {
  await deps.clockAdvance.move(requested);
  return readSandboxClock(deps);
}

/**
 * Sets the faults that apply from now on; an empty object ends all. The simulators are outside the database, so the audit line is
 * written first and rolled back if they reject the faults.
 *
 * @throws ServiceError PARAMETER_INVALID
 */
export async function setFaults(
  { database, clock, simulators, apiFaults }: SandboxDependencies,
  { faults, actor }: By & { faults: Record<string, unknown> },
): Promise<void> {
  const { api, ...ofProviders } = parseFaults(faults);
  await inTransaction(database, async (tx) => {
    await audit(tx, { actor, action: 'sandbox.faults', detail: faults, at: clock.realNow() });
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
export async function resetSandbox(deps: SandboxDependencies, by: By): Promise<{ workspaceId: string }> {
  await deps.simulators.setFaults({});
  deps.apiFaults.set([]);
  const demo = await deps.resetDemo(by);
  await deps.simulators.reset();
  return demo;
}

/** Empties the inbox, the counters and the fault switches; users and campaigns stay. */
export async function clearInbox(
  { database, clock, simulators, apiFaults }: SandboxDependencies,
  { actor }: By,
): Promise<void> {
  await inTransaction(database, async (tx) => {
    await audit(tx, { actor, action: 'sandbox.empty', at: clock.realNow() });
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
  /** Returns the faults that may still apply. */
  left(): Fault[];
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
    left: () => strike.left(),
  };
}
