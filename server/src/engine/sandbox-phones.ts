import { EventEmitter, once } from 'node:events';
import type { Clock } from '../clock.ts';
import type { App } from '../domain/apps.ts';
import type { Encryption } from '../domain/crypto/encryption.ts';
import { makeIdsInOrder } from '../domain/ids.ts';
import { toStorable } from '../domain/storable-text.ts';
import type { Logger } from '../log.ts';
import { mapProviders } from '../providers/registry.ts';
import { startSimulators } from '../providers/simulator/start-simulators.ts';
import type { SimulatorThread } from '../providers/simulator/simulator-thread.ts';
import type { SimulatorAccount, SimulatorPlace, Simulators } from '../providers/simulator/start-simulators.ts';
import { listApps } from '../storage/apps.ts';
import type { Database } from '../storage/database.ts';
import { findNewestMessageId, insertSandboxMessages } from '../storage/installation/sandbox.ts';
import { listSimulatedCredentials } from '../storage/keys/provider-credentials.ts';
import { openCredentials } from './credentials.ts';
import type { AppsOfWorkspace } from './credentials.ts';

export type SandboxPhonesDependencies = {
  database: Database;
  encryption: Encryption;
  clock: Clock;
  log: Logger;
  /** Derives the keys of the simulated browsers; the same on every node of the installation. */
  secret: Buffer;
  simulatorsRunIn: SimulatorPlace;
  /** A thread that was opened in advance, for simulators that run in one. */
  simulatorThread?: SimulatorThread | undefined;
};

export type SandboxPhones = Simulators & {
  /** Loads the accounts of workspaces with simulated credentials. Call again when a credential is added. */
  refreshAccounts(): Promise<void>;
  /** Loads apps that any node has added in the meantime, before messages are sent to their devices. */
  learnApps(of: AppsOfWorkspace): Promise<void>;
  /** Resolves when a message has been stored in the inbox, or after the given time. */
  waitForMessage(milliseconds: number): Promise<void>;
};

/** Starts the simulated providers and stores what their devices receive in the inbox. */
export async function startSandboxPhones(deps: SandboxPhonesDependencies): Promise<SandboxPhones> {
  const { database, encryption, clock, log } = deps;
  const arrivals = new EventEmitter();
  arrivals.setMaxListeners(0);
  const learned = new Set<string>();
  // In the order of arrival: a clock that went back or was stopped would sort new messages before, or among, those already
  // read.
  const nextMessageId = makeIdsInOrder(() => clock.realNow(), await findNewestMessageId(database));
  const simulators = await startSimulators({
    log,
    clock,
    secret: deps.secret,
    runIn: deps.simulatorsRunIn,
    thread: deps.simulatorThread,
    accounts: await readAccounts(database, encryption),
    async onDelivered(messages) {
      const rows = messages.map((message) => ({
        ...message,
        id: nextMessageId(),
        campaignId: message.campaignId ?? null,
      }));
      await insertSandboxMessages(database, toStorable(rows));
      arrivals.emit('message');
    },
  });
  return {
    ...simulators,
    async refreshAccounts() {
      await simulators.setAccounts(await readAccounts(database, encryption));
    },
    async learnApps({ workspaceId, apps }) {
      const keys = apps.filter(isOnIos).map(({ identifier }) => `${workspaceId} ${identifier}`);
      if (keys.every((key) => learned.has(key))) return;
      await simulators.setAccounts(await readAccounts(database, encryption));
      for (const key of keys) learned.add(key);
    },
    async waitForMessage(milliseconds) {
      // AbortSignal.timeout throws for fractions.
      const signal = AbortSignal.timeout(Math.max(1, Math.ceil(milliseconds)));
      await once(arrivals, 'message', { signal }).catch(() => {});
    },
  };
}

/** Returns what the simulated providers know about their accounts: never a private key or a secret. */
async function readAccounts(database: Database, encryption: Encryption): Promise<SimulatorAccount[]> {
  const rows = await listSimulatedCredentials(database);
  const workspaceIds = [...new Set(rows.map((row) => row.workspaceId))];
  const accounts: SimulatorAccount[] = [];
  for (const workspaceId of workspaceIds) {
    const apps = await listApps(database, workspaceId);
    const credentials = openCredentials(
      encryption,
      rows.filter((row) => row.workspaceId === workspaceId),
    );
    const known = mapProviders(({ simulatedAccount }, name) => {
      const credential = credentials[name];
      return credential && simulatedAccount(credential, apps);
    });
    accounts.push({ workspaceId, ...known } as SimulatorAccount);
  }
  return accounts;
}

const isOnIos = ({ platform }: App): boolean => platform === 'IOS';
