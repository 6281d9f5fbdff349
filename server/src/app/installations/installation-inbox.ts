import type { Clock } from '../../clock.ts';
import { retryDeadlock } from '../../domain/database-faults.ts';
import { ServiceError } from '../../domain/errors.ts';
import { inboxRing } from '../../domain/inbox.ts';
import type { InboxPosition } from '../../domain/inbox.ts';
import type { UserKey } from '../../domain/users/users.ts';
import { inSnapshot, inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { countUnread, findInboxPage, markInboxMessages } from '../../storage/inbox.ts';
import type { InboxMark, InboxMessage } from '../../storage/inbox.ts';
import { notifyAfterCommit } from '../../storage/notifications.ts';
import { lockProved } from './installations.ts';
import type { Installations, NamedInstallation } from './installations.ts';

export type { InboxMessage };

export type InstallationInboxDependencies = {
  database: Database;
  clock: Clock;
  installations: Pick<Installations, 'prove'>;
};

export type InstallationInbox = ReturnType<typeof makeInstallationInbox>;

/** What an app asks for: the next messages, newest first. */
export type InboxRequest = {
  limit: number;
  after: InboxPosition | undefined;
  tag: string | undefined;
  archived: 'only' | 'none';
};

export type InboxPageAnswer = { messages: InboxMessage[]; unread: number; next: InboxPosition | undefined };

/** Which messages are marked: these, or all that are not archived and were kept up to an instant. */
export type MarkCommand = { runIds: readonly string[] | { allUntil: Date | undefined }; mark: InboxMark };

/**
 * The inbox of the user who is signed in on an installation. The secret that the device keeps opens nothing by itself: once the user
 * is signed out, every call is refused.
 */
export function makeInstallationInbox({ database, clock, installations }: InstallationInboxDependencies) {
  /** @throws ServiceError INSTALLATION_UNKNOWN, INSTALLATION_SIGNED_OUT, APP_RATE_LIMITED */
  async function userOf(named: NamedInstallation): Promise<UserKey & { workspaceId: string }> {
    const { user, isIdentified } = await installations.prove(named);
    if (!user || !isIdentified) throw new ServiceError('INSTALLATION_SIGNED_OUT');
    return { workspaceId: named.app.workspaceId, ...user };
  }

  return {
    userOf,

    async read({ limit, after, tag, archived, ...named }: NamedInstallation & InboxRequest): Promise<InboxPageAnswer> {
      const user = await userOf(named);
      const at = clock.now();
      // Of one instant, so that the number fits the messages. One more than asked for shows whether there is a next page.
      const { found, unread } = await inSnapshot(database, async (tx) => ({
        found: await findInboxPage(tx, { ...user, at, limit: limit + 1, after, tag, archived }),
        unread: await countUnread(tx, { ...user, at }),
      }));
      const messages = found.slice(0, limit);
      const last = messages.at(-1);
      return {
        messages,
        unread,
        next: found.length > limit && last ? { at: last.keptAt, runId: last.runId } : undefined,
      };
    },

    async unread(named: NamedInstallation): Promise<number> {
      const user = await userOf(named);
      return countUnread(database, { ...user, at: clock.now() });
    },

    /**
     * Marks messages and returns how many are unread then. Unknown ids are skipped: the message may have expired. The installation is
     * locked, so a mark after a sign-out changes nothing.
     */
    async mark({ runIds, mark, ...named }: NamedInstallation & MarkCommand): Promise<number> {
      await userOf(named);
      return retryDeadlock(() =>
        inTransaction(database, async (tx) => {
          const { user: key, isIdentified } = await lockProved(tx, named);
          if (!key || !isIdentified) throw new ServiceError('INSTALLATION_SIGNED_OUT');
          const user = { workspaceId: named.app.workspaceId, ...key };
          const at = clock.now();
          const which = 'allUntil' in runIds ? { allUntil: runIds.allUntil ?? at } : runIds;
          const changed = await markInboxMessages(tx, { ...user, at, runIds: which, mark });
          if (changed.length > 0) notifyAfterCommit(tx, inboxRing(key));
          return countUnread(tx, { ...user, at });
        }),
      );
    },
  };
}
