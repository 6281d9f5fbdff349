import type { Clock } from '../../clock.ts';
import { sourceOfAddress } from '../../domain/access/rate-limits.ts';
import type { LimitWindow } from '../../domain/access/rate-limits.ts';
import { ServiceError } from '../../domain/errors.ts';
import { preferenceLinkDays, preferencePageCalls, preferencePageGuesses } from '../../domain/limits/topics.ts';
import type { PreferenceLinks, PreferenceSubject } from '../../domain/preference-links.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { findUsersByCustomerIds, lockUserByKey } from '../../storage/users/users.ts';
import { findWorkspace } from '../../storage/workspaces.ts';
import { makeLimitBursts } from '../limits.ts';
import { storeChoices, topicsOfUser } from './user-topics.ts';
import type { TopicChoices, UserTopic } from './user-topics.ts';

export type PreferenceLinkDependencies = { database: Database; clock: Clock; links: PreferenceLinks };

export type PreferenceLink = { token: string; expiresAt: Date };

/** Makes the token of a link that opens the preference page for one user. @throws ServiceError NOT_FOUND */
export async function makePreferenceLink(
  { database, clock, links }: PreferenceLinkDependencies,
  { workspaceId, customerId, days = preferenceLinkDays }: { workspaceId: string; customerId: string; days?: number },
): Promise<PreferenceLink> {
  const [user] = await findUsersByCustomerIds(database, { workspaceId, customerIds: [customerId], limit: 1 });
  if (!user) throw new ServiceError('NOT_FOUND', { field: 'customer_id', reason: 'is not the id of a user' });
  // Whole seconds, as in the token.
  const expiresAt = new Date(Math.floor(clock.now().getTime() / 1000) * 1000 + days * 86_400_000);
  return { token: links.issue({ workspaceId, bucket: user.bucket, userId: user.userId, expiresAt }), expiresAt };
}

/** What a call of the page finds out about its link before anything is read. */
export type OpenedLink =
  | { kind: 'valid'; subject: PreferenceSubject }
  | { kind: 'invalid' | 'expired' }
  | { kind: 'too many'; retryAfterSeconds: number };

export type PreferencePage = { workspaceName: string; topics: UserTopic[] };

export type PreferencePages = ReturnType<typeof makePreferencePages>;

type Limits = { calls: LimitWindow; guesses: LimitWindow };

/** Makes the use cases of the preference page, which has no credential except its link. */
export function makePreferencePages(
  { database, clock, links }: PreferenceLinkDependencies,
  limits: Limits = { calls: preferencePageCalls, guesses: preferencePageGuesses },
) {
  const limitCalls = makeLimitBursts(limits.calls, { clock });
  const limitGuesses = makeLimitBursts(limits.guesses, { clock });
  return {
    /** Verifies the link before anything is counted: a caller without one must not use up the limit of a person. */
    open({ token, address }: { token: string; address: string }): OpenedLink {
      const found = links.open(token, clock.now());
      if (found && !found.isExpired) {
        const over = limitCalls(`${found.workspaceId}:${found.userId}`);
        return over ? { kind: 'too many', ...over } : { kind: 'valid', subject: found };
      }
      const over = limitGuesses(sourceOfAddress(address));
      if (over) return { kind: 'too many', ...over };
      return { kind: found ? 'expired' : 'invalid' };
    },

    /** Returns what the page shows; undefined if the user was erased or merged into another. */
    async read(subject: PreferenceSubject): Promise<PreferencePage | undefined> {
      return inTransaction(database, async (tx) => {
        const { workspaceId } = subject;
        const workspace = await findWorkspace(tx, workspaceId);
        if (!workspace || !(await lockUserByKey(tx, subject))) return undefined;
        return { workspaceName: workspace.name, topics: await topicsOfUser(tx, subject) };
      });
    },

    /**
     * Stores what the person changed on the page. A topic that was removed since the page was shown is left out.
     *
     * @returns false if the user was erased or merged into another
     */
    async store(subject: PreferenceSubject, changed: TopicChoices): Promise<boolean> {
      return inTransaction(database, async (tx) => {
        const { workspaceId, bucket, userId } = subject;
        if (!(await lockUserByKey(tx, subject))) return false;
        const known = new Set((await topicsOfUser(tx, subject)).map(({ key }) => key));
        const choices = new Map([...changed].filter(([key]) => known.has(key)));
        await storeChoices(tx, { workspaceId, bucket, userId, choices, source: 'PAGE', at: clock.now() });
        return true;
      });
    },
  };
}
