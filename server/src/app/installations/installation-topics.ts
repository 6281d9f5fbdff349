import type { Clock } from '../../clock.ts';
import { retryDeadlock } from '../../domain/database-faults.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { UserKey } from '../../domain/users/users.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { lockUserByKey } from '../../storage/users/users.ts';
import { storeChoices, topicsOfUser } from '../topics/user-topics.ts';
import type { TopicChoices, UserTopic } from '../topics/user-topics.ts';
import { lockProved } from './installations.ts';
import type { Installations, NamedInstallation } from './installations.ts';

export type InstallationTopicDependencies = {
  database: Database;
  clock: Clock;
  installations: Pick<Installations, 'prove'>;
};

export type InstallationTopics = ReturnType<typeof makeInstallationTopics>;

/**
 * The topics of the user who is signed in on an installation. A topic is of the person, on all devices; an anonymous installation has
 * no person whose choice would follow.
 */
export function makeInstallationTopics({ database, clock, installations }: InstallationTopicDependencies) {
  /** @throws ServiceError INSTALLATION_UNKNOWN, INSTALLATION_SIGNED_OUT, APP_RATE_LIMITED */
  async function ofUser(
    named: NamedInstallation,
    work: (tx: Transaction, user: UserKey & { workspaceId: string }) => Promise<UserTopic[]>,
  ): Promise<UserTopic[]> {
    await installations.prove(named);
    return retryDeadlock(() =>
      inTransaction(database, async (tx) => {
        const { user, isIdentified } = await lockProved(tx, named);
        const key = user && { workspaceId: named.app.workspaceId, ...user };
        if (!key || !isIdentified || !(await lockUserByKey(tx, key))) throw new ServiceError('INSTALLATION_SIGNED_OUT');
        return work(tx, key);
      }),
    );
  }

  return {
    /** Returns all topics of the workspace, each as the signed-in user has it. */
    read: (named: NamedInstallation): Promise<UserTopic[]> => ofUser(named, topicsOfUser),

    /** Stores what the user chose in the app. @throws ServiceError PARAMETER_INVALID for an unknown topic */
    set: ({ choices, ...named }: NamedInstallation & { choices: TopicChoices }): Promise<UserTopic[]> =>
      ofUser(named, (tx, user) => storeChoices(tx, { ...user, choices, source: 'APP', at: clock.now() })),
  };
}
