import { sumOf } from '../../domain/campaigns/figures.ts';
import { ServiceError } from '../../domain/errors.ts';
import { leaderOf, winnerFromPercent, compareVariations, addWinnerStep } from '../../domain/experiments/learning.ts';
import type { Trials, ComparedVariation } from '../../domain/experiments/learning.ts';
import { variationName, learningMeasures } from '../../domain/experiments/variants.ts';
import type { LearningMeasure } from '../../domain/experiments/variants.ts';
import { unknownCase } from '../../domain/unknown-case.ts';
import { regroupUsers } from '../../domain/experiments/group-users.ts';
import { countConversions, sumOutcomes, sumRunInteractions } from '../../storage/campaigns/campaign-stats.ts';
import {
  setWinner,
  findVariedCampaign,
  listBegunBuckets,
  listOpenRunIds,
  lockOpenChunks,
  lockOpenRuns,
  markChunks,
  setGroupUsers,
} from '../../storage/campaigns/variations.ts';
import type { VariedCampaign, BegunBucket, OpenChunk, OpenRun } from '../../storage/campaigns/variations.ts';
import { inSnapshot } from '../../storage/database.ts';
import type { Transaction, Database, Queryable } from '../../storage/database.ts';
import { audit } from '../accounts/audit.ts';
import { answerOnce } from '../idempotency.ts';
import { always } from '../stats.ts';
import type { AuthoringCaller, AuthoringDependencies } from './authoring.ts';
import { ChangedMeanwhileError, retryChanges } from './change-campaign-state.ts';

/** How the winner is chosen: a given variation, the best one by the figures, or none. */
export type WinnerChoice =
  { kind: 'variation'; variation: number } | { kind: 'figures'; measure: LearningMeasure } | { kind: 'none' };

export type WinnerDependencies = Omit<AuthoringDependencies, 'limits'>;
export type WinnerCommand = AuthoringCaller & { id: string; choice: WinnerChoice };

/**
 * Sets the variation for all users that the campaign has not been sent to. It applies from the first bucket that has not begun in current
 * runs, and from the start in future runs. Setting the same variation again changes nothing.
 *
 * @throws ServiceError CAMPAIGN_NOT_FOUND, CAMPAIGN_ACTION_INVALID, CAMPAIGN_REQUEST_INVALID
 */
export async function nameWinner(deps: WinnerDependencies, command: WinnerCommand): Promise<CampaignWinner> {
  const { workspaceId, id, idempotencyKey: key, rawBody } = command;
  const at = deps.clock.now();
  const once = { workspaceId, operation: `campaign:winner:${id}`, key, rawBody, at };
  await retryChanges(() =>
    answerOnce(deps, once, (tx) => nameInTransaction(tx, { command, at, realAt: deps.clock.realNow() })),
  );
  return readWinner(deps, { workspaceId, id });
}

type Naming = { command: WinnerCommand; at: Date; realAt: Date };

async function nameInTransaction(tx: Transaction, { command, at, realAt }: Naming): Promise<object> {
  const { actor, workspaceId, id, choice } = command;
  const campaign = await requireVariedCampaign(tx, { workspaceId, id });
  requireOpen(campaign, choice);
  const winner = await chooseWinner(tx, { workspaceId, campaign, choice });
  if (winner === campaign.winner) return {};
  await sendWinnerToRest(tx, { campaign, winner, by: actor.name, at });
  const detail = {
    variation: winner === null ? null : variationName(winner),
    // The console offers no choice by figures, and logs no metric.
    ...(actor.kind === 'command-line' && { metric: choice.kind === 'figures' ? choice.measure : null }),
  };
  const object = { id, name: campaign.name };
  await audit(tx, { actor, workspaceId, action: 'campaign.winner', object, detail, at: realAt });
  return {};
}

const openStatuses: readonly string[] = ['SCHEDULED', 'SENDING', 'ACTIVE', 'PAUSED'];

/** @throws ServiceError CAMPAIGN_ACTION_INVALID */
function requireOpen({ deliveryType, status, percents, isLearned }: VariedCampaign, { kind }: WinnerChoice): void {
  if (kind !== 'none' && !openStatuses.includes(status)) throw notAllowed(`${deliveryType} campaign that is ${status}`);
  if (percents === null || percents.length < 2) throw notAllowed('campaign without variations');
  if (isLearned) throw notAllowed('campaign whose variations are learned');
}

type Choosing = { workspaceId: string; campaign: VariedCampaign; choice: WinnerChoice };

/** @throws ServiceError CAMPAIGN_REQUEST_INVALID, CAMPAIGN_ACTION_INVALID */
async function chooseWinner(tx: Transaction, { workspaceId, campaign, choice }: Choosing): Promise<number | null> {
  switch (choice.kind) {
    case 'none':
      return null;
    case 'variation': {
      const { variation } = choice;
      const count = campaign.percents!.length;
      if (variation <= count) return variation;
      const reason = `must be one of ${variationName(1)} to ${variationName(count)}`;
      throw new ServiceError('CAMPAIGN_REQUEST_INVALID', { faults: [{ field: 'variation', reason }] });
    }
    case 'figures':
      return leaderByFigures(tx, { workspaceId, campaign, measure: choice.measure });
    default:
      return unknownCase(choice);
  }
}

type Measuring = Omit<Choosing, 'choice'> & { measure: LearningMeasure };

async function leaderByFigures(tx: Transaction, { workspaceId, campaign, measure }: Measuring): Promise<number> {
  const figures = await readMeasured(tx, { workspaceId, id: campaign.id, campaign });
  const compared = figures.find((known) => known.measure === measure);
  if (!compared) throw notAllowed('campaign without a primary goal');
  const { variation, bestPercent } = leaderOf(compared.variations);
  if (bestPercent >= winnerFromPercent) return variation;
  const chance = `${variationName(variation)} is the best with ${bestPercent} %, and ${winnerFromPercent} % are needed`;
  throw notAllowed(
    `campaign whose ${measure === 'CLICKS' ? 'clicks do' : 'goal does'} not show a winner yet: ${chance}`,
  );
}

function notAllowed(reason: string): ServiceError {
  return new ServiceError('CAMPAIGN_ACTION_INVALID', { field: 'WINNER', reason });
}

/** A campaign's variations compared by one measure. */
export type MeasuredVariations = { measure: LearningMeasure; variations: ComparedVariation[] };

/** The winner of a campaign, if one was named, and the figures. */
export type CampaignWinner = { campaign: VariedCampaign; figures: MeasuredVariations[] };

export type WinnerKey = { workspaceId: string; id: string };

/** @throws ServiceError CAMPAIGN_NOT_FOUND */
export async function readWinner({ database }: { database: Database }, key: WinnerKey): Promise<CampaignWinner> {
  return inSnapshot(database, async (tx) => {
    const campaign = await requireVariedCampaign(tx, key);
    return { campaign, figures: await readMeasured(tx, { ...key, campaign }) };
  });
}

/** @throws ServiceError CAMPAIGN_NOT_FOUND */
async function requireVariedCampaign(tx: Queryable, key: WinnerKey): Promise<VariedCampaign> {
  const campaign = await findVariedCampaign(tx, key);
  if (!campaign) throw new ServiceError('CAMPAIGN_NOT_FOUND', { detail: key.id });
  return campaign;
}

type Reading = WinnerKey & { campaign: VariedCampaign };

/**
 * Compares the variations by clicks and, if there is one, by the primary goal. Counts both as a campaign that learns does. Empty
 * for a campaign without variations.
 */
async function readMeasured(tx: Queryable, { campaign, ...key }: Reading): Promise<MeasuredVariations[]> {
  const { percents, goals } = campaign;
  if (percents === null || percents.length < 2) return [];
  const asked = { ...always, workspaceId: key.workspaceId, campaignIds: [campaign.id] };
  const outcomes = (await sumOutcomes(tx, asked)).filter(({ outcome }) => outcome === 'ACCEPTED');
  const clicks = (await sumRunInteractions(tx, asked)).filter(({ kind }) => kind === 'CLICK');
  const reached = await countConversions(tx, { ...asked, attribution: 'TOTAL_CONVERSIONS' });
  // The first goal is the primary one.
  const fulfilled = reached.filter(({ goal, locale }) => goal === 0 && locale === null);
  const armsOf = (successesOf: (variation: number) => number): Trials[] =>
    percents.map((_percent, index) => {
      const trials = sumOf(ofVariation(outcomes, index + 1), 'devices');
      return { trials, successes: successesOf(index + 1) };
    });
  const armsBy: Record<LearningMeasure, () => Trials[]> = {
    CLICKS: () => armsOf((variation) => sumOf(ofVariation(clicks, variation), 'messages')),
    GOAL: () => armsOf((variation) => sumOf(ofVariation(fulfilled, variation), 'users')),
  };
  return learningMeasures
    .filter((measure) => measure === 'CLICKS' || goals.length > 0)
    .map((measure) => ({ measure, variations: compareVariations(armsBy[measure](), measure) }));
}

function ofVariation<Row extends { variation: number | null }>(rows: readonly Row[], variation: number): Row[] {
  return rows.filter((row) => row.variation === variation);
}

type ToSend = {
  campaign: VariedCampaign;
  /** Null restores the variations' shares. */
  winner: number | null;
  by: string;
  at: Date;
};

/**
 * Gives a variation to all users that the campaign has not been sent to. Locks runs, then chunks, then the campaign, in the order of a stop.
 * A window under way is recorded in its chunk: messages that it may have sent stay as they are, and windows opened later use
 * the winner. A run that waits for its start reads the winner from the campaign.
 */
async function sendWinnerToRest(tx: Transaction, { campaign, winner, by, at }: ToSend): Promise<void> {
  const runs = await lockOpenRuns(tx, campaign.id);
  const started = runs.filter(({ hasStarted }) => hasStarted);
  const runIds = started.map(({ id }) => id);
  const chunks = await lockOpenChunks(tx, runIds);
  const begun = await listBegunBuckets(tx, runIds);
  const marked = chunks.flatMap((chunk) => {
    const after = lastBegunBucket(chunk, begun);
    if (after >= chunk.bucketTo) return [];
    const winners = addWinnerStep(chunk.winners ?? [], { after, variation: winner });
    return [{ runId: chunk.runId, number: chunk.number, winners }];
  });
  await markChunks(tx, marked);
  for (const run of started) {
    if (run.groupUsers === null || !marked.some(({ runId }) => runId === run.id)) continue;
    const hasBegun = begun.some(({ runId }) => runId === run.id) || chunks.some((chunk) => isUnderWay(chunk, run));
    await setGroupUsers(tx, { runId: run.id, groupUsers: regroupUsers(run.groupUsers, hasBegun ? null : winner) });
  }
  if (!(await setWinner(tx, { campaign, winner, by, at }))) throw new ChangedMeanwhileError(campaign.id);
  // A run created after the runs were locked and before the campaign was locked may have started without the winner.
  const known = new Set(runs.map(({ id }) => id));
  const open = await listOpenRunIds(tx, campaign.id);
  if (open.some((id) => !known.has(id))) throw new ChangedMeanwhileError(campaign.id);
}

/** Returns the last bucket that has begun, or the one before the chunk if none has: buckets are sent in order. */
function lastBegunBucket(chunk: OpenChunk, begun: readonly BegunBucket[]): number {
  const own = begun.filter(({ runId, bucket }) => runId === chunk.runId && isWithin(chunk, bucket));
  return Math.max(chunk.bucketFrom - 1, chunk.windowBucket ?? -1, ...own.map(({ bucket }) => bucket));
}

function isWithin({ bucketFrom, bucketTo }: OpenChunk, bucket: number): boolean {
  return bucketFrom <= bucket && bucket <= bucketTo;
}

function isUnderWay({ runId, windowBucket }: OpenChunk, run: OpenRun): boolean {
  return runId === run.id && windowBucket !== null;
}
