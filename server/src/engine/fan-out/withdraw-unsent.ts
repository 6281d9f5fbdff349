import type { Transaction } from '../../storage/database.ts';
import { planByValues } from '../../storage/database.ts';
import type { RunToSend } from '../../storage/runs/run-states.ts';
import { withdrawUserMessages } from '../../storage/users/user-messages.ts';
import type { UserKey } from '../../domain/users/bucket.ts';
import { eligibilityRulesOfRun } from './admit-users.ts';
import type { DeviceResult } from './device-result.ts';

type Settled = { run: RunToSend; chunk: 'HELD' | 'ENDED'; results: DeviceResult[] };

const failures = new Set(['GONE', 'REJECTED', 'EXPIRED', 'FAILED']);

/**
 * A message that no device of a user took counts against no cap. In the transaction that stores the outcomes; a run
 * whose messages are not written down costs nothing.
 */
export async function withdrawUnsent(tx: Transaction, { run, chunk, results }: Settled): Promise<void> {
  if (!eligibilityRulesOfRun(run)?.record) return;
  const users = new Map<string, UserKey>();
  for (const { delivery } of results)
    if (failures.has(delivery.outcome))
      users.set(`${delivery.bucket}/${delivery.userId}`, { bucket: delivery.bucket, userId: delivery.userId });
  if (users.size === 0) return;
  await planByValues(tx);
  const { workspaceId, day, id: runId, number: runNumber } = run;
  await withdrawUserMessages(tx, { workspaceId, runId, runNumber, day, chunk, users: [...users.values()] });
}
