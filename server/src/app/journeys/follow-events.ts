import { passesEventFilter } from '../../domain/events/triggers.ts';
import type { EventFilter, JourneyGraph } from '../../domain/journeys/graph.ts';
import type { UserKey } from '../../domain/users/users.ts';
import { ringAfterCommit } from '../../engine/doorbell.ts';
import { findGraphs } from '../../storage/journeys/graphs.ts';
import type { GraphOf } from '../../storage/journeys/graphs.ts';
import type { Transaction } from '../../storage/database.ts';
import {
  addJourneyFigures,
  endPositions,
  enterJourney,
  entryIdOf,
  figureSlots,
  lockWatchedPositions,
  wakePositions,
} from '../../storage/journeys/positions.ts';
import type { EndedPosition, FigureChange, NewEntry, Position } from '../../storage/journeys/positions.ts';
import { listListeningVersions } from '../../storage/journeys/versions.ts';
import type { VersionKey } from '../../storage/journeys/versions.ts';
import { utcDay } from '../../storage/runs/runs.ts';
import type { EventsOfUser, NewEvent } from '../../storage/users/events.ts';

type Received = {
  workspaceId: string;
  receivedAt: Date;
  users: readonly EventsOfUser[];
  sender: 'server' | 'app';
};

/**
 * Lets events end waits and entries, and then lets people enter journeys, in the transaction of the events. One statement finds
 * the versions that the events concern; where there are none, nothing else is read. The caller holds the users.
 */
export async function followEvents(tx: Transaction, received: Received): Promise<void> {
  const { workspaceId, receivedAt, users } = received;
  const eventNames = [...new Set(users.flatMap(({ events }) => events.map(({ name }) => name)))];
  const versions = await listListeningVersions(tx, { workspaceId, eventNames });
  if (versions.length === 0) return;
  const graphOf = await findGraphs(tx, versions);
  const watching = versions.filter(({ isWatching }) => isWatching);
  const entered = versions.filter(({ isEntered }) => isEntered);
  const changes = [
    ...(await endWaits(tx, { ...received, versions: watching, graphOf })),
    ...(await enterByEvents(tx, { ...received, versions: entered, graphOf })),
  ];
  // Spread by time, so that requests at the same moment rarely wait for one row.
  const slot = receivedAt.getTime() % figureSlots;
  await addJourneyFigures(tx, { changes, day: utcDay(receivedAt), slot });
  ringAfterCommit(tx, 'journeys');
}

type Following = Received & { versions: readonly VersionKey[]; graphOf: GraphOf };

async function endWaits(
  tx: Transaction,
  { workspaceId, receivedAt, users, versions, graphOf }: Following,
): Promise<FigureChange[]> {
  if (versions.length === 0) return [];
  const positions = await lockWatchedPositions(tx, { workspaceId, users: distinct(users), versions });
  const eventsOf = Map.groupBy(users, ({ userId }) => userId);
  const ended: EndedPosition[] = [];
  const woken: (Position & { eventAt: Date })[] = [];
  for (const position of positions) {
    const events = (eventsOf.get(position.userId) ?? []).flatMap((user) => user.events);
    const effect = effectOf(position, { graph: graphOf(position).graph, events, at: receivedAt });
    if (effect === undefined) continue;
    if (effect.kind === 'wake') woken.push({ ...position, eventAt: effect.eventAt });
    else ended.push({ ...position, reason: effect.reason });
  }
  await wakePositions(tx, { woken, at: receivedAt });
  await endPositions(tx, { ended, at: receivedAt });
  return ended.map(({ journeyId, version, reason }) => ({
    ...{ workspaceId, journeyId, version, step: '', edge: reason, users: 1 },
  }));
}

/** Two parts of one request may be about one user. */
function distinct(users: readonly UserKey[]): UserKey[] {
  return [...new Map(users.map(({ bucket, userId }) => [userId, { bucket, userId }])).values()];
}

type Effect = { kind: 'wake'; eventAt: Date } | { kind: 'end'; reason: 'GOAL' | 'EXIT_EVENT' };
type Seen = { graph: JourneyGraph; events: readonly NewEvent[]; at: Date };

/** What events do to an entry. A goal and an exit count from the entry on, an event that is waited for from the arrival on. */
function effectOf(
  { step: id, enteredAt, arrivedAt, eventAt }: Position,
  { graph, events, at }: Seen,
): Effect | undefined {
  const find = (filters: readonly EventFilter[] | undefined, after: Date): NewEvent | undefined =>
    filters &&
    events.find((event) => event.occurredAt > after && filters.some((filter) => passesEventFilter(filter, event, at)));
  if (find(graph.goal, enteredAt)) return { kind: 'end', reason: 'GOAL' };
  if (find(graph.exitEvents, enteredAt)) return { kind: 'end', reason: 'EXIT_EVENT' };
  const step = graph.steps.get(id);
  if (step?.kind !== 'wait_for_event' || eventAt !== null) return undefined;
  const event = find(step.events, arrivedAt);
  // An event that was sent later than the time-out, but happened before it, still ends the wait: its entry is not continued yet.
  return event && { kind: 'wake', eventAt: event.occurredAt };
}

async function enterByEvents(tx: Transaction, { versions, graphOf, ...received }: Following): Promise<FigureChange[]> {
  const { workspaceId, receivedAt: at } = received;
  const changes: FigureChange[] = [];
  for (const { journeyId, version } of versions) {
    const { graph } = graphOf({ journeyId, version });
    const { firstStep, reentry } = graph;
    for (const entering of roundsOf(entriesOf(graph, { ...received, journeyId }))) {
      const entered = await enterJourney(tx, {
        workspaceId,
        journeyId,
        version,
        firstStep,
        reentry,
        at,
        users: entering,
      });
      changes.push({ workspaceId, journeyId, version, step: '', edge: 'entered', users: entered.length });
    }
  }
  return changes.filter(({ users }) => users > 0);
}

function entriesOf(
  { entry }: JourneyGraph,
  { users, receivedAt, sender, journeyId }: Received & { journeyId: string },
): NewEntry[] {
  if (entry.kind !== 'event' || (sender === 'app' && !entry.acceptsApps)) return [];
  return users.flatMap(({ bucket, userId, events }) =>
    events
      .filter((event) => entry.events.some((filter) => passesEventFilter(filter, event, receivedAt)))
      .map(({ name, attributes, occurredAt }) => ({
        ...{ bucket, userId },
        entryId: entryIdOf({ journeyId, userId, name, occurredAt }),
        event: { name, attributes, occurredAt: occurredAt.toISOString() },
      })),
  );
}

/** Divides entries so that each part has at most one of each person: a row is decided on once in a statement. */
function roundsOf(entries: readonly NewEntry[]): NewEntry[][] {
  const rounds: NewEntry[][] = [];
  const seen = new Map<string, number>();
  for (const entry of entries) {
    const round = seen.get(entry.userId) ?? 0;
    seen.set(entry.userId, round + 1);
    (rounds[round] ??= []).push(entry);
  }
  return rounds;
}
