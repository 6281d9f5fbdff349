import type { CampaignAction } from '../../domain/campaigns/campaign.ts';
import { statusAfter } from '../../domain/campaigns/campaign.ts';
import type { JourneyState } from '../../domain/journeys/graph.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Transaction } from '../../storage/database.ts';
import { listJourneyCampaigns, moveJourney } from '../../storage/journeys/journeys.ts';
import { ringAfterCommit } from '../../engine/doorbell.ts';
import { audit } from '../accounts/audit.ts';
import type { Actor } from '../accounts/audit.ts';
import { applyChange, retryChanges } from '../campaigns/change-campaign-state.ts';
import { notAllowed, requireJourney } from './journeys.ts';
import type { JourneyDependencies } from './journeys.ts';

/** The statuses in which each action is possible, and the status after it. A repeated stop changes nothing. */
const transitions = {
  pause: { from: ['ACTIVE'], to: 'PAUSED' },
  resume: { from: ['PAUSED'], to: 'ACTIVE' },
  stop: { from: ['ACTIVE', 'PAUSED', 'STOPPED'], to: 'STOPPED' },
} as const satisfies Record<CampaignAction, { from: readonly JourneyState[]; to: JourneyState }>;

export type JourneyAction = keyof typeof transitions;

type Change = { workspaceId: string; id: string; action: JourneyAction; actor: Actor };

/**
 * Pauses, resumes or stops a journey with the campaigns of its messages. In a paused journey users neither enter nor go on, and
 * what became due meanwhile is continued after it. A stop is final: the engine lets everyone leave, in batches.
 *
 * @throws ServiceError JOURNEY_NOT_FOUND, JOURNEY_ACTION_INVALID
 */
export async function changeJourneyState(deps: JourneyDependencies, change: Change): Promise<void> {
  const { database, clock } = deps;
  await retryChanges(() => inTransaction(database, (tx) => changeInTransaction(tx, { change, clock })));
}

type Changing = { change: Change; clock: JourneyDependencies['clock'] };

async function changeInTransaction(tx: Transaction, { change, clock }: Changing): Promise<void> {
  const { workspaceId, id, action, actor } = change;
  const at = clock.now();
  const journey = await requireJourney(tx, { workspaceId, id });
  const { from, to } = transitions[action];
  if (!from.some((status) => status === journey.status)) throw notAllowed(action.toUpperCase(), journey);
  if (journey.status === to) return;
  for (const campaign of await listJourneyCampaigns(tx, { workspaceId, journeyId: id })) {
    const { status, nextAt } = campaign;
    const next = statusAfter(action, { kind: 'recurring', status, hasOccurrence: nextAt !== null });
    if (next === undefined) continue;
    const move = { id: campaign.id, workspaceId, from: status, to: next, at };
    await applyChange(tx, { change: { workspaceId, campaignId: campaign.id, action, actor }, campaign, move });
  }
  await moveJourney(tx, { workspaceId, id, status: to, by: actor.name, at });
  ringAfterCommit(tx, 'journeys');
  const object = { id, name: journey.name };
  const detail = { from: journey.status, to };
  await audit(tx, { actor, workspaceId, action: `journey.${action}`, object, detail, at: clock.realNow() });
}
