import { randomBytes } from 'node:crypto';
import { retryDeadlock } from '../../domain/database-faults.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { eraseInstallations } from '../../storage/installations.ts';
import { eraseStreamedEvents } from '../../storage/outbox/stream-marks.ts';
import {
  anonymiseAuditLines,
  anonymiseConversions,
  anonymiseDeliveries,
  eraseAudienceSeats,
  eraseDevices,
  eraseEvents,
  eraseIdentifiers,
  eraseInbox,
  eraseInteractions,
  eraseMemberships,
  eraseTargets,
  eraseJourneyEntries,
  eraseTriggers,
  eraseTopicChoices,
  eraseUserMessages,
  eraseUsers,
  listDevicesOf,
} from '../../storage/users/erased-traces.ts';
import type { User } from '../../storage/users/erased-traces.ts';
import { eraseFilters, eraseSelectors, listNamesOf } from '../../storage/users/erased-names.ts';
import { insertLogErasure } from '../../storage/users/log-erasures.ts';
import { noteErasureStep, takeDueErasure } from '../../storage/users/erasures.ts';
import type { Erasure } from '../../storage/users/erasures.ts';
import { listMergedRows } from '../../storage/users/merged-users.ts';
import { lockUserByKey } from '../../storage/users/users.ts';
import type { Job } from '../jobs/job.ts';

// Longer than any window, attempt or file in progress, which may still write rows of the user.
const secondLookMilliseconds = 3_600_000;
// The API log stores a call within half a second of its response.
const logSettledMilliseconds = 60_000;

/**
 * The job that erases users whose deletion is due (decision 0013), each step in one transaction. The first step removes
 * everything. The second, an hour later, removes what work in progress wrote in the meantime and clears the user ids from the
 * erasure. The proof remains, with the counts.
 */
export function makeEraseDueUsers({ database }: { database: Database }): Job {
  return {
    name: 'erase-people',
    intervalMilliseconds: 5_000,
    runOnce: (now) =>
      // A device that registers with the address of another locks the address before the device; an erasure must delete
      // devices first, to know their addresses.
      retryDeadlock(() =>
        inTransaction(database, async (tx) => {
          const erasure = await takeDueErasure(tx, now);
          if (!erasure) return 0;
          await takeStep(tx, erasure, now);
          return 1;
        }),
      ),
  };
}

async function takeStep(tx: Transaction, erasure: Erasure, at: Date): Promise<void> {
  const { id, workspaceId } = erasure;
  const user = erasure.users[0]!;
  // Waits for a registration or a merge in progress.
  await lockUserByKey(tx, { workspaceId, ...user });
  const merged = await listMergedRows(tx, { workspaceId, ...user });
  const users = [...erasure.users, ...merged];
  const names = await listNamesOf(tx, { workspaceId, users });
  const counts = addCounts(erasure.counts, await eraseTraces(tx, { workspaceId, users, names }));
  if (erasure.state === 'REMOVED') return noteErasureStep(tx, { id, counts, at, state: 'DONE' });
  const until = new Date(at.getTime() + logSettledMilliseconds);
  // Callers may name users by Carillon's id, too.
  const logged = [...names, ...users.map(({ userId }) => userId)];
  await insertLogErasure(tx, { workspaceId, erasureId: id, names: logged, until });
  const dueAt = new Date(at.getTime() + secondLookMilliseconds);
  return noteErasureStep(tx, { id, counts, at, state: 'REMOVED', users, dueAt });
}

/** Erases in a fixed order: data that is found through the ledger comes before the ledger. */
async function eraseTraces(tx: Transaction, user: User & { names: string[] }): Promise<Record<string, number>> {
  const salted = { ...user, salt: randomBytes(32).toString('hex') };
  const named = { workspaceId: user.workspaceId, names: user.names };
  const selectors = await eraseSelectors(tx, named);
  const filters = await eraseFilters(tx, named);
  const interactions = await eraseInteractions(tx, user);
  const streamed = await eraseStreamedEvents(tx, {
    workspaceId: user.workspaceId,
    userIds: user.users.map(({ userId }) => userId),
    deviceIds: await listDevicesOf(tx, user),
  });
  const { devices, addresses, messages } = await eraseDevices(tx, user);
  const identifiers = await eraseIdentifiers(tx, user);
  const events = await eraseEvents(tx, user);
  const triggers = await eraseTriggers(tx, user);
  const journeys = await eraseJourneyEntries(tx, user);
  const memberships = await eraseMemberships(tx, user);
  const conversions = await anonymiseConversions(tx, salted);
  const deliveries = await anonymiseDeliveries(tx, salted);
  const userMessages = await eraseUserMessages(tx, user);
  const topicChoices = await eraseTopicChoices(tx, user);
  const inboxMessages = await eraseInbox(tx, user);
  const seats = await eraseAudienceSeats(tx, user);
  const runs = await eraseTargets(tx, user);
  const installations = await eraseInstallations(tx, user);
  const auditLines = await anonymiseAuditLines(tx, user);
  const { users, mergedIds } = await eraseUsers(tx, user);
  return {
    users,
    merged_users: mergedIds,
    identifiers,
    devices,
    push_addresses: addresses,
    events,
    triggers,
    journey_positions: journeys,
    segment_members: memberships,
    device_interactions: interactions,
    conversions,
    deliveries,
    user_messages: userMessages,
    topic_choices: topicChoices,
    inbox_messages: inboxMessages,
    audience_seats: seats,
    runs,
    event_stream_batches: streamed,
    sandbox_messages: messages,
    audit_log: auditLines,
    target_selectors: selectors,
    filters,
    installations,
  };
}

function addCounts(before: Record<string, number>, more: Record<string, number>): Record<string, number> {
  const sums = Object.entries(more).map(([table, count]) => [table, (before[table] ?? 0) + count]);
  return { ...before, ...Object.fromEntries(sums) };
}
