import { findNames, pathWithoutNames, spellingsOf } from '../../domain/users/named-texts.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import {
  advanceLogPass,
  claimLogPass,
  countEmptiedCalls,
  emptyCalls,
  endLogPass,
  listCallsOfPass,
} from '../../storage/users/log-erasures.ts';
import type { LogPass, LoggedTexts } from '../../storage/users/log-erasures.ts';
import type { Job } from '../jobs/job.ts';

// At most 800 kB of bodies. Searching them takes 35 ms of the processor, and 95 ms if a caller sent bodies to make it slow
// (measured with 1,000 users).
const pageCalls = 100;
// Users erased by one pass. Only the ends of cut bodies are compared with each name.
const passErasures = 1_000;

/**
 * The job that empties the calls of the API log that name erased users (decision 0013), a page of one pass in each
 * transaction. The log has no index by user, so the users of a workspace who were erased meanwhile share a pass.
 */
export function makeEraseLogBodies({ database }: { database: Database }): Job {
  return {
    name: 'erase-log-bodies',
    intervalMilliseconds: 10_000,
    runOnce: (now) =>
      inTransaction(database, async (tx) => {
        const pass = await claimLogPass(tx, { at: now, limit: passErasures });
        if (!pass) return 0;
        const calls = await listCallsOfPass(tx, { pass, limit: pageCalls });
        await emptyNamingCalls(tx, { pass, calls });
        if (calls.length < pageCalls) await endLogPass(tx, pass);
        else await advanceLogPass(tx, { pass, to: calls.at(-1)! });
        return 1;
      }),
  };
}

async function emptyNamingCalls(
  tx: Transaction,
  { pass, calls }: { pass: LogPass; calls: readonly LoggedTexts[] },
): Promise<void> {
  const erasuresOf = new Map<string, string[]>();
  for (const { erasureId, names } of pass.erasures)
    for (const name of names.flatMap(spellingsOf)) erasuresOf.set(name, [...(erasuresOf.get(name) ?? []), erasureId]);
  const names = new Set(erasuresOf.keys());
  const emptied: { id: string; path: string }[] = [];
  const counts = new Map<string, number>();
  for (const call of calls) {
    const found = findNames(call, names);
    if (found.size === 0) continue;
    emptied.push({ id: call.id, path: pathWithoutNames(call.path, names) });
    for (const erasureId of new Set([...found].flatMap((name) => erasuresOf.get(name)!)))
      counts.set(erasureId, (counts.get(erasureId) ?? 0) + 1);
  }
  if (emptied.length === 0) return;
  await emptyCalls(tx, emptied);
  // In the order of the primary key, so that two passes never deadlock.
  const counted = [...counts].map(([erasureId, count]) => ({ erasureId, calls: count }));
  await countEmptiedCalls(
    tx,
    counted.sort((a, b) => (a.erasureId < b.erasureId ? -1 : 1)),
  );
}
