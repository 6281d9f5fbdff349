import type { Clock } from '../../clock.ts';
import type { Transaction } from '../../storage/database.ts';
import type { SignedIn } from '../accounts/account-dependencies.ts';
import { audit } from '../accounts/audit.ts';
import type { Platform } from '../../domain/campaigns/content.ts';
import {
  clearInbox,
  moveClock,
  readCounters,
  readSandboxClock,
  resetSandbox,
  setFaults,
} from '../sandbox/control-sandbox.ts';
import type { ClockMove, SandboxDependencies } from '../sandbox/control-sandbox.ts';
import type { DeviceBehaviour, VirtualDevices } from '../sandbox/virtual-devices.ts';

type By = { by: SignedIn };
export type ConsoleSandboxDependencies = { clock: Clock; sandbox: SandboxDependencies; devices: VirtualDevices };

type DeviceOf = { workspaceId: string; behaviour: DeviceBehaviour };
export type ConsoleSandbox = ReturnType<typeof makeConsoleSandbox>;

/** The sandbox as the console uses it; each change with its line in the audit log. */
export function makeConsoleSandbox({ clock, sandbox, devices }: ConsoleSandboxDependencies) {
  const noteOf =
    ({ by, action, detail = {} }: By & { action: `sandbox.${string}`; detail?: Record<string, unknown> }) =>
    (tx: Transaction) =>
      audit(tx, { actor: by, action, detail, at: clock.realNow() });

  /** The clock, and what the simulated providers counted. */
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
    async addDevice({ by, ...device }: By & DeviceOf & { customerId: string; platform: Platform }) {
      const { platform, behaviour } = device;
      await devices.add(
        { ...device, provider: null },
        noteOf({ by, action: 'sandbox.device-add', detail: { platform, behaviour } }),
      );
      return devices.list(device.workspaceId);
    },

    /** @throws ServiceError NOT_FOUND */
    async changeDevice({ by, ...device }: By & DeviceOf & { id: string }) {
      const { behaviour } = device;
      await devices.change(device, noteOf({ by, action: 'sandbox.device-change', detail: { behaviour } }));
      return devices.list(device.workspaceId);
    },

    /** @throws ServiceError PARAMETER_INVALID, CLOCK_ADVANCING */
    async moveClock({ move, by }: By & { move: ClockMove }) {
      await moveClock(sandbox, { move, note: noteOf({ by, action: 'sandbox.clock', detail: move }) });
      return read();
    },

    /** The faults in effect from now on; an empty list ends all. @throws ServiceError PARAMETER_INVALID */
    async setFaults({ faults, by }: By & { faults: Record<string, unknown> }) {
      await setFaults(sandbox, { faults, note: noteOf({ by, action: 'sandbox.faults', detail: faults }) });
      return read();
    },

    /** The demo workspace, counters and faults back to the seed. @throws ServiceError PARAMETER_INVALID, OVERLOADED */
    async reset({ by }: By) {
      await resetSandbox(sandbox, { note: noteOf({ by, action: 'sandbox.reset' }) });
      return read();
    },

    /** Empties inbox, counters and faults; people and campaigns stay. */
    async empty({ by }: By) {
      await clearInbox(sandbox, { note: noteOf({ by, action: 'sandbox.empty' }) });
      return read();
    },
  };
}
