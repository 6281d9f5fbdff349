import type { LearningMeasure } from '../../domain/experiments/variants.ts';
import { ServiceError } from '../../domain/errors.ts';
import { leaderOf, winnerFromPercent } from '../../domain/experiments/compare-variations.ts';
import { variationName } from '../../domain/experiments/variants.ts';
import type { Transaction } from '../../storage/database.ts';
import { setWinner } from '../../storage/campaigns/campaign-winners.ts';
import type { VariedCampaign } from '../../storage/campaigns/campaign-winners.ts';
import { answerOnce } from '../idempotency/answer-once.ts';
import type { AuthoringCaller, AuthoringDependencies } from './authoring-dependencies.ts';
import { ChangedMeanwhileError, retryChanges } from './change-campaign-state.ts';
import { readMeasured, readWinner, requireVariedCampaign } from './read-winner.ts';
import type { CampaignWinner } from './read-winner.ts';
import { sendWinnerToRest } from './send-winner-to-rest.ts';
import { unknownCase } from '../../domain/unknown-case.ts';

/** Which variation is to be the winner: this one, the one that the figures name, or none any more. */
export type WinnerChoice =
  { kind: 'variation'; variation: number } | { kind: 'figures'; measure: LearningMeasure } | { kind: 'none' };

export type WinnerDependencies = Omit<AuthoringDependencies, 'limits'>;
export type WinnerCommand = Omit<AuthoringCaller, 'note'> & {
  id: string;
  choice: WinnerChoice;
  /** Written with the change, in its transaction: the line of the audit log of whoever is no program with a key. */
  noteWinner?: (tx: Transaction, change: { campaign: VariedCampaign; winner: number | null }) => Promise<void>;
};

/**
 * Names the variation that everybody gets who was not sent to yet: in the runs under way from the first bucket on that has not
 * begun, in runs to come from the start. Naming the same again changes nothing.
 *
 * @throws ServiceError CAMPAIGN_NOT_FOUND, CAMPAIGN_ACTION_INVALID, CAMPAIGN_REQUEST_INVALID
 */
export async function nameWinner(deps: WinnerDependencies, command: WinnerCommand): Promise<CampaignWinner> {
  const { workspaceId, id, idempotencyKey: key, rawBody } = command;
  const at = deps.clock.now();
  const once = { workspaceId, operation: `campaign:winner:${id}`, key, rawBody, at };
  await retryChanges(() => answerOnce(deps, once, (tx) => nameInTransaction(tx, { command, at })));
  return readWinner(deps, { workspaceId, id });
}

type Naming = { command: WinnerCommand; at: Date };

async function nameInTransaction(tx: Transaction, { command, at }: Naming): Promise<object> {
  const { workspaceId, id, choice, requestedBy: by, noteWinner } = command;
  const campaign = await requireVariedCampaign(tx, { workspaceId, id });
  requireOpen(campaign, choice);
  const winner = await chooseWinner(tx, { workspaceId, campaign, choice });
  if (winner === campaign.winner) return {};
  await sendWinnerToRest(tx, {
    ...{ campaign, winner },
    note: async () => {
      if (!(await setWinner(tx, { campaign, winner, by, at }))) throw new ChangedMeanwhileError(id);
    },
  });
  await noteWinner?.(tx, { campaign, winner });
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
    `campaign whose ${measure === 'CLICKS' ? 'clicks do' : 'goal does'} not tell a winner yet: ${chance}`,
  );
}

function notAllowed(reason: string): ServiceError {
  return new ServiceError('CAMPAIGN_ACTION_INVALID', { field: 'WINNER', reason });
}
