import { ServiceError } from '../../domain/errors.ts';
import type { UserKey } from '../../domain/users/users.ts';
import type { Database } from '../../storage/database.ts';
import {
  countPeopleBySteps,
  listEntriesOfPerson,
  listPassagesOfPerson,
  listPeopleAtStep,
  sumJourneyFigures,
} from '../../storage/journeys/journey-figures.ts';
import type {
  EdgeFigure,
  EntryOfPerson,
  Passage,
  PersonAtStep,
  StepCount,
} from '../../storage/journeys/journey-figures.ts';
import { findUsersByCustomerIds } from '../../storage/users/users.ts';
import { getJourney } from './journeys.ts';

type Reading = { database: Database };
type Named = { workspaceId: string; id: string };

export type JourneyFigures = {
  /** People who are at each step now. */
  inside: StepCount[];
  /** People who left a step by each edge; of an empty step: who entered, and why entries ended. */
  edges: EdgeFigure[];
};

/** Returns the figures of a journey for a range of days. @throws ServiceError JOURNEY_NOT_FOUND */
export async function readJourneyFigures(
  { database }: Reading,
  { workspaceId, id, from, to }: Named & { from: string | undefined; to: string | undefined },
): Promise<JourneyFigures> {
  await getJourney(database, { workspaceId, id });
  const of = { workspaceId, journeyId: id };
  const inside = await countPeopleBySteps(database, of);
  return { inside, edges: await sumJourneyFigures(database, { ...of, from, to }) };
}

/** Lists people at a step, by the ids of their entries. @throws ServiceError JOURNEY_NOT_FOUND */
export async function readPeopleAtStep(
  { database }: Reading,
  { workspaceId, id, ...page }: Named & { step: string; after: string | undefined; limit: number },
): Promise<PersonAtStep[]> {
  await getJourney(database, { workspaceId, id });
  return listPeopleAtStep(database, { workspaceId, journeyId: id, ...page });
}

export type EntryHistory = EntryOfPerson & { passages: Passage[] };

// Entries of one person; re-entry may be `always`.
const shownEntries = 20;

/** Returns the newest entries of a person with the steps they passed. @throws ServiceError JOURNEY_NOT_FOUND, JOURNEY_PERSON_NOT_FOUND */
export async function readHistoryOfPerson(
  { database }: Reading,
  { workspaceId, id, customerId }: Named & { customerId: string },
): Promise<EntryHistory[]> {
  await getJourney(database, { workspaceId, id });
  const { bucket, userId } = await requirePerson(database, { workspaceId, customerId });
  const of = { workspaceId, journeyId: id, bucket, userId };
  const entries = await listEntriesOfPerson(database, { ...of, limit: shownEntries });
  const passages = await listPassagesOfPerson(database, { ...of, entryIds: entries.map(({ entryId }) => entryId) });
  return entries.map((entry) => ({ ...entry, passages: passages.filter(({ entryId }) => entryId === entry.entryId) }));
}

async function requirePerson(
  database: Database,
  { workspaceId, customerId }: { workspaceId: string; customerId: string },
): Promise<UserKey> {
  const [person] = await findUsersByCustomerIds(database, { workspaceId, customerIds: [customerId], limit: 1 });
  if (!person) throw new ServiceError('JOURNEY_PERSON_NOT_FOUND');
  return person;
}
