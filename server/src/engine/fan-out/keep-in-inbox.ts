import { inboxOfRun } from '../../domain/campaigns/delivery-settings.ts';
import { inboxContentId, inboxRing, platformOfInbox, toInboxContent } from '../../domain/inbox.ts';
import type { InboxContent } from '../../domain/inbox.ts';
import type { UserKey } from '../../domain/users/users.ts';
import type { Logger } from '../../log.ts';
import { isReached } from '../../storage/campaigns/audience.ts';
import type { AudienceDevice } from '../../storage/campaigns/audience.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { holdUsers, insertInboxContents, insertInboxMessages, keepUnreached } from '../../storage/inbox.ts';
import type { MessageToKeep, SharedContent } from '../../storage/inbox.ts';
import { notifyAfterCommit } from '../../storage/notifications.ts';
import type { RunToSend } from '../../storage/runs/run-states.ts';
import { contentToKeep } from './compose-message.ts';
import type { PersonaliseDevices } from './compose-message.ts';
import { makeRunTopicRefusalOf } from './deliver-to-eligible.ts';
import { groupByVariant, makeRunControlGroupOf, makeRunVariationOf } from './experiments.ts';
import { reachedBy } from './read-page.ts';
import type { DeviceResult } from './settle-outcome.ts';

/** Messages of one run for the inbox, composed before the transaction that stores them. */
export type ComposedInbox = { shared: SharedContent[]; messages: MessageToKeep[] };

export type ComposeInboxDependencies = { database: Database; log: Logger; personaliseDevices: PersonaliseDevices };

/** A user, with one of its devices, whose language counts if the content has several. */
export type InboxUser = UserKey & { deviceId: string | null };

type Composing = { run: RunToSend; users: readonly InboxUser[] };

/**
 * Composes the messages of a run for the inbox of users who are in no control group and in the topic. Caps, quiet hours and best
 * times hold back what disturbs; the inbox waits until the user opens it, so they do not apply. A content that users share is
 * made once. A message that cannot be rendered for a user is left out.
 */
export async function composeInbox(deps: ComposeInboxDependencies, { run, users }: Composing): Promise<ComposedInbox> {
  const platform = platformOfInbox(run.content);
  const none = { shared: [], messages: [] };
  if (users.length === 0 || !platform) return none;
  const controlGroupOf = makeRunControlGroupOf(run);
  const topicRefusalOf = await makeRunTopicRefusalOf(deps.database, { run, users });
  const kept = users.filter(({ userId }) => !controlGroupOf?.(userId) && !topicRefusalOf?.(userId));
  if (kept.length === 0) return none;
  const variationOf = await makeRunVariationOf(deps.database, { run, users: kept });
  const devices = kept.map(({ bucket, userId, deviceId }): AudienceDevice => ({
    ...{ bucket, userId, platform, id: deviceId ?? userId },
    ...{ provider: null, pushId: '', pushIdType: null, appId: null },
  }));
  const shared = new Map<string, SharedContent>();
  const messages: MessageToKeep[] = [];
  for (const group of await groupByVariant(deps.database, { run, variationOf, devices })) {
    const own = group.indexes.map((index) => devices[index]!);
    const idOf = makeIdOf(shared);
    for (const recipient of await deps.personaliseDevices(group.run, own)) {
      const { bucket, userId, personal, fault } = recipient;
      const content = fault ? undefined : contentToKeep(platform, { run: group.run, device: recipient });
      if (!content || (personal && !('content' in personal))) {
        deps.log.warn({ runId: run.id, userId }, 'inbox message cannot be rendered');
        continue;
      }
      const shown = toInboxContent(platform, content);
      if (personal) messages.push({ bucket, userId, contentId: null, content: shown });
      else messages.push({ bucket, userId, contentId: idOf(shown), content: null });
    }
  }
  return { shared: [...shared.values()], messages };
}

/** Equal contents are hashed once for the page. */
function makeIdOf(shared: Map<string, SharedContent>): (content: InboxContent) => string {
  const ids = new Map<string, string>();
  return (content) => {
    const text = JSON.stringify(content);
    const id = ids.get(text) ?? inboxContentId(content);
    ids.set(text, id);
    shared.set(id, { id, content });
    return id;
  };
}

type Storing = { run: RunToSend; composed: ComposedInbox; at: Date };

/**
 * Stores composed messages in the transaction of their window, and wakes the nodes on which their users are connected once it has
 * committed. Users who were erased in the meantime get none.
 */
export async function storeInbox(tx: Transaction, { run, composed, at }: Storing): Promise<void> {
  const inbox = inboxOfRun(run);
  if (!inbox || composed.messages.length === 0) return;
  const { workspaceId, id: runId, canonicalCampaignId: campaignId } = run;
  const held = new Set(
    (await holdUsers(tx, { workspaceId, users: composed.messages, lock: 'share' })).map(({ userId }) => userId),
  );
  const expiresAt = new Date(at.getTime() + inbox.expiryHours * 3_600_000);
  await insertInboxContents(tx, { workspaceId, runId, expiresAt, contents: composed.shared });
  const messages = composed.messages.filter(({ userId }) => held.has(userId));
  const kept = await insertInboxMessages(tx, {
    workspaceId,
    runId,
    campaignId,
    tags: inbox.tags,
    at,
    expiresAt,
    messages,
  });
  if (kept.length > 0) notifyAfterCommit(tx, inboxRing({ runId }));
}

const failures: ReadonlySet<string> = new Set(['GONE', 'REJECTED', 'EXPIRED', 'FAILED']);

/** Returns the users of failed deliveries whose message may be kept instead of the push. Empty unless the run asks for "either". */
export function usersToKeepInstead(run: RunToSend, results: readonly DeviceResult[]): InboxUser[] {
  if (inboxOfRun(run)?.sendTo !== 'EITHER') return [];
  const failed = results.flatMap(({ delivery: { outcome, bucket, userId, deviceId } }) =>
    failures.has(outcome) ? [{ bucket, userId, deviceId }] : [],
  );
  return [...new Map(failed.map((user) => [user.userId, user])).values()];
}

/**
 * Keeps the message of each user whom no push of the run can reach any more. Runs in the transaction that stores the failures. The
 * users are held alone, because the last two devices of a user may fail in two transactions: the later one sees both.
 */
export async function storeInsteadOfPush(tx: Transaction, { run, composed, at }: Storing): Promise<void> {
  if (composed.messages.length === 0) return;
  const { workspaceId } = run;
  const reached = reachedBy(run);
  const users = await holdUsers(tx, { workspaceId, users: composed.messages, lock: 'alone' });
  const unreached = await keepUnreached(tx, { workspaceId, run, users, isReached: (on) => isReached(on, reached) });
  const isKept = new Set(unreached.map(({ userId }) => userId));
  const messages = composed.messages.filter(({ userId }) => isKept.has(userId));
  await storeInbox(tx, { run, composed: { ...composed, messages }, at });
}
