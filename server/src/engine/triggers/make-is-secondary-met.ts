import { makeDocumentReader } from '../../domain/campaign-document/document-reader.ts';
import { isSecondaryMet } from '../../domain/triggers/decide-trigger.ts';
import { readStoredTrigger } from '../../domain/triggers/read-trigger-condition.ts';
import type { Transaction } from '../../storage/database.ts';
import type { TriggeredCampaign } from '../../storage/triggers/trigger-conditions.ts';
import { listSpanEvents } from '../../storage/triggers/triggers-of-users.ts';
import type { WatchedSpan } from '../../storage/triggers/triggers-of-users.ts';
import type { DueTrigger } from '../../storage/triggers/triggers.ts';

/**
 * Whether what must be true when a trigger is due is: what users did between their events and the due times is read once
 * for all of them, and not at all of a campaign that asks for nothing.
 */
export async function makeIsSecondaryMet(
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

/** One a user, over all its triggers, so that no event is read twice. */
function spansOf(triggers: readonly DueTrigger[]): WatchedSpan[] {
  return [...Map.groupBy(triggers, ({ userId }) => userId).values()].map((ofUser) => ({
    bucket: ofUser[0]!.bucket,
    userId: ofUser[0]!.userId,
    after: new Date(Math.min(...ofUser.map(({ occurredAt }) => occurredAt.getTime()))),
    until: new Date(Math.max(...ofUser.map(({ dueAt }) => dueAt.getTime()))),
  }));
}
