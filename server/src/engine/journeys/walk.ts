import { decideStep } from '../../domain/journeys/advance.ts';
import type { JourneyEndReason, JourneyStep } from '../../domain/journeys/graph.ts';
import { whyTooLate } from '../../domain/timing/occurrences.ts';
import type { Transaction } from '../../storage/database.ts';
import type { StepPassage, WaitingPosition } from '../../storage/journeys/due-positions.ts';
import type { EndedPosition, Position } from '../../storage/journeys/positions.ts';
import type { NewTrigger } from '../../storage/triggers.ts';
import type { GraphOf } from '../../storage/journeys/graphs.ts';
import { readFacts, triggerNameOf } from './read-facts.ts';
import type { RoundFacts, Walker } from './read-facts.ts';
import { updateUsers } from './update-users.ts';

/** What is to be stored after a batch of people walked as far as they go. */
export type Walked = {
  passages: StepPassage[];
  waiting: WaitingPosition[];
  ended: EndedPosition[];
  sends: (NewTrigger & { workspaceId: string })[];
};

export type WalkOptions = { positions: readonly Position[]; graphOf: GraphOf; now: Date; lateMinutes: number };

/**
 * Walks people through their graphs until each waits or leaves, in rounds of one step. Updates of users are stored in their round,
 * so that a later branch of the same walk sees them; everything else is returned.
 */
export async function walk(tx: Transaction, options: WalkOptions): Promise<Walked> {
  const { positions, graphOf, now } = options;
  const walked: Walked = { passages: [], waiting: [], ended: [], sends: [] };
  let walkers = positions.map((position): Walker => {
    const { graph } = graphOf(position);
    const { arrivedAt, eventAt } = position;
    return { position, graph, step: stepOf(graph.steps, position.step), arrivedAt, eventAt };
  });
  while (walkers.length > 0) {
    const facts = await readFacts(tx, { walkers, now });
    const next: Walker[] = [];
    const updates: Walker[] = [];
    for (const walker of walkers) {
      const outcome = takeStep(walker, { facts: facts.get(walker) ?? {}, walked, options });
      if (outcome.isUpdate) updates.push(walker);
      if (outcome.next) next.push(outcome.next);
    }
    await updateUsers(tx, { walkers: updates, now });
    walkers = next;
  }
  return walked;
}

function stepOf(steps: ReadonlyMap<string, JourneyStep>, id: string): JourneyStep {
  const step = steps.get(id);
  if (!step) throw new Error(`no step ${id} in its version`);
  return step;
}

type Taking = { facts: RoundFacts; walked: Walked; options: WalkOptions };

function takeStep(walker: Walker, { facts, walked, options }: Taking): { next: Walker | undefined; isUpdate: boolean } {
  const { position, step, arrivedAt } = walker;
  const { now, lateMinutes } = options;
  const decision = decideStep(step, {
    ...{ entryId: position.entryId, arrivedAt, now, facts },
    eventAt: walker.eventAt ?? facts.eventAt ?? null,
    isLate: whyTooLate({ occurrence: position.plannedAt, now, lateMinutes }) !== undefined,
  });
  const key = keyOf(position);
  if (decision.kind === 'stay') {
    walked.waiting.push({ ...key, step: step.id, arrivedAt, until: decision.until });
    return { next: undefined, isUpdate: false };
  }
  const { version } = position;
  walked.passages.push({ ...key, version, step: step.id, arrivedAt, edge: decision.edge });
  if (step.kind === 'send' && decision.edge === 'next') walked.sends.push(sendOf(walker, options));
  const isUpdate = step.kind === 'update';
  const to = decision.kind === 'leave' ? decision.to : null;
  if (to !== null) {
    const next = stepOf(walker.graph.steps, to);
    return { next: { ...walker, step: next, arrivedAt: now, eventAt: null }, isUpdate };
  }
  const reason: JourneyEndReason = decision.kind === 'end' ? decision.reason : 'COMPLETED';
  walked.ended.push({ ...key, version, reason });
  return { next: undefined, isUpdate };
}

function keyOf({ workspaceId, bucket, userId, journeyId, entryId }: Position) {
  return { workspaceId, bucket, userId, journeyId, entryId };
}

/** A message is a trigger of the step's campaign, so that caps, quiet hours and control groups apply as in campaigns. */
function sendOf({ position, step }: Walker, { graphOf, now }: WalkOptions): Walked['sends'][number] {
  const campaignId = graphOf(position).campaigns[step.id];
  if (campaignId === undefined) throw new Error(`no campaign of step ${step.id}`);
  const { workspaceId, bucket, userId, entryEvent } = position;
  const eventName = triggerNameOf(position);
  const { attributes } = entryEvent;
  return { workspaceId, bucket, userId, campaignId, eventName, occurredAt: now, attributes, due: { at: now } };
}
