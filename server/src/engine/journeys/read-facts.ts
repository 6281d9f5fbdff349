import type { BranchCondition, JourneyGraph, JourneyStep } from '../../domain/journeys/graph.ts';
import type { StepFacts } from '../../domain/journeys/advance.ts';
import { passesCounts, passesEventFilter } from '../../domain/events/triggers.ts';
import { expandSegmentFilter, SegmentExpansionError, segmentsUsedBy } from '../../domain/segments/filter.ts';
import type { SegmentFilter } from '../../domain/segments/filter.ts';
import { parseStoredFilters } from '../../domain/segments/filter-reader.ts';
import { userZone } from '../../domain/timing/local-time.ts';
import { unknownCase } from '../../domain/unknown-case.ts';
import type { Transaction } from '../../storage/database.ts';
import { findMessageOutcomes } from '../../storage/journeys/message-outcomes.ts';
import type { Position } from '../../storage/journeys/positions.ts';
import { listCampaignsOfStep } from '../../storage/journeys/versions.ts';
import { findReferencedSegments } from '../../storage/segments/segment-members.ts';
import { keepAudienceUsers, listSpanEvents } from '../../storage/triggers.ts';
import { findUsers } from '../../storage/users/users.ts';
import { findWorkspaceControls } from '../../storage/workspaces.ts';

/** A person who is at a step in this round. */
export type Walker = {
  position: Position;
  graph: JourneyGraph;
  step: JourneyStep;
  arrivedAt: Date;
  eventAt: Date | null;
};

export type RoundFacts = StepFacts & {
  /** An event that was stored after the arrival at a wait that begins in this transaction. */
  eventAt?: Date;
};

type Round = { walkers: readonly Walker[]; now: Date };

/**
 * Reads what the steps of a round need to be decided, for all people at one step together: a few statements for each step, however
 * many people are there.
 */
export async function readFacts(tx: Transaction, { walkers, now }: Round): Promise<Map<Walker, RoundFacts>> {
  const facts = new Map<Walker, RoundFacts>();
  const ofSteps = Map.groupBy(walkers, ({ position, step }) => `${position.journeyId}/${position.version}/${step.id}`);
  for (const ofStep of ofSteps.values()) {
    const found = await factsOfStep(tx, { walkers: ofStep, now });
    for (const [walker, fact] of found) facts.set(walker, fact);
  }
  return facts;
}

async function factsOfStep(tx: Transaction, { walkers, now }: Round): Promise<Iterable<readonly [Walker, RoundFacts]>> {
  const { step } = walkers[0]!;
  switch (step.kind) {
    case 'wait_until_time':
      return readZones(tx, walkers);
    case 'wait_for_event':
      return readEarlyEvents(tx, { walkers: walkers.filter(({ arrivedAt }) => +arrivedAt === +now), now });
    case 'branch': {
      const met = await findMet(tx, { walkers, now, condition: step.condition });
      return walkers.map((walker) => [walker, { isMet: met.has(walker) }] as const);
    }
    case 'wait':
    case 'split':
    case 'send':
    case 'update':
    case 'exit':
      return [];
    default:
      return unknownCase(step);
  }
}

async function readZones(tx: Transaction, walkers: readonly Walker[]) {
  const { workspaceId } = walkers[0]!.position;
  const controls = await findWorkspaceControls(tx, workspaceId);
  if (!controls) throw new Error(`no workspace ${workspaceId}`);
  const { zoneAttribute, timeZone } = controls;
  const users = await findUsers(tx, { workspaceId, users: walkers.map(keyOf), names: [zoneAttribute] });
  return walkers.map((walker) => {
    const named = users.get(walker.position.userId)?.attributes[zoneAttribute];
    const zone = userZone(typeof named === 'string' ? named : null);
    return [walker, { timeZone: zone === undefined || zone === 'unknown' ? timeZone : zone }] as const;
  });
}

const keyOf = ({ position: { bucket, userId } }: Walker) => ({ bucket, userId });

// An event cannot be further ahead than clocks of servers differ.
const aheadMilliseconds = 86_400_000;

/**
 * Finds events that came after the arrival, but before this transaction locked the entry: their request saw the step before the
 * wait. Requests that come later wait for the lock and end the wait themselves.
 */
async function readEarlyEvents(tx: Transaction, { walkers, now }: Round) {
  const [first] = walkers;
  if (first?.step.kind !== 'wait_for_event') return [];
  const filters = first.step.events;
  const events = await listEventsSince(tx, {
    walkers,
    names: filters.map(({ eventName }) => eventName),
    after: ({ arrivedAt }) => arrivedAt,
    until: new Date(now.getTime() + aheadMilliseconds),
  });
  return walkers.flatMap((walker) => {
    const meant = events(walker).filter((event) => filters.some((filter) => passesEventFilter(filter, event, now)));
    const [eventAt] = meant.map(({ occurredAt }) => occurredAt).toSorted((one, other) => +one - +other);
    return eventAt ? [[walker, { eventAt }] as const] : [];
  });
}

type EventsSince = {
  walkers: readonly Walker[];
  names: readonly string[];
  after: (walker: Walker) => Date;
  until: Date;
};

async function listEventsSince(tx: Transaction, { walkers, names, after, until }: EventsSince) {
  const { workspaceId } = walkers[0]!.position;
  const ofUsers = Map.groupBy(walkers, ({ position }) => position.userId);
  const spans = [...ofUsers.values()].map((entries) => ({
    ...keyOf(entries[0]!),
    after: new Date(Math.min(...entries.map((walker) => after(walker).getTime()))),
    until,
  }));
  const found = Map.groupBy(await listSpanEvents(tx, { workspaceId, spans, names }), ({ userId }) => userId);
  return (walker: Walker) =>
    (found.get(walker.position.userId) ?? []).filter(({ occurredAt }) => occurredAt > after(walker));
}

type Condition = Round & { condition: BranchCondition };

async function findMet(tx: Transaction, { walkers, now, condition }: Condition): Promise<ReadonlySet<Walker>> {
  const { workspaceId, journeyId } = walkers[0]!.position;
  switch (condition.kind) {
    case 'user': {
      const included = await expandFilter(tx, { workspaceId, filter: condition.filter });
      if (!included) return new Set();
      const users = [...new Map(walkers.map((walker) => [walker.position.userId, keyOf(walker)])).values()];
      const kept = await keepAudienceUsers(tx, { users, audience: { workspaceId, included, at: now } });
      const ids = new Set(kept.map(({ userId }) => userId));
      return new Set(walkers.filter(({ position }) => ids.has(position.userId)));
    }
    case 'events': {
      const events = await listEventsSince(tx, {
        walkers,
        names: condition.filters.map(({ eventName }) => eventName),
        after: ({ position }) => position.enteredAt,
        until: now,
      });
      return new Set(walkers.filter((walker) => passesCounts(condition, { events: events(walker), at: now })));
    }
    case 'message': {
      const campaignIds = await listCampaignsOfStep(tx, { journeyId, step: condition.step });
      const sent = walkers.map((walker) => ({ ...keyOf(walker), eventName: triggerNameOf(walker.position) }));
      const { outcome } = condition;
      const names = await findMessageOutcomes(tx, { workspaceId, campaignIds, sent, outcome });
      return new Set(walkers.filter(({ position }) => names.has(triggerNameOf(position))));
    }
    default:
      return unknownCase(condition);
  }
}

/** A filter that has grown too large, or into a circle, is met by no one, as when a campaign is sent to it. */
async function expandFilter(
  tx: Transaction,
  { workspaceId, filter }: { workspaceId: string; filter: SegmentFilter },
): Promise<SegmentFilter | undefined> {
  const ids = segmentsUsedBy(filter);
  if (ids.length === 0) return filter;
  const referenced = await findReferencedSegments(tx, { workspaceId, ids });
  const trees = referenced
    .filter(({ kind }) => kind === 'FILTER')
    .map((segment) => [segment.id, parseStoredFilters(segment)] as const);
  try {
    return expandSegmentFilter(filter, new Map(trees));
  } catch (error) {
    if (error instanceof SegmentExpansionError) return undefined;
    throw error;
  }
}

/**
 * Returns the event name of the trigger by which a step sends. It is the same for every step of an entry, and different for every
 * entry: with the step's campaign it is the identity of the message. People read it where a message is explained.
 */
export function triggerNameOf({ entryId }: { entryId: string }): string {
  return `Journey entry ${entryId}`;
}
