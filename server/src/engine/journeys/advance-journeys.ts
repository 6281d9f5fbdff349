import { isDatabaseFault } from '../../domain/database-faults.ts';
import type { Logger } from '../../log.ts';
import { inTransaction, planByValues } from '../../storage/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import {
  claimPositions,
  insertPassages,
  listDuePositions,
  moveWaiting,
  putOffPosition,
} from '../../storage/journeys/due-positions.ts';
import { addJourneyFigures, endPositions, figureSlots } from '../../storage/journeys/positions.ts';
import type { FigureChange, PositionKey } from '../../storage/journeys/positions.ts';
import { listActiveJourneys } from '../../storage/journeys/versions.ts';
import { utcDay } from '../../storage/runs/runs.ts';
import { insertTriggers } from '../../storage/triggers.ts';
import type { Job } from '../jobs/job.ts';
import { endStoppedJourneys } from './end-stopped.ts';
import { findGraphs } from '../../storage/journeys/graphs.ts';
import { walk } from './walk.ts';
import type { Walked } from './walk.ts';

export type AdvanceJourneysDependencies = {
  database: Database;
  log: Logger;
  /** A message reached later than this follows the rule of its step. */
  lateSendMinutes: number;
  /** Returns a number from 0 to below 1. */
  random?: () => number;
  batchEntries?: number;
};

const intervalMilliseconds = 1_000;
const defaultBatchEntries = 500;
// One part of a statement for each journey.
const journeysPerStatement = 100;

type Batch = { keys: readonly PositionKey[]; now: Date };

/**
 * The job that moves people on in journeys. It claims due entries of active journeys, an equal share for each workspace, and in one
 * transaction walks each person until they wait or leave: entries, history, figures, attributes and messages are stored together or
 * not at all, so a crash repeats nothing. An entry that cannot be continued is put off and does not block the others. It also lets
 * users leave journeys that were stopped.
 */
export function makeAdvanceJourneys(deps: AdvanceJourneysDependencies): Job {
  const {
    database,
    log,
    lateSendMinutes: lateMinutes,
    random = Math.random,
    batchEntries = defaultBatchEntries,
  } = deps;
  const advance = ({ keys, now }: Batch): Promise<number> =>
    inTransaction(database, (tx) =>
      advanceBatch(tx, { keys, now, lateMinutes, slot: Math.floor(random() * figureSlots) }),
    );

  /** Continues entry by entry, to find the failing one. */
  async function advanceApart({ keys, now }: Batch): Promise<number> {
    let done = 0;
    for (const key of keys) {
      try {
        done += await advance({ keys: [key], now });
      } catch (error) {
        if (isDatabaseFault(error)) throw error;
        await putOffPosition(database, { key, at: now });
        const { journeyId, entryId } = key;
        log.error({ journeyId, entryId, err: error }, 'an entry of a journey cannot be continued; others go before it');
      }
    }
    return done;
  }

  return {
    name: 'advance-journeys',
    intervalMilliseconds,
    async runOnce(now) {
      const ended = await endStoppedJourneys(database, { now, limit: batchEntries });
      const keys = await findDue(database, { now, limit: batchEntries });
      if (keys.length === 0) return ended;
      const advanced = await advance({ keys, now }).catch((error: unknown) => {
        if (isDatabaseFault(error)) throw error;
        return advanceApart({ keys, now });
      });
      return ended + advanced;
    },
  };
}

async function findDue(database: Database, { now, limit }: { now: Date; limit: number }): Promise<PositionKey[]> {
  const journeys = await listActiveJourneys(database);
  const due: PositionKey[] = [];
  for (let first = 0; first < journeys.length; first += journeysPerStatement) {
    const some = journeys.slice(first, first + journeysPerStatement);
    // A journey alone may fill the batch; of many, each has some.
    const perJourney = Math.min(limit, Math.max(50, Math.ceil((2 * limit) / journeys.length)));
    due.push(
      ...(await inTransaction(database, async (tx) => {
        await planByValues(tx);
        return listDuePositions(tx, { journeys: some, at: now, perJourney });
      })),
    );
  }
  return shareFairly(due, limit);
}

/** Takes from each workspace in turn, so that the backlog of one does not delay the others. */
export function shareFairly(due: readonly PositionKey[], limit: number): PositionKey[] {
  const ofWorkspaces = [...Map.groupBy(due, ({ workspaceId }) => workspaceId).values()];
  const taken: PositionKey[] = [];
  for (let index = 0; taken.length < limit && ofWorkspaces.some((own) => index < own.length); index += 1)
    for (const own of ofWorkspaces) if (index < own.length && taken.length < limit) taken.push(own[index]!);
  return taken;
}

type Advancing = Batch & { lateMinutes: number; slot: number };

async function advanceBatch(tx: Transaction, { keys, now, lateMinutes, slot }: Advancing): Promise<number> {
  await planByValues(tx);
  const positions = await claimPositions(tx, { keys, due: now });
  if (positions.length === 0) return 0;
  const graphOf = await findGraphs(tx, positions);
  const walked = await walk(tx, { positions, graphOf, now, lateMinutes });
  await insertPassages(tx, { passages: walked.passages, at: now });
  await moveWaiting(tx, walked.waiting);
  await endPositions(tx, { ended: walked.ended, at: now });
  for (const [workspaceId, triggers] of Map.groupBy(walked.sends, (send) => send.workspaceId))
    await insertTriggers(tx, { workspaceId, receivedAt: now, triggers });
  await addJourneyFigures(tx, { changes: figuresOf(walked), day: utcDay(now), slot });
  return positions.length;
}

function figuresOf({ passages, ended }: Walked): FigureChange[] {
  return [
    ...passages.map(({ workspaceId, journeyId, version, step, edge }) => ({
      ...{ workspaceId, journeyId, version, step, edge, users: 1 },
    })),
    ...ended.map(({ workspaceId, journeyId, version, reason }) => ({
      ...{ workspaceId, journeyId, version, step: '', edge: reason, users: 1 },
    })),
  ];
}
