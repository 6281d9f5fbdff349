import { deliverySettings, sendUntil } from '../../domain/campaigns/delivery-settings.ts';
import { lastIdAt } from '../../domain/ids.ts';
import { whyTooLate } from '../../domain/timing/decide-due-occurrences.ts';
import type { Transaction } from '../../storage/database.ts';
import { endFinishedCampaigns } from '../../storage/runs/run-states.ts';
import { endWaitingRun, lockDueRuns, startWaitingRun } from '../../storage/runs/runs.ts';
import type { DueRun } from '../../storage/runs/runs.ts';
import type { WorkBatch } from '../work-apart.ts';
import { resolveTargets } from './resolve-targets.ts';

export const batchRuns = 100;

type Scope = { now: Date; lateMinutes: number };

/**
 * Starts due runs of requests that joined a scheduled campaign, under the same rules as the campaign's own: users are
 * looked up now; a late run is sent up to the limit, otherwise recorded as missed.
 */
export async function startDueRuns(
  tx: Transaction,
  { limit, except, onTaken, ...scope }: Scope & Parameters<WorkBatch>[0],
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
