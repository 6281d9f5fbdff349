import { makeDocumentReader } from '../../domain/campaign-document/document-reader.ts';
import { decideDue, startsCampaign } from '../../domain/triggers/decide-trigger.ts';
import { readStoredTrigger } from '../../domain/triggers/read-trigger-condition.ts';
import type { TriggerCondition } from '../../domain/triggers/trigger-condition.ts';
import type { Transaction } from '../../storage/database.ts';
import { listListeningCampaigns } from '../../storage/triggers/trigger-conditions.ts';
import { insertTriggers } from '../../storage/triggers/triggers.ts';
import type { ReceivedEvents } from '../../storage/users/events.ts';
import { findUsers } from '../../storage/users/users.ts';

/**
 * Writes down for whom events start which campaigns, in the transaction that stores them: what is answered is kept, and what is
 * sent again is one trigger. One statement asks which campaigns listen; the events are compared in memory, and what they
 * start is stored by one more.
 */
export async function startTriggers(tx: Transaction, received: ReceivedEvents): Promise<void> {
  const { workspaceId, receivedAt, users } = received;
  const eventNames = [...new Set(users.flatMap(({ events }) => events.map(({ name }) => name)))];
  const listening = await listListeningCampaigns(tx, { workspaceId, eventNames, at: receivedAt });
  if (listening.length === 0) return;
  const campaigns = listening.map(({ campaignId, condition }) => ({
    campaignId,
    condition: readStoredTrigger(makeDocumentReader(condition)),
  }));
  const matches = users.flatMap(({ bucket, userId, events }) =>
    events.flatMap((event) =>
      campaigns
        .filter(({ condition }) => startsCampaign(condition, event, receivedAt))
        .map(({ campaignId, condition }) => ({ bucket, userId, event, campaignId, condition })),
    ),
  );
  const attributesOf = await findUserTimes(tx, { workspaceId, matches });
  const triggers = matches.map(({ bucket, userId, event, campaignId, condition }) => ({
    ...{ bucket, userId, campaignId, eventName: event.name, occurredAt: event.occurredAt },
    attributes: event.attributes,
    due: decideDue(condition.delay, { event, user: attributesOf(userId), now: receivedAt }),
  }));
  await insertTriggers(tx, { workspaceId, receivedAt, triggers });
}

type Match = {
  bucket: number;
  userId: string;
  event: { attributes: Record<string, unknown> };
  condition: TriggerCondition;
};

/** What users have of the attributes that say when, of events that do not say it themselves; mostly nobody is asked about. */
async function findUserTimes(
  tx: Transaction,
  { workspaceId, matches }: { workspaceId: string; matches: readonly Match[] },
): Promise<(userId: string) => Record<string, unknown>> {
  const asked = matches.filter(({ event, condition: { delay } }) => {
    return delay.attribute !== undefined && !Object.hasOwn(event.attributes, delay.attribute);
  });
  if (asked.length === 0) return () => ({});
  const names = [...new Set(asked.map(({ condition }) => condition.delay.attribute!))];
  const found = await findUsers(tx, { workspaceId, users: asked, names });
  return (userId) => found.get(userId)?.attributes ?? {};
}
