import type { ChildProcess } from 'node:child_process';
import { createPublicKey } from 'node:crypto';
import { join } from 'node:path';
import { makeClock } from '../../src/clock.ts';
import type { Clock } from '../../src/clock.ts';
import { openCredentials } from '../../src/engine/credentials.ts';
import { makeLog } from '../../src/log.ts';
import type { SimulatorEndpoints } from '../../src/providers/registry.ts';
import { startSimulators } from '../../src/providers/simulator/start-simulators.ts';
import type { DeliveredMessage, SimulatorAccount } from '../../src/providers/simulator/start-simulators.ts';
import type { OpenInstallation } from '../../src/start/database/open-installation.ts';
import { listSimulatedCredentials } from '../../src/storage/keys/provider-credentials.ts';
import type { Recorder } from './history.ts';
import { startScript } from './processes.ts';

/** What one device received of one campaign. A list, because nearly every device has one identity and there are a million. */
type Received = { requests: number; identities: string[]; titles: string[] };

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
  /** Forgets what was received until now. */
  forget(): void;
  syncClock(): void;
  stop(): Promise<void>;
};

type CollectorDependencies = Pick<OpenInstallation, 'acrossWorkspaces' | 'encryption' | 'secretFor'>;

// Personal ones are not shared.
const maxTitles = 1_000;

type CollectorOptions = { clock?: Clock; recorder?: Recorder };

/** The simulated providers in this process, where nothing kills them, counting by campaign and device address. */
export async function startCollector(
  deps: CollectorDependencies,
  { clock = makeClock(), recorder }: CollectorOptions = {},
): Promise<Collector> {
  const received = new Map<string, Map<string, Received>>();
  const titles = new Map<string, string>();
  let requests = 0;
  let reached = 0;
  let forgotten = 0;
  const waiting = new Set<() => void>();
  const count = (message: DeliveredMessage): void => {
    requests += 1;
    const campaignId = message.campaignId ?? '';
    recorder?.note({
      ...{ kind: 'message', at: message.receivedAt.getTime(), campaign: campaignId, address: message.deviceToken },
      ...{ platform: message.platform, collapse: message.collapseId, message: message.messageId, answer: 'ACCEPTED' },
    });
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
    clock,
    log: makeLog({ level: 'error', pretty: false }),
    secret: deps.secretFor('simulator'),
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

async function readAccounts({ acrossWorkspaces, encryption }: CollectorDependencies): Promise<SimulatorAccount[]> {
  const pem = (key: string): string => createPublicKey(key).export({ type: 'spki', format: 'pem' }) as string;
  const rows = await listSimulatedCredentials(acrossWorkspaces);
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

export type CollectorCommand = { id: number } & (
  | { kind: 'reached'; campaignId: string | undefined }
  | { kind: 'faults'; faults: unknown }
  | { kind: 'received'; campaignIds: string[] }
);
export type CollectorReply = { id: number; reached?: number; received?: [string, [string, Received][]][] };

type CollectorProcess = {
  process: ChildProcess;
  /** Where this machine's nodes find the providers, and where those in other network namespaces do. */
  endpoints: { here: SimulatorEndpoints; relayed: SimulatorEndpoints | undefined };
  /** How many devices of a campaign have got a message, or of all. */
  reached(campaignId?: string): Promise<number>;
  setFaults(faults: unknown): Promise<void>;
  /** What devices have received, once every message that a provider accepted is counted; for the audits. */
  read(campaignIds: string[]): Promise<Pick<Collector, 'of' | 'settle'>>;
  stop(): Promise<void>;
};

type Asked = CollectorCommand extends infer C ? (C extends { id: number } ? Omit<C, 'id'> : never) : never;

/** Starts the simulated providers in a process, which is never killed. */
export async function startCollectorProcess(
  environment: Record<string, string>,
  address: string | undefined,
): Promise<CollectorProcess> {
  const words = [join(import.meta.dirname, 'collector-process.ts'), address ?? ''];
  const { process: child, exited, ready } = await startScript<CollectorProcess['endpoints']>(environment, { words });
  const waiting = new Map<number, (reply: CollectorReply) => void>();
  let last = 0;
  child.on('message', (reply: CollectorReply) => {
    waiting.get(reply.id)?.(reply);
    waiting.delete(reply.id);
  });
  const ask = async (asked: Asked): Promise<CollectorReply> => {
    const id = (last += 1);
    const replied = new Promise<CollectorReply>((resolve) => waiting.set(id, resolve));
    child.send({ ...asked, id });
    const reply = await Promise.race([replied, exited.then(() => undefined)]);
    if (!reply) throw new Error('the simulated providers ended');
    return reply;
  };
  return {
    process: child,
    endpoints: ready,
    async reached(campaignId) {
      return (await ask({ kind: 'reached', campaignId })).reached!;
    },
    async setFaults(faults) {
      await ask({ kind: 'faults', faults });
    },
    async read(campaignIds) {
      const { received } = await ask({ kind: 'received', campaignIds });
      const of = new Map(received!.map(([campaignId, devices]) => [campaignId, new Map(devices)]));
      return { of: (campaignId) => of.get(campaignId) ?? new Map(), settle: async () => {} };
    },
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
