import { deliverySettings, sendUntil } from '../../domain/campaigns/delivery-settings.ts';
import { makeId } from '../../domain/ids.ts';
import { whyTooLate } from '../../domain/timing/decide-due-occurrences.ts';
import type { DropReason } from '../../domain/triggers/drop-reason.ts';
import { inTransaction, planByValues } from '../../storage/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { insertQueuedRuns } from '../../storage/runs/runs.ts';
import type { QueuedRun } from '../../storage/runs/runs.ts';
import { lockTriggeredCampaigns } from '../../storage/triggers/trigger-conditions.ts';
import type { TriggeredCampaign } from '../../storage/triggers/trigger-conditions.ts';
import { listDueTriggers, settleTriggers, tryHoldRelease } from '../../storage/triggers/triggers.ts';
import type { DueTrigger, Settlement } from '../../storage/triggers/triggers.ts';
import type { Job } from '../job.ts';
import { keepAudience } from './keep-audience.ts';
import { makeIsSecondaryMet } from './make-is-secondary-met.ts';

export type ReleaseDueTriggersDependencies = {
  database: Database;
  /** A trigger found later than this sends nothing, as a scheduled occurrence (decision D37). */
  lateSendMinutes: number;
  /** Called when there are runs to release. */
  onReleased: () => void;
};

const batchTriggers = 5_000;
/** A campaign whose events come all the time has a run so often at most, unless a batch was full. */
const intervalMilliseconds = 2_000;

/**
 * The job that sends what is due: the triggers of a campaign become one of its runs, with their users, under the campaign's
 * lock and in one transaction, so that each is in one run however many nodes there are and whichever of them dies. A user
 * with two of one campaign is in two runs.
 */
export function makeReleaseDueTriggers({
  database,
  lateSendMinutes: lateMinutes,
  onReleased,
}: ReleaseDueTriggersDependencies): Job {
  return {
    name: 'release-due-triggers',
    intervalMilliseconds,
    async runOnce(now) {
      const { due, runs } = await inTransaction(database, (tx) => releaseBatch(tx, { now, lateMinutes }));
      if (runs > 0) onReleased();
      // What is not counted waits for the interval: a run for each event would cost more than it sends.
      return due === batchTriggers ? due : 0;
    },
  };
}

type Scope = { now: Date; lateMinutes: number };

async function releaseBatch(tx: Transaction, scope: Scope): Promise<{ due: number; runs: number }> {
  const { now } = scope;
  if (!(await tryHoldRelease(tx))) return { due: 0, runs: 0 };
  await planByValues(tx);
  const due = await listDueTriggers(tx, { at: now, limit: batchTriggers });
  if (due.length === 0) return { due: 0, runs: 0 };
  const ofCampaigns = Map.groupBy(due, ({ campaignId }) => campaignId);
  const settlements: Settlement[] = [];
  const runs: QueuedRun[] = [];
  for (const campaign of await lockTriggeredCampaigns(tx, [...ofCampaigns.keys()])) {
    const triggers = ofCampaigns.get(campaign.campaignId)!;
    const { versionId: campaignId, workspaceId, settings } = campaign;
    const run = {
      id: makeId(now),
      workspaceId,
      campaignId,
      at: now,
      sendUntil: sendUntil(deliverySettings(settings), now),
    };
    const settled = await settleOfCampaign(tx, { campaign, triggers, runId: run.id, scope });
    settlements.push(...settled);
    if (settled.some(({ state }) => state === 'SENT')) runs.push(run);
  }
  const sent = new Set(await settleTriggers(tx, { settlements, at: now }));
  const begun = runs.filter(({ id }) => sent.has(id));
  await insertQueuedRuns(tx, begun);
  return { due: due.length, runs: begun.length };
}

type OfCampaign = { campaign: TriggeredCampaign; triggers: DueTrigger[]; runId: string; scope: Scope };

async function settleOfCampaign(
  tx: Transaction,
  { campaign, triggers, runId, scope: { now, lateMinutes } }: OfCampaign,
): Promise<Settlement[]> {
  if (campaign.status === 'PAUSED') return triggers.map((trigger) => ({ trigger, state: 'HELD' }));
  if (campaign.status !== 'ACTIVE') return triggers.map(makeDrop('CAMPAIGN_OVER'));
  const [late, inTime] = divide(
    triggers,
    ({ dueAt }) => whyTooLate({ occurrence: dueAt, now, lateMinutes }) !== undefined,
  );
  const isMet = await makeIsSecondaryMet(tx, { campaign, triggers: inTime });
  const [met, unmet] = divide(inTime, isMet);
  const audience = await keepAudience(tx, { campaign, users: met, at: now });
  const [meant, strangers] = divide(met, ({ userId }) => audience === 'all' || audience.has(userId));
  return [
    ...late.map(makeDrop('LATE')),
    ...unmet.map(makeDrop('CONDITION')),
    ...strangers.map(makeDrop('AUDIENCE')),
    // The second of a user is due still, and in the next run.
    ...[...new Map(meant.toReversed().map((one) => [one.userId, one])).values()].map((trigger): Settlement => ({
      trigger,
      state: 'SENT',
      runId,
    })),
  ];
}

function makeDrop(reason: DropReason): (trigger: DueTrigger) => Settlement {
  return (trigger) => ({ trigger, state: 'DROPPED', reason });
}

function divide<Item>(items: readonly Item[], isFirst: (item: Item) => boolean): [Item[], Item[]] {
  const of = Object.groupBy(items, (item) => (isFirst(item) ? 'first' : 'other'));
  return [of.first ?? [], of.other ?? []];
}
