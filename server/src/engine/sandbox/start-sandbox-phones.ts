import { EventEmitter, once } from 'node:events';
import type { Clock } from '../../clock.ts';
import { makeId } from '../../domain/ids.ts';
import type { ApnsCredential, FcmCredential, WebPushCredential } from '../../domain/provider-credential.ts';
import { createPublicKey } from 'node:crypto';
import type { Encryption } from '../../domain/encryption.ts';
import type { Logger } from '../../log.ts';
import type { Database } from '../../storage/database.ts';
import { listSimulatedCredentials } from '../../storage/keys/provider-credentials.ts';
import { toStorable } from '../../domain/storable-text.ts';
import { insertSandboxMessages } from '../../storage/installation/sandbox.ts';
import { openCredentials } from '../credentials/load-credentials.ts';
import { startSimulators } from '../delivery/simulator/start-simulators.ts';
import type { SimulatorAccount, SimulatorPlace, Simulators } from '../delivery/simulator/start-simulators.ts';

export type SandboxPhonesDependencies = {
  database: Database;
  encryption: Encryption;
  clock: Clock;
  log: Logger;
  /** Derives the keys of the simulated browsers; the same on every node of the installation. */
  secret: Buffer;
  simulatorsRunIn: SimulatorPlace;
};

export type SandboxPhones = Simulators & {
  /** Learns the workspaces whose credentials are simulated; called again when one is added. */
  refreshAccounts(): Promise<void>;
  /** Settles when a message has been stored in the inbox, or after the time. */
  waitForMessage(milliseconds: number): Promise<void>;
};

/** Starts the simulated providers and puts what their devices receive into the inbox. */
export async function startSandboxPhones(deps: SandboxPhonesDependencies): Promise<SandboxPhones> {
  const { database, encryption, clock, log } = deps;
  const arrivals = new EventEmitter();
  arrivals.setMaxListeners(0);
  const simulators = await startSimulators({
    log,
    clock,
    secret: deps.secret,
    runIn: deps.simulatorsRunIn,
    accounts: await readAccounts(database, encryption),
    async onDelivered(messages) {
      const rows = messages.map((message) => ({
        ...message,
        id: makeId(message.receivedAt),
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
    async waitForMessage(milliseconds) {
      // A fraction throws.
      const signal = AbortSignal.timeout(Math.max(1, Math.ceil(milliseconds)));
      await once(arrivals, 'message', { signal }).catch(() => {});
    },
  };
}

/** What the providers know of their customers: never a private key. */
async function readAccounts(database: Database, encryption: Encryption): Promise<SimulatorAccount[]> {
  const rows = await listSimulatedCredentials(database);
  const workspaceIds = [...new Set(rows.map((row) => row.workspaceId))];
  return workspaceIds.map((workspaceId) => {
    const { fcm, apns, webpush } = openCredentials(
      encryption,
      rows.filter((row) => row.workspaceId === workspaceId),
    );
    return {
      workspaceId,
      ...(fcm ? { fcm: fcmAccount(fcm) } : {}),
      ...(apns ? { apns: apnsAccount(apns) } : {}),
      ...(webpush ? { webpush: webPushAccount(webpush) } : {}),
    };
  });
}

function fcmAccount({ projectId, clientEmail, privateKey }: FcmCredential) {
  return { projectId, clientEmail, publicKeyPem: publicPem(privateKey) };
}

function apnsAccount({ teamId, keyId, topic, privateKey }: ApnsCredential) {
  return { teamId, keyId, topic, publicKeyPem: publicPem(privateKey) };
}

function webPushAccount({ publicKey }: WebPushCredential) {
  return { publicKey };
}

function publicPem(privateKey: string): string {
  return createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }) as string;
}
