import { deliverySettings, sendUntil } from '../../domain/campaigns/delivery-settings.ts';
import { lastIdAt, makeId } from '../../domain/ids.ts';
import { decideDueOccurrences } from '../../domain/timing/decide-due-occurrences.ts';
import { bestTimeOfTiming } from '../../domain/timing/timing.ts';
import { isInUserZone, zoneSpanHours } from '../../domain/timing/local-send.ts';
import { fromStoredTiming } from '../../domain/timing/stored-timing.ts';
import type { Logger } from '../../log.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import {
  advanceCampaigns,
  insertEndedRuns,
  insertQueuedRuns,
  insertTargetedRuns,
  lockDueCampaigns,
} from '../../storage/runs/runs.ts';
import type { AdvancedCampaign, DueCampaign, EndedRun, QueuedRun, TargetedRun } from '../../storage/runs/runs.ts';
import { endFinishedCampaigns } from '../../storage/runs/run-states.ts';
import type { Job } from '../job.ts';
import { makePutOff } from '../put-off.ts';
import { makeTellFault, workApart } from '../work-apart.ts';
import type { WorkBatch } from '../work-apart.ts';
import { resolveTargets } from './resolve-targets.ts';
import { batchRuns, startDueRuns } from './start-due-runs.ts';

export type FireDueCampaignsDependencies = {
  database: Database;
  log: Logger;
  /** An occurrence found later than this is recorded as missed (decision D37). */
  lateSendMinutes: number;
  /** Called after the commits when there may be runs to release and chunks to send. */
  onFired: () => void;
};

// The maximum number of campaigns locked in one transaction, and of occurrences decided for each.
const batchCampaigns = 100;
const batchOccurrences = 100;

/**
 * The job that fires schedules: for every due campaign it creates the run of the occurrence and advances `next_at`, in
 * one transaction under the campaign's lock, so that an occurrence is fired once however many nodes there are. Then it
 * starts the runs of requests that joined such a campaign. What cannot be fired or started waits, longer each time, and keeps none
 * of the others back.
 */
export function makeFireDueCampaigns({ database, log, lateSendMinutes, onFired }: FireDueCampaignsDependencies): Job {
  const [campaigns, runs] = [makePutOff(), makePutOff()];
  return {
    name: 'fire-due-campaigns',
    intervalMilliseconds: 1000,
    async runOnce(now) {
      const scope = { now, lateMinutes: lateSendMinutes };
      const fired = await workApart((batch) => inTransaction(database, (tx) => fireBatch(tx, { ...scope, ...batch })), {
        ...{ now, limit: batchCampaigns, putOff: campaigns, onFault: makeTellFault(log, 'campaign') },
      });
      const started = await workApart(
        (batch) => inTransaction(database, (tx) => startDueRuns(tx, { ...scope, ...batch })),
        {
          ...{ now, limit: batchRuns, putOff: runs, onFault: makeTellFault(log, 'run') },
        },
      );
      if (fired + started > 0) onFired();
      return fired + started;
    },
  };
}

type Scope = { now: Date; lateMinutes: number };

async function fireBatch(
  tx: Transaction,
  { limit, except, onTaken, ...scope }: Scope & Parameters<WorkBatch>[0],
): Promise<number> {
  const { now } = scope;
  const due = await lockDueCampaigns(tx, { at: now, except, limit });
  onTaken(due.map(({ id }) => id));
  if (due.length === 0) return 0;
  const firings: Firing[] = [];
  for (const campaign of due) firings.push(await fireOne(tx, campaign, scope));
  const [queued, targeted] = [firings.flatMap(({ queue }) => queue), firings.flatMap(({ target }) => target)];
  await insertEndedRuns(
    tx,
    firings.flatMap(({ ended }) => ended),
  );
  await insertQueuedRuns(tx, queued);
  await insertTargetedRuns(tx, targeted);
  await advanceCampaigns(tx, { campaigns: firings.map(({ advanced }) => advanced), at: now });
  // A run without recipients has already ended; no worker will end its campaign later.
  const toNobody = targeted.filter(({ targetUsers }) => targetUsers.length === 0);
  if (toNobody.length > 0)
    await endFinishedCampaigns(tx, { campaignIds: toNobody.map(({ campaignId }) => campaignId), at: now });
  return due.length;
}

/** What the firing of one campaign writes. */
type Firing = { ended: EndedRun[]; queue: QueuedRun[]; target: TargetedRun[]; advanced: AdvancedCampaign };

async function fireOne(tx: Transaction, campaign: DueCampaign, { now, lateMinutes }: Scope): Promise<Firing> {
  // These are fired by events; what they wait for is their expiry.
  if (campaign.deliveryType === 'BUSINESS_EVENT_TRIGGERED' || campaign.deliveryType === 'EVENT_TRIGGERED')
    return {
      ended: [],
      queue: [],
      target: [],
      advanced: { id: campaign.id, status: 'RETIRED', reason: null, nextAt: null },
    };
  const timing = fromStoredTiming(campaign.timing);
  // Sent zone by zone: what is late for the first zone is in time for the last, and each user is decided about when
  // sent to.
  const spanHours = isInUserZone(timing) ? zoneSpanHours : 0;
  const question = { dueAt: campaign.nextAt, now, lateMinutes: lateMinutes + spanHours * 60, limit: batchOccurrences };
  const { occurrences, nextAt } = decideDueOccurrences(timing, question);
  const toRun = (occurrence: Date) => ({
    id: makeId(now),
    workspaceId: campaign.workspaceId,
    campaignId: campaign.id,
    occurrence,
    at: now,
  });
  const firing: Firing = {
    ended: occurrences.flatMap((due): EndedRun[] =>
      due.kind === 'missed' ? [{ ...toRun(due.occurrence), status: 'MISSED', reason: due.reason }] : [],
    ),
    queue: [],
    target: [],
    advanced: { id: campaign.id, status: 'ACTIVE', reason: null, nextAt: nextAt ?? null },
  };
  const toSend = occurrences.find(({ kind }) => kind === 'send');
  if (toSend) {
    // A message lives from its firing, not from its acceptance.
    const usualEnd = sendUntil(deliverySettings(campaign.settings), now);
    const livesHours = spanHours + (bestTimeOfTiming(timing)?.windowHours ?? 0);
    const run = { ...toRun(toSend.occurrence), sendUntil: new Date(usualEnd.getTime() + livesHours * 3_600_000) };
    if (campaign.targetSelector === null) firing.queue.push(run);
    else {
      const found = await resolveTargets(tx, { workspaceId: campaign.workspaceId, selector: campaign.targetSelector });
      if ('reason' in found) firing.ended.push({ ...run, status: 'FAILED', reason: found.reason });
      else firing.target.push({ ...run, ...found, content: undefined, audienceBound: lastIdAt(now) });
    }
  }
  return campaign.deliveryType === 'PERIODIC' ? firing : { ...firing, advanced: endSchedule(firing) };
}

/** A one-time campaign has no further occurrence: it is sending, or says why nothing was sent. */
function endSchedule({ ended, advanced }: Firing): AdvancedCampaign {
  const last = ended.at(-1);
  if (!last) return { ...advanced, status: 'SENDING', nextAt: null };
  const reason = last.status === 'MISSED' ? `MISSED: ${last.reason}` : last.reason;
  return { ...advanced, status: 'FAILED', reason, nextAt: null };
}
