import type { Clock } from '../../clock.ts';
import type { Transaction } from '../../storage/pool.ts';
import type { SignedIn } from '../accounts/account-dependencies.ts';
import { audit } from '../accounts/audit.ts';
import type { SandboxUseCases } from '../sandbox/sandbox-use-cases.ts';

type By = { by: SignedIn };
export type ConsoleSandboxDependencies = { clock: Clock; sandbox: SandboxUseCases };
export type ConsoleSandbox = ReturnType<typeof makeConsoleSandbox>;

/** The sandbox as the console uses it; each change with its line in the audit log. */
export function makeConsoleSandbox({ clock, sandbox }: ConsoleSandboxDependencies) {
  const noteOf =
    ({ by, action, detail = {} }: By & { action: `sandbox.${string}`; detail?: Record<string, unknown> }) =>
    (tx: Transaction) =>
      audit(tx, { actor: by, action, detail, at: clock.now() });

  /** The clock, and what the simulated providers counted. */
  async function read() {
    const { now, offsetMilliseconds } = sandbox.readClock();
    return { clock: { now, offsetSeconds: offsetMilliseconds / 1000 }, counters: await sandbox.readCounters() };
  }

  return {
    read,

    /** @throws ServiceError PARAMETER_INVALID */
    async moveClock({ move, by }: By & { move: { advanceSeconds: number } | { reset: true } }) {
      await sandbox.moveClock(move, noteOf({ by, action: 'sandbox.clock', detail: move }));
      return read();
    },

    /** Those that strike from now on; none of them ends all. @throws ServiceError PARAMETER_INVALID */
    async setFaults({ faults, by }: By & { faults: Record<string, unknown> }) {
      await sandbox.setFaults(faults, noteOf({ by, action: 'sandbox.faults', detail: faults }));
      return read();
    },

    /** The demo workspace, counters and faults back to the seed. @throws ServiceError PARAMETER_INVALID, OVERLOADED */
    async reset({ by }: By) {
      await sandbox.reset(noteOf({ by, action: 'sandbox.reset' }));
      return read();
    },

    /** Empties inbox, counters and faults; people and campaigns stay. */
    async empty({ by }: By) {
      await sandbox.clearInbox(noteOf({ by, action: 'sandbox.empty' }));
      return read();
    },
  };
}
