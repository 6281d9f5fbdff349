import { makeDocumentReader } from '../domain/campaign-document/campaign.ts';
import { readStoredTrigger } from '../domain/campaign-document/trigger.ts';
import { deliverySettings, sendUntil } from '../domain/campaigns/delivery-settings.ts';
import { isDatabaseFault } from '../domain/database-faults.ts';
import { isSecondaryMet } from '../domain/events/triggers.ts';
import type { DropReason } from '../domain/events/triggers.ts';
import { makeId } from '../domain/ids.ts';
import { whyTooLate } from '../domain/timing/occurrences.ts';
import type { Logger } from '../log.ts';
import { inTransaction, planByValues } from '../storage/database.ts';
import type { Database, Transaction } from '../storage/database.ts';
import { insertQueuedRuns } from '../storage/runs/runs.ts';
import type { QueuedRun } from '../storage/runs/runs.ts';
import {
  lockTriggeredCampaigns,
  listDueTriggers,
  settleTriggers,
  tryHoldRelease,
  listSpanEvents,
} from '../storage/triggers.ts';
import type { TriggeredCampaign, DueTrigger, Settlement, TriggersOf, WatchedSpan } from '../storage/triggers.ts';
import { keepAudience } from './fan-out/audience.ts';
import type { Job } from './jobs/job.ts';
import { makeBackoff, makeFaultLogger } from './jobs/process-one-by-one.ts';

export type ReleaseDueTriggersDependencies = {
  database: Database;
  log: Logger;
  /** A trigger found later than this sends nothing, like a scheduled occurrence (decision D37). */
  lateSendMinutes: number;
  /** Called when there are runs to release. */
  onReleased: () => void;
};

const batchTriggers = 5_000;
/** A campaign with constant events has at most one run per interval, unless a batch was full. */
const intervalMilliseconds = 2_000;

/**
 * The job that sends due triggers. A campaign's triggers become one of its runs, with their users, under the campaign's lock
 * and in one transaction. Each trigger is therefore in one run, however many nodes there are and even if some of them die. A
 * user with two triggers of one campaign is in two runs. A campaign whose triggers cannot be released is retried with
 * increasing delays, and does not block the others.
 */
export function makeReleaseDueTriggers({
  database,
  log,
  lateSendMinutes: lateMinutes,
  onReleased,
}: ReleaseDueTriggersDependencies): Job {
  const putOff = makeBackoff();
  const logFault = makeFaultLogger(log, 'campaign');
  let taken: readonly string[] = [];

  async function release(now: Date, of: TriggersOf): Promise<Released> {
    taken = [];
    const scope = { now, lateMinutes, of, onTaken: (campaignIds: readonly string[]) => (taken = campaignIds) };
    const released = await inTransaction(database, (tx) => releaseBatch(tx, scope));
    for (const id of taken) putOff.remove(id);
    return released;
  }

  /** Releases campaign by campaign, to find the failing one. */
  async function releaseApart(now: Date, campaignIds: readonly string[]): Promise<Released> {
    const all = { due: 0, runs: 0 };
    for (const id of campaignIds) {
      try {
        const { due, runs } = await release(now, { only: id });
        all.due += due;
        all.runs += runs;
      } catch (error) {
        if (isDatabaseFault(error)) throw error;
        logFault({ id, error, retryAt: putOff.add(id, now) });
      }
    }
    return all;
  }

  return {
    name: 'release-due-triggers',
    intervalMilliseconds,
    async runOnce(now) {
      const { due, runs } = await release(now, { except: putOff.list(now) }).catch((error: unknown) => {
        if (taken.length === 0 || isDatabaseFault(error)) throw error;
        return releaseApart(now, taken);
      });
      if (runs > 0) onReleased();
      // Anything less than a full batch waits for the interval: a run per event would cost more than it sends.
      return due >= batchTriggers ? due : 0;
    },
  };
}

type Released = { due: number; runs: number };
type Scope = { now: Date; lateMinutes: number };
type Batch = Scope & { of: TriggersOf; onTaken: (campaignIds: readonly string[]) => void };

async function releaseBatch(tx: Transaction, { of, onTaken, ...scope }: Batch): Promise<Released> {
  const { now } = scope;
  if (!(await tryHoldRelease(tx))) return { due: 0, runs: 0 };
  await planByValues(tx);
  const due = await listDueTriggers(tx, { at: now, of, limit: batchTriggers });
  if (due.length === 0) return { due: 0, runs: 0 };
  const ofCampaigns = Map.groupBy(due, ({ campaignId }) => campaignId);
  onTaken([...ofCampaigns.keys()]);
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
    // A user's second trigger stays due, for the next run.
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

/**
 * Returns a function that is true if a trigger's secondary condition is met when it is due. The users' events between the
 * triggering events and the due times are read once for all triggers, and not at all if the campaign has no such condition.
 */
async function makeIsSecondaryMet(
  tx: Transaction,
  { campaign, triggers }: { campaign: TriggeredCampaign; triggers: readonly DueTrigger[] },
): Promise<(trigger: DueTrigger) => boolean> {
  const condition = readStoredTrigger(makeDocumentReader(campaign.condition));
  const { secondary } = condition;
  if (!secondary) return () => true;
  const events = await listSpanEvents(tx, {
    workspaceId: campaign.workspaceId,
    spans: spansOf(triggers),
    names: secondary.filters.map(({ eventName }) => eventName),
  });
  const ofUsers = Map.groupBy(events, ({ userId }) => userId);
  return ({ userId, occurredAt: after, dueAt: at }) => {
    const within = (ofUsers.get(userId) ?? []).filter(({ occurredAt }) => occurredAt > after && occurredAt <= at);
    return isSecondaryMet(condition, { events: within, at });
  };
}

/** Returns one span per user, covering all its triggers, so that no event is read twice. */
function spansOf(triggers: readonly DueTrigger[]): WatchedSpan[] {
  return [...Map.groupBy(triggers, ({ userId }) => userId).values()].map((ofUser) => ({
    bucket: ofUser[0]!.bucket,
    userId: ofUser[0]!.userId,
    after: new Date(Math.min(...ofUser.map(({ occurredAt }) => occurredAt.getTime()))),
    until: new Date(Math.max(...ofUser.map(({ dueAt }) => dueAt.getTime()))),
  }));
}
