import { eventNamesOf } from '../../domain/triggers/trigger-condition.ts';
import type { Transaction } from '../../storage/database.ts';
import { storeTriggerCondition } from '../../storage/triggers/trigger-conditions.ts';
import type { PreparedCampaign } from './prepare-campaign.ts';

type Live = {
  workspaceId: string;
  /** The same in all versions. */
  campaignId: string;
  versionId: string;
  at: Date;
};

/** Lets events start a campaign from now on, or from its start; does nothing of one that they do not start. */
export async function listenForEvents(
  tx: Transaction,
  { definition: { trigger }, timing, parts }: PreparedCampaign,
  { at, ...ids }: Live,
): Promise<void> {
  if (!trigger || timing.kind !== 'triggered') return;
  const startsAt = timing.startsAt === null ? at : new Date(timing.startsAt);
  await storeTriggerCondition(tx, {
    ...ids,
    eventNames: eventNamesOf(trigger),
    condition: parts.trigger_condition,
    liveSince: startsAt > at ? startsAt : at,
  });
}
