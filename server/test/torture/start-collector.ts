import { createPublicKey } from 'node:crypto';
import type { Clock } from '../../src/clock.ts';
import type { Encryption } from '../../src/domain/crypto/encryption.ts';
import { openCredentials } from '../../src/engine/credentials.ts';
import type { SimulatorEndpoints } from '../../src/providers/registry.ts';
import { startSimulators } from '../../src/providers/simulator/start-simulators.ts';
import type { DeliveredMessage, SimulatorAccount } from '../../src/providers/simulator/start-simulators.ts';
import type { Logger } from '../../src/log.ts';
import type { Database } from '../../src/storage/database.ts';
import { listSimulatedCredentials } from '../../src/storage/keys/provider-credentials.ts';

/** What one device received of one campaign. A list, because nearly every device has one identity and there are a million. */
export type Received = { requests: number; identities: string[]; titles: string[] };

export type Collector = {
  endpoints: SimulatorEndpoints;
  /** Messages devices received. */
  requests(): number;
  /** Distinct pairs of campaign and device. */
  reached(): number;
  of(campaignId: string): ReadonlyMap<string, Received>;
  setFaults(faults: unknown): Promise<void>;
  /** Requests that arrived at each provider, refused ones included. */
  arrived(): Promise<Record<'ANDROID' | 'IOS' | 'WEB', number>>;
  /** Until every message that a provider accepted is counted here: what devices received arrives later, in batches. */
  settle(): Promise<void>;
  /** From here on as if nobody had received anything. */
  forget(): void;
  syncClock(): void;
  stop(): Promise<void>;
};

export type CollectorDependencies = {
  database: Database;
  encryption: Encryption;
  clock: Clock;
  log: Logger;
  secret: Buffer;
};

// Personal ones are not shared.
const maxTitles = 1_000;

/** The simulated providers in this process, where nothing kills them, counting by campaign and device address. */
export async function startCollector(deps: CollectorDependencies): Promise<Collector> {
  const received = new Map<string, Map<string, Received>>();
  const titles = new Map<string, string>();
  let requests = 0;
  let reached = 0;
  let forgotten = 0;
  const waiting = new Set<() => void>();
  const count = (message: DeliveredMessage): void => {
    requests += 1;
    const campaignId = message.campaignId ?? '';
    const devices = received.get(campaignId) ?? new Map<string, Received>();
    received.set(campaignId, devices);
    const address = `${message.platform}:${message.deviceToken}`;
    const device = devices.get(address) ?? { requests: 0, identities: [], titles: [] };
    if (device.requests === 0) reached += 1;
    device.requests += 1;
    const identity = `${message.collapseId} ${message.messageId}`;
    if (!device.identities.includes(identity)) device.identities.push(identity);
    // A campaign has few: each is kept once.
    const title = titles.get(message.title) ?? message.title;
    if (titles.size < maxTitles) titles.set(title, title);
    if (!device.titles.includes(title)) device.titles.push(title);
    devices.set(address, device);
  };
  const simulators = await startSimulators({
    clock: deps.clock,
    log: deps.log,
    secret: deps.secret,
    accounts: await readAccounts(deps),
    async onDelivered(messages) {
      for (const message of messages) count(message);
      for (const look of waiting) look();
    },
  });
  return {
    endpoints: simulators.endpoints,
    requests: () => requests - forgotten,
    reached: () => reached,
    of: (campaignId) => received.get(campaignId) ?? new Map(),
    setFaults: (faults) => simulators.setFaults(faults),
    async arrived() {
      const { ANDROID, IOS, WEB } = await simulators.counters();
      return { ANDROID: ANDROID.received, IOS: IOS.received, WEB: WEB.received };
    },
    async settle() {
      const counters = Object.values(await simulators.counters());
      const accepted = counters.reduce((sum, provider) => sum + provider.accepted, 0);
      await new Promise<void>((resolve) => {
        const look = (): void => {
          if (requests < accepted) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      });
    },
    forget() {
      received.clear();
      reached = 0;
      forgotten = requests;
    },
    syncClock: () => simulators.syncClock(),
    stop: () => simulators.stop(),
  };
}

async function readAccounts({ database, encryption }: CollectorDependencies): Promise<SimulatorAccount[]> {
  const pem = (key: string): string => createPublicKey(key).export({ type: 'spki', format: 'pem' }) as string;
  const rows = await listSimulatedCredentials(database);
  const { fcm, apns, webpush } = openCredentials(encryption, rows);
  return [
    {
      workspaceId: rows[0]!.workspaceId,
      fcm: { projectId: fcm!.projectId, clientEmail: fcm!.clientEmail, publicKeyPem: pem(fcm!.privateKey) },
      apns: { teamId: apns!.teamId, keyId: apns!.keyId, topics: [apns!.topic], publicKeyPem: pem(apns!.privateKey) },
      webpush: { publicKey: webpush!.publicKey },
    },
  ];
}
