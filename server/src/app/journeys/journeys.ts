import type { Clock } from '../../clock.ts';
import type { Encryption } from '../../domain/crypto/encryption.ts';
import { ServiceError } from '../../domain/errors.ts';
import { makeId } from '../../domain/ids.ts';
import { maxJourneys } from '../../domain/limits/journeys.ts';
import { findUnstorable, unstorable } from '../../domain/storable-text.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database, Queryable, Transaction } from '../../storage/database.ts';
import {
  countJourneys,
  deleteDraftJourney,
  findJourney,
  findJourneyVersion,
  insertJourney,
  listJourneys,
  lockJourney,
  updateJourneyDraft,
} from '../../storage/journeys/journeys.ts';
import type { Journey, JourneySearch, JourneyVersion } from '../../storage/journeys/journeys.ts';
import { audit } from '../accounts/audit.ts';
import type { Actor } from '../accounts/audit.ts';
import { invalidCampaign } from '../campaigns/prepare-campaign.ts';
import { answerOnce } from '../idempotency.ts';
import { requireWorkspace } from '../workspaces.ts';

export type { Journey, JourneySearch };

export type JourneyDependencies = {
  database: Database;
  clock: Clock;
  encryption: Encryption;
  /** Vendor prefixes that names of attributes may not have. */
  prefixes: readonly string[];
};

/** The caller, and how a repeated request is recognised. */
export type JourneyCaller = {
  workspaceId: string;
  actor: Actor;
  once: { key: string | undefined; rawBody: string };
};
/** Callers whose requests are never repeated by a key. */
export const unrepeated = { key: undefined, rawBody: '' };

type Named = { workspaceId: string; id: string };
/** A graph as it is sent. */
export type SentGraph = Record<string, unknown>;

/** @throws ServiceError JOURNEY_NOT_FOUND */
export async function getJourney(database: Queryable, named: Named): Promise<Journey> {
  const journey = await findJourney(database, named);
  if (!journey) throw new ServiceError('JOURNEY_NOT_FOUND');
  return journey;
}

/** Locks a journey in the caller's transaction. @throws ServiceError JOURNEY_NOT_FOUND */
export async function requireJourney(tx: Transaction, named: Named): Promise<Journey> {
  const journey = await lockJourney(tx, named);
  if (!journey) throw new ServiceError('JOURNEY_NOT_FOUND');
  return journey;
}

export type ReadJourney = { journey: Journey; live: JourneyVersion | undefined };

/** Returns a journey with the version that users enter. @throws ServiceError JOURNEY_NOT_FOUND */
export async function readJourney(
  { database }: Pick<JourneyDependencies, 'database'>,
  { workspaceId, id }: Named,
): Promise<ReadJourney> {
  const journey = await getJourney(database, { workspaceId, id });
  const { version } = journey;
  const live =
    version === null ? undefined : await findJourneyVersion(database, { workspaceId, journeyId: id, version });
  return { journey, live };
}

/** Lists a page of journeys, newest first. */
export function searchJourneys(
  { database }: Pick<JourneyDependencies, 'database'>,
  search: JourneySearch,
): Promise<Journey[]> {
  return listJourneys(database, search);
}

/**
 * Creates a draft. Its graph may be unfinished: it is checked when it is published, or by validateJourney.
 *
 * @throws ServiceError JOURNEY_NAME_TAKEN, JOURNEY_LIMITED, CAMPAIGN_REQUEST_INVALID
 */
export function createJourney(
  deps: JourneyDependencies,
  { workspaceId, actor, once, name, graph }: JourneyCaller & { name: string; graph: SentGraph },
): Promise<{ id: string }> {
  refuseUnstorable(graph);
  const at = deps.clock.now();
  return answerOnce(deps, { workspaceId, operation: 'journey:create', ...once, at }, async (tx) => {
    await requireWorkspace(tx, workspaceId);
    if ((await countJourneys(tx, workspaceId)) >= maxJourneys) throw new ServiceError('JOURNEY_LIMITED');
    const id = makeId(at);
    if (!(await insertJourney(tx, { id, workspaceId, name, draft: graph, by: actor.name, at })))
      throw new ServiceError('JOURNEY_NAME_TAKEN');
    const object = { id, name };
    await audit(tx, { actor, workspaceId, action: 'journey.create', object, at: deps.clock.realNow() });
    return { id };
  });
}

/**
 * Changes the name or the draft. Users see nothing of it until the journey is published.
 *
 * @throws ServiceError JOURNEY_NOT_FOUND, JOURNEY_NAME_TAKEN, JOURNEY_ACTION_INVALID, CAMPAIGN_REQUEST_INVALID
 */
export async function changeJourney(
  { database, clock }: JourneyDependencies,
  change: Named & { actor: Actor; name: string | undefined; graph: SentGraph | undefined },
): Promise<void> {
  const { workspaceId, id, actor } = change;
  if (change.graph) refuseUnstorable(change.graph);
  await inTransaction(database, async (tx) => {
    const before = await requireJourney(tx, { workspaceId, id });
    if (before.status === 'STOPPED') throw notAllowed('CHANGE', before);
    const { name = before.name, graph: draft = before.draft } = change;
    const changed = { workspaceId, id, name, draft, by: actor.name, at: clock.now() };
    if (!(await updateJourneyDraft(tx, changed))) throw new ServiceError('JOURNEY_NAME_TAKEN');
    await audit(tx, { actor, workspaceId, action: 'journey.change', object: { id, name }, at: clock.realNow() });
  });
}

/** Removes a journey that was never published. @throws ServiceError JOURNEY_NOT_FOUND, JOURNEY_ACTION_INVALID */
export async function removeJourney(
  { database, clock }: JourneyDependencies,
  { workspaceId, id, actor }: Named & { actor: Actor },
): Promise<void> {
  await inTransaction(database, async (tx) => {
    const journey = await requireJourney(tx, { workspaceId, id });
    if (!(await deleteDraftJourney(tx, { workspaceId, id }))) throw notAllowed('REMOVE', journey);
    const object = { id, name: journey.name };
    await audit(tx, { actor, workspaceId, action: 'journey.remove', object, at: clock.realNow() });
  });
}

export function notAllowed(action: string, { status }: Pick<Journey, 'status'>): ServiceError {
  return new ServiceError('JOURNEY_ACTION_INVALID', { field: action, reason: status });
}

function refuseUnstorable(graph: SentGraph): void {
  const place = findUnstorable(graph);
  if (place !== undefined)
    throw invalidCampaign([{ field: place === '' ? 'graph' : `graph.${place}`, reason: unstorable }]);
}
