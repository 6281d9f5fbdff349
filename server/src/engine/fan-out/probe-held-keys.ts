import type { Clock } from '../../clock.ts';
import { canProbe } from '../../domain/delivery/evidence.ts';
import type { Database } from '../../storage/database.ts';
import { listKeysToProbe } from '../../storage/limits/provider-evidence.ts';
import type { HeldKey } from '../../storage/limits/provider-evidence.ts';
import { listWaitingForKey, makeDue } from '../../storage/ledger/held-deliveries.ts';
import { probeMilliseconds } from '../governor/evidence.ts';
import type { Job } from '../job.ts';

export type ProbeHeldKeysDependencies = { database: Database; clock: Clock; onDue: () => void };

const maxKeys = 100;
/** More than a key remembers, so that one of them has not failed lately. */
const waitingDevices = 25;

/**
 * The job that finds out whether held credentials work again: every five seconds it makes one message of each due, to a device
 * that has not failed lately. The worker that claims the message asks for the turn (`mayProbe`), so of several nodes one
 * sends. The first accepted message releases the key.
 */
export function makeProbeHeldKeys({ database, clock, onDue }: ProbeHeldKeysDependencies): Job {
  return {
    name: 'probe-held-keys',
    intervalMilliseconds: probeMilliseconds,
    async runOnce(now) {
      const before = new Date(now.getTime() - probeMilliseconds);
      const keys = await listKeysToProbe(database, { before, limit: maxKeys });
      let due = 0;
      for (const key of keys) due += await probe({ database, clock }, key);
      if (due > 0) onDue();
      return 0;
    },
  };
}

async function probe(
  { database, clock }: Pick<ProbeHeldKeysDependencies, 'database' | 'clock'>,
  { key, code, remembered }: HeldKey,
): Promise<0 | 1> {
  const now = clock.now();
  const waiting = await listWaitingForKey(database, { key, code, limit: waitingDevices });
  const hold = { key, code, detail: '', until: null, remembered };
  const next = waiting.find(({ deviceId }) => canProbe(hold, { deviceId, now: now.getTime() }));
  if (!next) return 0;
  await makeDue(database, { ...next, at: now });
  return 1;
}
