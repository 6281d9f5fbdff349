import type { Clock } from '../../clock.ts';
import { hashesEqual, hashSecret, limitSubject } from '../../domain/access/keys.ts';
import { networkOfAddress } from '../../domain/access/installations.ts';
import { defaultAppId } from '../../domain/apps.ts';
import { retryDeadlock } from '../../domain/database-faults.ts';
import { ServiceError } from '../../domain/errors.ts';
import { inboxRing } from '../../domain/inbox.ts';
import {
  installationCalls,
  installationSignIns,
  newInstallationsPerMinute,
  newInstallationWindows,
} from '../../domain/limits/installations.ts';
import type { Registration } from '../../domain/users/registrations.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database, Queryable, Transaction } from '../../storage/database.ts';
import { findInstallation, insertInstallation, lockInstallation } from '../../storage/installations.ts';
import type { Installation } from '../../storage/installations.ts';
import { notifyAfterCommit } from '../../storage/notifications.ts';
import { listProviderCredentials } from '../../storage/keys/provider-credentials.ts';
import { countEvent } from '../../storage/limits/sliding-windows.ts';
import { countUses } from '../data.ts';
import { makeLimitBursts } from '../limits.ts';
import type { LimitBursts } from '../limits.ts';
import type { AppCaller } from './authenticate-app.ts';
import { attachUser, detachUser, storeRegistration } from './installation-users.ts';
import type { LockedInstallation } from './installation-users.ts';

export type InstallationDependencies = {
  database: Database;
  /** Counts the new installations of a network, which belongs to no workspace. */
  acrossWorkspaces: Database;
  clock: Clock;
};

/** An installation that a call names, with its proof. */
export type NamedInstallation = { app: AppCaller; id: string; secret: string };

export type InstallationState = {
  id: string;
  isIdentified: boolean;
  isOptedIn: boolean;
  hasPushToken: boolean;
  /** The key with which a browser subscribes; undefined without a Web Push credential. */
  webPushPublicKey: string | undefined;
};

export type RegisterCommand = NamedInstallation & {
  registration: Registration;
  /** The earlier installation of a reinstalled app, whose push token this one takes over. */
  previous: { id: string; secret: string } | undefined;
  /** The code of a silent challenge, which the app received through the push token. */
  challengeCode: string | undefined;
  address: string;
};

/** The use cases of installations: each call proves its installation by the secret that the app made. */
export function makeInstallations(deps: InstallationDependencies) {
  const { database, clock } = deps;
  const limits = {
    calls: makeLimitBursts(installationCalls, { clock }),
    signIns: makeLimitBursts(installationSignIns, { clock }),
  };

  /** Locks a proved installation and lets `work` change it, again if the database aborted it because of a deadlock. */
  async function change(
    named: NamedInstallation,
    work: (tx: Transaction, installation: LockedInstallation) => Promise<InstallationState | 'held'>,
  ): Promise<InstallationState> {
    refuseOver(limits.calls, named);
    const state = await retryDeadlock(() =>
      inTransaction(database, async (tx) => {
        const installation = await lockProved(tx, named);
        return work(tx, { ...installation, ...contextOf(named), at: clock.now() });
      }),
    );
    // After the commit: the challenge must be sent although the registration is refused.
    if (state === 'held') throw new ServiceError('PUSH_TOKEN_HELD');
    return state;
  }

  return {
    /**
     * Registers an installation, or refreshes a known one. Only new ones are counted against the limits of networks and
     * workspaces.
     *
     * @throws ServiceError INSTALLATION_UNKNOWN for a known id with another secret; APP_RATE_LIMITED, PUSH_TOKEN_HELD
     */
    async register({
      previous,
      registration,
      challengeCode,
      address,
      ...named
    }: RegisterCommand): Promise<InstallationState> {
      const name = { workspaceId: named.app.workspaceId, id: named.id };
      if (!(await findInstallation(database, name))) {
        await countNew(deps, { workspaceId: name.workspaceId, address });
        const added = { ...name, secretHash: hashSecret(named.secret), keyId: named.app.keyId, at: clock.now() };
        await insertInstallation(database, added);
      }
      return change(named, async (tx, installation) => {
        const allowed = previous && (await findProved(tx, { ...named, ...previous }));
        return store(tx, installation, { registration, previous: allowed, challengeCode });
      });
    },

    /** Changes members of the registration other than the push token. @throws ServiceError INSTALLATION_UNKNOWN, PUSH_TOKEN_HELD */
    update({ changes, ...named }: NamedInstallation & { changes: Partial<Registration> }): Promise<InstallationState> {
      return change(named, async (tx, installation) => {
        const registration = { ...(installation.registration as Registration), ...changes };
        return store(tx, installation, { registration, previous: undefined, challengeCode: undefined });
      });
    },

    /**
     * Gives the installation to a user whom the caller has proved. What the anonymous user did becomes the user's.
     *
     * @throws ServiceError INSTALLATION_UNKNOWN, APP_RATE_LIMITED, IDENTITY_TOKEN_INVALID for a user who is to be deleted
     */
    identify({ customerId, ...named }: NamedInstallation & { customerId: string }): Promise<InstallationState> {
      refuseOver(limits.signIns, named);
      return change(named, async (tx, installation) => {
        await attachUser(tx, installation, customerId);
        return stateOf(tx, { ...installation, isIdentified: true }, installation.registration as Registration);
      });
    },

    /** Takes the installation from its user: from the commit on, it receives nothing more for that user. */
    logout(named: NamedInstallation): Promise<InstallationState> {
      return change(named, async (tx, installation) => {
        await detachUser(tx, installation);
        // Streams of the installation end at once, on every node.
        if (installation.user) notifyAfterCommit(tx, inboxRing(installation.user));
        return stateOf(tx, { ...installation, isIdentified: false }, installation.registration as Registration);
      });
    },

    /** Finds the installation of a call without counting it. @throws ServiceError INSTALLATION_UNKNOWN */
    async find(on: Database, named: NamedInstallation): Promise<Installation> {
      const found = await findProved(on, named);
      if (!found) throw new ServiceError('INSTALLATION_UNKNOWN');
      return found;
    },

    /** Checks a call that only reads or reports. @throws ServiceError INSTALLATION_UNKNOWN, APP_RATE_LIMITED */
    async prove(named: NamedInstallation): Promise<Installation> {
      refuseOver(limits.calls, named);
      const found = await findProved(database, named);
      if (!found) throw new ServiceError('INSTALLATION_UNKNOWN');
      return found;
    },
  };
}

export type Installations = ReturnType<typeof makeInstallations>;

/** Locks an installation. An unknown id and a wrong secret are the same error. @throws ServiceError INSTALLATION_UNKNOWN */
export async function lockProved(tx: Transaction, { app, id, secret }: NamedInstallation): Promise<Installation> {
  const found = await lockInstallation(tx, { workspaceId: app.workspaceId, id });
  if (!isProved(found, secret)) throw new ServiceError('INSTALLATION_UNKNOWN');
  return found!;
}

async function findProved(
  tx: Database | Transaction,
  { app, id, secret }: NamedInstallation,
): Promise<Installation | undefined> {
  const found = await findInstallation(tx, { workspaceId: app.workspaceId, id });
  return isProved(found, secret) ? found : undefined;
}

function isProved(found: Installation | undefined, secret: string): boolean {
  return hashesEqual(found?.secretHash, hashSecret(secret));
}

function contextOf({ app }: NamedInstallation): Pick<LockedInstallation, 'workspaceId' | 'keyId'> {
  return { workspaceId: app.workspaceId, keyId: app.keyId };
}

async function store(
  tx: Transaction,
  installation: LockedInstallation,
  registering: Parameters<typeof storeRegistration>[2],
): Promise<InstallationState | 'held'> {
  const stored = await storeRegistration(tx, installation, registering);
  return stored.outcome === 'held' ? 'held' : stateOf(tx, installation, stored.registration);
}

/** @throws ServiceError APP_RATE_LIMITED */
export function refuseOver(limit: LimitBursts, { app, id }: Pick<NamedInstallation, 'app' | 'id'>): void {
  const over = limit(`${app.workspaceId}:${id}`);
  if (over) throw new ServiceError('APP_RATE_LIMITED', { ...over, detail: 'limit of the installation' });
}

/** @throws ServiceError APP_RATE_LIMITED */
async function countNew(
  { database, acrossWorkspaces, clock }: InstallationDependencies,
  { workspaceId, address }: { workspaceId: string; address: string },
): Promise<void> {
  const at = clock.now();
  const windows = newInstallationWindows['installation-network'];
  const subject = limitSubject([workspaceId, networkOfAddress(address)]);
  const { counted } = await countEvent(acrossWorkspaces, { operation: 'installation-network', subject, at, windows });
  if (!counted)
    throw new ServiceError('APP_RATE_LIMITED', { retryAfterSeconds: 60, detail: 'new installations of the network' });
  const limit = {
    operation: 'installation',
    workspaceId,
    wanted: 1,
    limit: newInstallationsPerMinute,
    windowSeconds: 60,
    at,
  };
  const { granted, retryAfterSeconds } = await countUses(database, [limit]);
  if (granted === 0)
    throw new ServiceError('APP_RATE_LIMITED', { retryAfterSeconds, detail: 'new installations of the workspace' });
}

/** Returns what an app may know: nothing but the state of its own installation. */
async function stateOf(
  tx: Transaction,
  { id, workspaceId, isIdentified }: Pick<LockedInstallation, 'id' | 'workspaceId' | 'isIdentified'>,
  { appId, isOptedOut, pushId, platform }: Registration,
): Promise<InstallationState> {
  return {
    id,
    isIdentified,
    isOptedIn: !isOptedOut,
    hasPushToken: pushId !== null,
    webPushPublicKey: platform === 'WEB' ? await findWebPushKey(tx, { workspaceId, appId }) : undefined,
  };
}

/** The key of the app's own credential, or else of the default app's. */
export async function findWebPushKey(
  tx: Queryable,
  { workspaceId, appId }: { workspaceId: string; appId: string | null },
): Promise<string | undefined> {
  const credentials = (await listProviderCredentials(tx, workspaceId)).filter(({ provider }) => provider === 'webpush');
  const own = credentials.find((credential) => credential.appId === appId);
  return (own ?? credentials.find((credential) => credential.appId === defaultAppId))?.summary.publicKey;
}
