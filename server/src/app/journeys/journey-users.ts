import { ServiceError } from '../../domain/errors.ts';
import { stepsInOrder } from '../../domain/journeys/check-shape.ts';
import type { UserKey } from '../../domain/users/users.ts';
import type { Database } from '../../storage/database.ts';
import { findGraphs } from '../../storage/journeys/graphs.ts';
import {
  countUsersBySteps,
  listEntriesOfUser,
  listPassagesOfUser,
  listUsersAtStep,
  sumJourneyFigures,
} from '../../storage/journeys/journey-figures.ts';
import type {
  EdgeFigure,
  EntryOfUser,
  Passage,
  UserAtStep,
  StepCount,
} from '../../storage/journeys/journey-figures.ts';
import { findUsersByCustomerIds } from '../../storage/users/users.ts';
import { getJourney } from './journeys.ts';

export type { UserAtStep };

type Reading = { database: Database };
type Named = { workspaceId: string; id: string };

export type JourneyFigures = {
  /** Users who are at each step now. */
  inside: StepCount[];
  /** Users who left a step by each edge; of an empty step: who entered, and why entries ended. */
  edges: EdgeFigure[];
};

/** Returns the figures of a journey for a range of days. @throws ServiceError JOURNEY_NOT_FOUND */
export async function readJourneyFigures(
  { database }: Reading,
  { workspaceId, id, from, to }: Named & { from: string | undefined; to: string | undefined },
): Promise<JourneyFigures> {
  await getJourney(database, { workspaceId, id });
  const of = { workspaceId, journeyId: id };
  const inside = await countUsersBySteps(database, of);
  return { inside, edges: await sumJourneyFigures(database, { ...of, from, to }) };
}

/** Lists users at a step, by the ids of their entries. @throws ServiceError JOURNEY_NOT_FOUND */
export async function readUsersAtStep(
  { database }: Reading,
  { workspaceId, id, ...page }: Named & { step: string; after: string | undefined; limit: number },
): Promise<UserAtStep[]> {
  await getJourney(database, { workspaceId, id });
  return listUsersAtStep(database, { workspaceId, journeyId: id, ...page });
}

export type EntryHistory = EntryOfUser & { passages: Passage[] };

// Entries of one user; re-entry may be `always`.
const shownEntries = 20;

/** Returns the newest entries of a user with the steps they passed. @throws ServiceError JOURNEY_NOT_FOUND, JOURNEY_USER_NOT_FOUND */
export async function readHistoryOfUser(
  { database }: Reading,
  { workspaceId, id, customerId }: Named & { customerId: string },
): Promise<EntryHistory[]> {
  await getJourney(database, { workspaceId, id });
  const { bucket, userId } = await requireUser(database, { workspaceId, customerId });
  const of = { workspaceId, journeyId: id, bucket, userId };
  const entries = await listEntriesOfUser(database, { ...of, limit: shownEntries });
  const passages = await listPassagesOfUser(database, { ...of, entryIds: entries.map(({ entryId }) => entryId) });
  const ofEntries = Map.groupBy(await inOrderOfPath(database, { journeyId: id, passages }), ({ entryId }) => entryId);
  return entries.map((entry) => ({ ...entry, passages: ofEntries.get(entry.entryId) ?? [] }));
}

/** Steps that are passed at one instant are in the order of the graph. */
async function inOrderOfPath(
  database: Database,
  { journeyId, passages }: { journeyId: string; passages: readonly Passage[] },
): Promise<Passage[]> {
  const graphOf = await findGraphs(
    database,
    passages.map(({ version }) => ({ journeyId, version })),
  );
  const orders = new Map<number, string[]>();
  const rankOf = ({ version, step }: Passage): number => {
    const order = orders.get(version) ?? stepsInOrder(graphOf({ journeyId, version }).graph);
    orders.set(version, order);
    return order.indexOf(step);
  };
  return passages.toSorted((one, other) => +one.leftAt - +other.leftAt || rankOf(one) - rankOf(other));
}

async function requireUser(
  database: Database,
  { workspaceId, customerId }: { workspaceId: string; customerId: string },
): Promise<UserKey> {
  const [user] = await findUsersByCustomerIds(database, { workspaceId, customerIds: [customerId], limit: 1 });
  if (!user) throw new ServiceError('JOURNEY_USER_NOT_FOUND');
  return user;
}
