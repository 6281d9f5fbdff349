import { ServiceError } from '../../domain/errors.ts';
import { makeId } from '../../domain/ids.ts';
import { readStoredGraph } from '../../domain/journeys/read-graph.ts';
import { utcDay } from '../../storage/runs/runs.ts';
import { findJourneyVersion, holdJourney } from '../../storage/journeys/journeys.ts';
import { addJourneyFigures, enterJourney } from '../../storage/journeys/positions.ts';
import type { NewEntry } from '../../storage/journeys/positions.ts';
import { holdUsersInOrder } from '../../storage/users/users.ts';
import { answerOnce } from '../idempotency.ts';
import { notAllowed } from './journeys.ts';
import type { JourneyCaller, JourneyDependencies } from './journeys.ts';

/** A user who is to enter, with values that the texts of messages may use as attributes of the entry event. */
export type EnteringUser = { customerId: string; attributes: Record<string, unknown> };

export type EnteredUsers = {
  entered: string[];
  /** Who may not enter again now. */
  refused: string[];
  unknown: string[];
};

/**
 * Lets users enter a journey, whatever its entry is. Repeats with the same idempotency key let nobody enter again.
 *
 * @throws ServiceError JOURNEY_NOT_FOUND, JOURNEY_ACTION_INVALID
 */
export function enterUsers(
  deps: JourneyDependencies,
  { workspaceId, once, id, users }: JourneyCaller & { id: string; users: readonly EnteringUser[] },
): Promise<EnteredUsers> {
  const at = deps.clock.now();
  return answerOnce(deps, { workspaceId, operation: `journey:enter:${id}`, ...once, at }, async (tx) => {
    const journey = await holdJourney(tx, { workspaceId, id });
    if (!journey) throw new ServiceError('JOURNEY_NOT_FOUND');
    if (journey.status !== 'ACTIVE') throw notAllowed('ENTER', journey);
    const version = (await findJourneyVersion(tx, { workspaceId, journeyId: id, version: journey.version! }))!;
    const { firstStep, reentry } = readStoredGraph(version.graph);
    const attributesOf = new Map(users.map(({ customerId, attributes }) => [customerId, attributes]));
    const held = await holdUsersInOrder(tx, { workspaceId, customerIds: [...attributesOf.keys()] });
    const occurredAt = at.toISOString();
    const entries = held.map(({ bucket, userId, customerId }) => ({
      ...{ bucket, userId, customerId, entryId: makeId(at) },
      event: { name: null, attributes: attributesOf.get(customerId)!, occurredAt },
    }));
    const entering = { workspaceId, journeyId: id, version: version.version, firstStep, reentry, at };
    const stored: NewEntry[] = await enterJourney(tx, { ...entering, users: entries });
    const entered = { ...{ workspaceId, journeyId: id, version: version.version }, step: '', edge: 'entered' };
    if (stored.length > 0)
      await addJourneyFigures(tx, { changes: [{ ...entered, users: stored.length }], day: utcDay(at), slot: 0 });
    const ids = new Set(stored.map(({ entryId }) => entryId));
    const known = new Set(held.map(({ customerId }) => customerId));
    return {
      entered: entries.filter(({ entryId }) => ids.has(entryId)).map(({ customerId }) => customerId),
      refused: entries.filter(({ entryId }) => !ids.has(entryId)).map(({ customerId }) => customerId),
      unknown: [...attributesOf.keys()].filter((customerId) => !known.has(customerId)),
    };
  });
}
