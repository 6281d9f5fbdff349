import { deliverySettings, sendUntil } from '../domain/campaigns/delivery-settings.ts';
import { lastIdAt, makeId } from '../domain/ids.ts';
import { maxSelectedUsers } from '../domain/limits/push.ts';
import { tooManyUsers } from '../domain/push.ts';
import type { UserSelector } from '../domain/push.ts';
import { isInUserZone, zoneSpanHours } from '../domain/timing/local-send.ts';
import { decideDueOccurrences, whyTooLate } from '../domain/timing/occurrences.ts';
import { bestTimeOfTiming, fromStoredTiming } from '../domain/timing/timing.ts';
import type { Logger } from '../log.ts';
import { inTransaction } from '../storage/database.ts';
import type { Database, Transaction } from '../storage/database.ts';
import { endFinishedCampaigns } from '../storage/runs/run-states.ts';
import {
  advanceCampaigns,
  insertEndedRuns,
  insertQueuedRuns,
  insertTargetedRuns,
  lockDueCampaigns,
  endWaitingRun,
  lockDueRuns,
  startWaitingRun,
} from '../storage/runs/runs.ts';
import type { AdvancedCampaign, DueCampaign, EndedRun, QueuedRun, TargetedRun, DueRun } from '../storage/runs/runs.ts';
import { findSelectedUsers } from '../storage/users/users.ts';
import type { Job } from './jobs/job.ts';
import { makeBackoff, makeFaultLogger, processOneByOne } from './jobs/process-one-by-one.ts';
import type { ProcessBatch } from './jobs/process-one-by-one.ts';

export type FireDueCampaignsDependencies = {
  database: Database;
  log: Logger;
  /** An occurrence found later than this is recorded as missed (decision D37). */
  lateSendMinutes: number;
  /** Called after the commits if there may be runs to release and chunks to send. */
  onFired: () => void;
};

// The maximum number of campaigns locked in one transaction, and of occurrences decided for each.
const batchCampaigns = 100;
const batchOccurrences = 100;

/**
 * The job that fires schedules: for every due campaign it creates the run of the occurrence and advances `next_at`, in one
 * transaction under the campaign's lock, so that an occurrence is fired once however many nodes there are. Then it starts the
 * runs of requests that joined such a campaign. A campaign or run that fails is retried with increasing delays, and does not
 * block the others.
 */
export function makeFireDueCampaigns({ database, log, lateSendMinutes, onFired }: FireDueCampaignsDependencies): Job {
  const [campaigns, runs] = [makeBackoff(), makeBackoff()];
  return {
    name: 'fire-due-campaigns',
    intervalMilliseconds: 1000,
    async runOnce(now) {
      const scope = { now, lateMinutes: lateSendMinutes };
      const fired = await processOneByOne(
        (batch) => inTransaction(database, (tx) => fireBatch(tx, { ...scope, ...batch })),
        {
          ...{ now, limit: batchCampaigns, putOff: campaigns, onFault: makeFaultLogger(log, 'campaign') },
        },
      );
      const started = await processOneByOne(
        (batch) => inTransaction(database, (tx) => startDueRuns(tx, { ...scope, ...batch })),
        {
          ...{ now, limit: batchRuns, putOff: runs, onFault: makeFaultLogger(log, 'run') },
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
  { limit, except, onTaken, ...scope }: Scope & Parameters<ProcessBatch>[0],
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
  // A run without recipients has already ended, and no worker will end its campaign later.
  const toNobody = targeted.filter(({ targetUsers }) => targetUsers.length === 0);
  if (toNobody.length > 0)
    await endFinishedCampaigns(tx, { campaignIds: toNobody.map(({ campaignId }) => campaignId), at: now });
  return due.length;
}

/** The rows that the firing of one campaign writes. */
type Firing = { ended: EndedRun[]; queue: QueuedRun[]; target: TargetedRun[]; advanced: AdvancedCampaign };

async function fireOne(tx: Transaction, campaign: DueCampaign, { now, lateMinutes }: Scope): Promise<Firing> {
  // Events fire these campaigns. They are only due here when they expire.
  if (campaign.deliveryType === 'BUSINESS_EVENT_TRIGGERED' || campaign.deliveryType === 'EVENT_TRIGGERED')
    return {
      ended: [],
      queue: [],
      target: [],
      advanced: { id: campaign.id, status: 'RETIRED', reason: null, nextAt: null },
    };
  const timing = fromStoredTiming(campaign.timing);
  // Sent zone by zone: an occurrence that is late for the first zone is in time for the last. Each user is decided about at
  // send time.
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
    // A message's lifetime begins when it is fired, not when it was accepted.
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

/**
 * Ends the schedule of a one-time campaign, which has no further occurrence: it is sending, or has the reason why nothing was
 * sent.
 */
function endSchedule({ ended, advanced }: Firing): AdvancedCampaign {
  const last = ended.at(-1);
  if (!last) return { ...advanced, status: 'SENDING', nextAt: null };
  const reason = last.status === 'MISSED' ? `MISSED: ${last.reason}` : last.reason;
  return { ...advanced, status: 'FAILED', reason, nextAt: null };
}

const batchRuns = 100;

/**
 * Starts due runs of requests that joined a scheduled campaign, under the same rules as the campaign's runs. Users are looked
 * up now. A late run is sent if it is within the limit, otherwise recorded as missed.
 */
async function startDueRuns(
  tx: Transaction,
  { limit, except, onTaken, ...scope }: Scope & Parameters<ProcessBatch>[0],
): Promise<number> {
  const due = await lockDueRuns(tx, { at: scope.now, except, limit });
  onTaken(due.map(({ id }) => id));
  if (due.length === 0) return 0;
  for (const run of due) await startOne(tx, run, scope);
  await endFinishedCampaigns(tx, { campaignIds: [...new Set(due.map((run) => run.campaignId))], at: scope.now });
  return due.length;
}

async function startOne(tx: Transaction, run: DueRun, { now, lateMinutes }: Scope): Promise<void> {
  const tooLate = whyTooLate({ occurrence: run.dueAt, now, lateMinutes });
  if (tooLate !== undefined) {
    await endWaitingRun(tx, { id: run.id, status: 'MISSED', reason: tooLate, at: now });
    return;
  }
  const found = await resolveTargets(tx, { workspaceId: run.workspaceId, selector: run.targetSelector });
  if ('reason' in found) {
    await endWaitingRun(tx, { id: run.id, status: 'FAILED', reason: found.reason, at: now });
    return;
  }
  const lives = { audienceBound: lastIdAt(now), sendUntil: sendUntil(deliverySettings(run.settings), now) };
  await startWaitingRun(tx, { id: run.id, workspaceId: run.workspaceId, ...found, ...lives, at: now });
}

/**
 * Returns the users that a scheduled send to named users reaches, looked up when it fires. The limit of decision D32 applies
 * now as it did at acceptance.
 *
 * @returns the users, or the reason why the run cannot be sent
 */
async function resolveTargets(
  tx: Transaction,
  { workspaceId, selector }: { workspaceId: string; selector: UserSelector },
): Promise<{ targetUsers: [bucket: number, userId: string][] } | { reason: string }> {
  const users = await findSelectedUsers(tx, { workspaceId, selector, limit: maxSelectedUsers + 1 });
  if (!users) return { reason: 'targetUserAttributes.attribute is unknown' };
  if (users.length > maxSelectedUsers) return { reason: `${tooManyUsers.field}: ${tooManyUsers.reason}` };
  return { targetUsers: users.map(({ bucket, userId }) => [bucket, userId]) };
}
