/**
 * The simulators' own thread: three HTTP/2 servers that use another core than the sender. Commands and messages pass
 * over the thread's port; nothing else is shared except the clock's offsets.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { serveSimulator } from './serve-simulator.ts';
import type { Faults } from './faults.ts';
import { makeSimulateApns } from './simulate-apns.ts';
import { makeSimulateFcm } from './simulate-fcm.ts';
import { makeSimulateWebPush } from './simulate-web-push.ts';
import type { DeliveredMessage, SimulatorAccount } from './simulator-account.ts';

export type WorkerData = {
  accounts: SimulatorAccount[];
  secret: Uint8Array; /** Of real time and of the service's to this thread's. */
  clockDifferences: Float64Array;
};

export type WorkerCommand =
  | { kind: 'accounts'; id: number; accounts: SimulatorAccount[] }
  | { kind: 'faults'; id: number; faults: Faults }
  | { kind: 'counters' | 'reset' | 'settle' | 'stop'; id: number }
  /** The batch is in the inbox. */
  | { kind: 'stored' };

export type WorkerReport =
  | { kind: 'ready'; origins: { fcm: string; apns: string; webpush: string } }
  | { kind: 'done'; id: number; result?: unknown }
  | { kind: 'delivered'; messages: DeliveredMessage[] };

const port = parentPort!;
const data = workerData as WorkerData;
let accounts = data.accounts;

const batchMessages = 500;
const batchMilliseconds = 20;
// Beyond this the phones wait for the inbox, and the senders for the phones.
const maxWaiting = 20_000;
const waiting: DeliveredMessage[] = [];
let isStoring = false;
let timer: NodeJS.Timeout | undefined;
const quotaWaits: (() => void)[] = [];
const settleWaits: (() => void)[] = [];

function flush(): void {
  timer = undefined;
  if (isStoring || waiting.length === 0) return;
  isStoring = true;
  port.postMessage({ kind: 'delivered', messages: waiting.splice(0, batchMessages) } satisfies WorkerReport);
}

/** Resolves when everything that was received has been handed over and stored. */
async function settle(): Promise<void> {
  flush();
  if (isStoring) await new Promise<void>((resolve) => settleWaits.push(resolve));
}

function onDelivered(message: DeliveredMessage): Promise<void> | undefined {
  waiting.push(message);
  if (waiting.length >= batchMessages) flush();
  timer ??= setTimeout(flush, batchMilliseconds);
  return waiting.length < maxWaiting ? undefined : new Promise((resolve) => quotaWaits.push(resolve));
}

const times = () => {
  const here = performance.timeOrigin + performance.now();
  return { now: new Date(here + data.clockDifferences[0]!), shownAt: new Date(here + data.clockDifferences[1]!) };
};
const serve = (simulate: Parameters<typeof serveSimulator>[0]['simulate']) =>
  serveSimulator({ simulate, times, onDelivered });
const [fcm, apns, webpush] = await Promise.all([
  serve(makeSimulateFcm(() => accounts)),
  serve(makeSimulateApns(() => accounts)),
  serve(makeSimulateWebPush(() => accounts, { secret: Buffer.from(data.secret) })),
]);
const simulators = { fcm, apns, webpush };

const counters = (): object => ({
  ANDROID: { ...fcm.counters },
  IOS: { ...apns.counters },
  WEB: { ...webpush.counters },
});

async function obey(command: WorkerCommand): Promise<unknown> {
  switch (command.kind) {
    case 'accounts':
      accounts = command.accounts;
      return undefined;
    case 'faults':
      for (const [name, simulator] of Object.entries(simulators))
        simulator.setFault(command.faults[name as keyof Faults]);
      return undefined;
    case 'counters':
      return counters();
    case 'reset':
      for (const simulator of Object.values(simulators)) {
        simulator.setFault(undefined);
        Object.assign(simulator.counters, { received: 0, accepted: 0, refused: 0 });
      }
      return undefined;
    case 'settle':
      return settle();
    case 'stop':
      await Promise.all(Object.values(simulators).map((simulator) => simulator.stop()));
      return settle();
    case 'stored': {
      isStoring = false;
      for (const resume of quotaWaits.splice(0)) resume();
      flush();
      if (!isStoring) for (const resolve of settleWaits.splice(0)) resolve();
      return undefined;
    }
    default: {
      const never: never = command;
      throw new Error(`unknown command ${String(never)}`);
    }
  }
}

port.on('message', (command: WorkerCommand) => {
  void obey(command).then((result) => {
    if ('id' in command) port.postMessage({ kind: 'done', id: command.id, result } satisfies WorkerReport);
    // After the answer nothing may hold the thread: its port would.
    if (command.kind === 'stop') port.close();
  });
});
port.postMessage({
  kind: 'ready',
  origins: { fcm: fcm.origin, apns: apns.origin, webpush: webpush.origin },
} satisfies WorkerReport);
