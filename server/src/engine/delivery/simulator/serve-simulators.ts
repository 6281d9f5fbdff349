import type { MessagePort } from 'node:worker_threads';
import { serveSimulator } from './serve-simulator.ts';
import type { ServeOptions, SimulatorProtocol } from './serve-simulator.ts';
import type { ProviderName } from '../../../domain/delivery/provider-name.ts';
import type { Faults } from '../../../domain/sandbox/faults.ts';
import type { SandboxRefusal } from '../../../domain/sandbox/refusal.ts';
import { makeSimulateApns } from './simulate-apns.ts';
import { makeSimulateFcm } from './simulate-fcm.ts';
import { hmsTokenPath, makeSimulateHms } from './simulate-hms.ts';
import { makeSimulateWebPush } from './simulate-web-push.ts';
import type { DeliveredMessage, SimulatorAccount } from './simulator-account.ts';
import { unknownCase } from '../../../domain/unknown-case.ts';

export type WorkerData = {
  accounts: SimulatorAccount[];
  secret: Uint8Array;
  /** Of the push service; HTTP/2 unless given. */
  webPushProtocol?: SimulatorProtocol | undefined;
  /** Of real time and of the service's to this thread's; and the instant at which the service's stands, if it does (NaN). */
  clockDifferences: Float64Array;
};

export type WorkerCommand =
  | { kind: 'accounts'; id: number; accounts: SimulatorAccount[] }
  | { kind: 'faults'; id: number; faults: Faults }
  | { kind: 'counters' | 'refusals' | 'reset' | 'settle' | 'stop'; id: number }
  /** The batch is in the inbox. */
  | { kind: 'stored' };

export type WorkerReport =
  | { kind: 'ready'; origins: Record<ProviderName, string> }
  | { kind: 'done'; id: number; result?: unknown }
  | { kind: 'delivered'; messages: DeliveredMessage[] };

const batchMessages = 500;
const batchMilliseconds = 20;
// Beyond this the phones wait for the inbox, and the senders for the phones.
const maxWaiting = 20_000;
// A developer looks at the last few; each has some hundred bytes.
const maxRefusals = 1_000;
/**
 * A server of each provider, which obey a port. Commands and messages pass over it; nothing else is shared except the clock's
 * offsets, so that they may run in a thread or in the sender's own.
 */
export async function serveSimulators(port: MessagePort, data: WorkerData): Promise<void> {
  let accounts = data.accounts;
  const batches = makeBatches((messages) => port.postMessage({ kind: 'delivered', messages } satisfies WorkerReport));
  const times = () => {
    const here = performance.timeOrigin + performance.now();
    const stoppedAt = data.clockDifferences[2]!;
    const shown = Number.isNaN(stoppedAt) ? here + data.clockDifferences[1]! : stoppedAt;
    return { now: new Date(here + data.clockDifferences[0]!), shownAt: new Date(shown) };
  };
  let refusals: SandboxRefusal[] = [];
  let refusedCount = 0;
  const serve = (
    provider: ProviderName,
    {
      findDevice,
      ...options
    }: Pick<ServeOptions, 'simulate' | 'tokenPath' | 'protocol'> & { findDevice: ServeOptions['deviceOf'] },
  ) =>
    serveSimulator({
      ...{ ...options, provider, deviceOf: findDevice, times, onDelivered: batches.add },
      onRefused(refused) {
        refusedCount += 1;
        refusals.push({ number: refusedCount, at: times().shownAt.toISOString(), provider, ...refused });
        // Half at a time: to move all at each would cost more than the refusal.
        if (refusals.length > 2 * maxRefusals) refusals = refusals.slice(-maxRefusals);
      },
    });
  const [fcm, apns, webpush, hms] = await Promise.all([
    serve('fcm', { simulate: makeSimulateFcm(() => accounts), tokenPath: '/token', findDevice: deviceOf.body }),
    serve('apns', { simulate: makeSimulateApns(() => accounts), findDevice: deviceOf.path }),
    serve('webpush', {
      simulate: makeSimulateWebPush(() => accounts, { secret: Buffer.from(data.secret) }),
      findDevice: deviceOf.path,
      protocol: data.webPushProtocol,
    }),
    serve('hms', { simulate: makeSimulateHms(() => accounts), tokenPath: hmsTokenPath, findDevice: deviceOf.body }),
  ]);
  const simulators = { fcm, apns, webpush, hms };

  const counters = (): object => ({
    ANDROID: { ...fcm.counters },
    IOS: { ...apns.counters },
    WEB: { ...webpush.counters },
    HMS: { ...hms.counters },
  });

  async function obey(command: WorkerCommand): Promise<unknown> {
    switch (command.kind) {
      case 'accounts':
        accounts = command.accounts;
        return undefined;
      case 'faults':
        for (const [name, simulator] of Object.entries(simulators))
          simulator.setFaults(command.faults[name as ProviderName]);
        return undefined;
      case 'counters':
        return counters();
      case 'refusals':
        return refusals.slice(-maxRefusals).reverse();
      case 'reset':
        refusals = [];
        for (const simulator of Object.values(simulators)) {
          simulator.setFaults([]);
          Object.assign(simulator.counters, { received: 0, accepted: 0, refused: 0 });
        }
        return undefined;
      case 'settle':
        return batches.settle();
      case 'stop':
        await Promise.all(Object.values(simulators).map((simulator) => simulator.stop()));
        return batches.settle();
      case 'stored':
        batches.noteStored();
        return undefined;
      default:
        return unknownCase(command);
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
    origins: { fcm: fcm.origin, apns: apns.origin, webpush: webpush.origin, hms: hms.origin },
  } satisfies WorkerReport);
}

/** The address of the device that a request is for. */
const deviceOf = {
  body({ body }: { body: Buffer }): string | undefined {
    try {
      const { message } = JSON.parse(body.toString('utf8')) as { message?: { token?: unknown; fid?: unknown } };
      const [token] = [message?.token ?? message?.fid].flat();
      return typeof token === 'string' ? token : undefined;
    } catch {
      // The request for an access token, or one that is refused as it is.
      return undefined;
    }
  },
  path: ({ path }: { path: string }): string | undefined => path.split('/').at(-1),
};

/** What phones received, told in batches: the next when the one before is stored. */
function makeBatches(tell: (messages: DeliveredMessage[]) => void) {
  const waiting: DeliveredMessage[] = [];
  let isStoring = false;
  let timer: NodeJS.Timeout | undefined;
  const quotaWaits: (() => void)[] = [];
  const settleWaits: (() => void)[] = [];

  function flush(): void {
    timer = undefined;
    if (isStoring || waiting.length === 0) return;
    isStoring = true;
    tell(waiting.splice(0, batchMessages));
  }

  /** Resolves when everything that was received has been handed over and stored. */
  async function settle(): Promise<void> {
    flush();
    if (isStoring) await new Promise<void>((resolve) => settleWaits.push(resolve));
  }

  function add(message: DeliveredMessage): Promise<void> | undefined {
    waiting.push(message);
    if (waiting.length >= batchMessages) flush();
    timer ??= setTimeout(flush, batchMilliseconds);
    return waiting.length < maxWaiting ? undefined : new Promise((resolve) => quotaWaits.push(resolve));
  }

  function noteStored(): void {
    isStoring = false;
    for (const resume of quotaWaits.splice(0)) resume();
    flush();
    if (!isStoring) for (const resolve of settleWaits.splice(0)) resolve();
  }
  return { add, settle, noteStored };
}
