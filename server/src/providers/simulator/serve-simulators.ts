import type { MessagePort } from 'node:worker_threads';
import type { ProviderName } from '../../domain/delivery/providers.ts';
import { makeFaultSwitch, needsDevice } from '../../domain/sandbox/faults.ts';
import type { Faults, Fault } from '../../domain/sandbox/faults.ts';
import { reasonOf, shownHeaders } from '../../domain/sandbox/refusals.ts';
import type { SandboxRefusal } from '../../domain/sandbox/refusals.ts';
import { unknownCase } from '../../domain/unknown-case.ts';
import { makeSimulateApns } from '../apns/simulator.ts';
import { makeSimulateFcm } from '../fcm/simulator.ts';
import { hmsTokenPath, makeSimulateHms } from '../hms/simulator.ts';
import { makeSimulateWebPush } from '../webpush/simulator.ts';
import { fieldAnswer } from './field-answers.ts';
import { listenHttp1 } from './listen-http1.ts';
import type { SimulatorTls } from './listen-http1.ts';
import { listenHttp2 } from './listen-http2.ts';
import type {
  DeliveredMessage,
  SimulatorAccount,
  Simulate,
  SimulatedAnswer,
  SimulatedRequest,
  Exchange,
  SimulatorServer,
} from './simulator.ts';

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

export type SimulatorCounters = { received: number; accepted: number; refused: number };

export type ServedSimulator = SimulatorServer & { counters: SimulatorCounters };

type ServeOptions = {
  provider: ProviderName;
  simulate: Simulate;
  /** HTTP/2 without TLS unless given. */
  protocol?: SimulatorProtocol | undefined;
  /** Where the same server issues access tokens. */
  tokenPath?: string | undefined;
  /** The address of the device that a request is for. */
  deviceOf: (request: { path: string; body: Buffer }) => string | undefined;
  times: () => Pick<SimulatedRequest, 'now' | 'shownAt'>;
  /** Resolves when there is room for more; the answer waits for it. */
  onDelivered: (message: DeliveredMessage) => Promise<void> | undefined;
  onRefused: (refusal: Refused) => void;
};

/** Some push services speak nothing newer. */
export type SimulatorProtocol = { version: 'http/1.1'; tls?: SimulatorTls };

/** What is told of a refusal beside who refused, and when. */
export type Refused = Omit<SandboxRefusal, 'number' | 'at' | 'provider'>;

/** Serves one simulated provider over a real network protocol on loopback, with its fault switch. */
async function serveSimulator(options: ServeOptions): Promise<ServedSimulator> {
  const counters: SimulatorCounters = { received: 0, accepted: 0, refused: 0 };
  let faults: Fault[] = [];
  let strike = makeFaultSwitch(faults);
  const { protocol } = options;
  const onExchange = (exchange: Exchange): void => {
    // A token endpoint shares the server but is no device.
    if (exchange.path !== options.tokenPath) counters.received += 1;
    void answer(exchange);
  };
  const server = await (protocol ? listenHttp1(onExchange, protocol.tls) : listenHttp2(onExchange));

  async function answer({ method, path, headers, readBody, respond, cut }: Exchange): Promise<void> {
    const body = await readBody();
    const struck = strike({ device: faults.some(needsDevice) ? options.deviceOf({ path, body }) : undefined });
    if (struck?.delayMilliseconds) await new Promise((resolve) => setTimeout(resolve, struck.delayMilliseconds));
    const refuse = (refused: Pick<Refused, 'status' | 'reason' | 'rule'>): void =>
      options.onRefused({
        ...{ path, device: options.deviceOf({ path, body }) ?? null },
        ...{ ...refused, headers: shownHeaders(headers) },
      });
    if (struck?.reset) {
      counters.refused += 1;
      refuse({ status: null, reason: 'the stream was cut', rule: 'fault' });
      cut();
      return;
    }
    const given: SimulatedAnswer =
      (struck && answerOfFault(struck, options, { path, body })) ??
      (await askSimulator(options, { method, path, headers, body }));
    if (given === 'silence') {
      counters.refused += 1;
      refuse({ status: null, reason: 'no answer', rule: 'magic address' });
      return;
    }
    if (given.delivered) {
      counters.accepted += 1;
      await options.onDelivered(given.delivered);
    } else if (path !== options.tokenPath) counters.refused += 1;
    if (isRefusal(given)) refuse({ status: given.status, reason: reasonOf(given), rule: given.rule ?? 'payload' });
    respond(given);
  }

  return {
    origin: server.origin,
    counters,
    setFaults(next) {
      faults = [...next];
      strike = makeFaultSwitch(faults);
      server.setFaults(faults);
    },
    stop: () => server.stop(),
  };
}

type Asked = { path: string; body: Buffer };

/** Undefined for a fault that lets the simulator answer. */
function answerOfFault(
  fault: Fault,
  { provider, deviceOf }: Pick<ServeOptions, 'provider' | 'deviceOf'>,
  asked: Asked,
): Exclude<SimulatedAnswer, 'silence'> | undefined {
  const { status, headers, body = '', answer } = fault;
  if (answer !== undefined) return { ...fieldAnswer(provider, answer, deviceOf(asked) ?? ''), rule: 'fault' };
  return status === undefined ? undefined : { status, ...(headers ? { headers } : {}), body, rule: 'fault' };
}

/** What no rule foresaw is refused too: thrown, it would end the thread, and with it every simulator. */
async function askSimulator(
  { simulate, times }: Pick<ServeOptions, 'simulate' | 'times'>,
  request: Omit<SimulatedRequest, 'now' | 'shownAt'>,
): Promise<SimulatedAnswer> {
  try {
    return await simulate({ ...request, ...times() });
  } catch (error) {
    return { status: 400, body: `The request cannot be read: ${(error as Error).message}`, rule: 'payload' };
  }
}

/** Some services refuse with a success, and say so in the body. */
function isRefusal({ status, rule }: Exclude<SimulatedAnswer, 'silence'>): boolean {
  return status >= 400 || rule !== undefined;
}
