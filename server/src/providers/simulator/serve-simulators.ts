import type { MessagePort } from 'node:worker_threads';
import { providerNames, providers } from '../../domain/delivery/providers.ts';
import type { ProviderName } from '../../domain/delivery/providers.ts';
import { makeFaultSwitch, needsDevice } from '../../domain/sandbox/faults.ts';
import type { Faults, Fault } from '../../domain/sandbox/faults.ts';
import { reasonOf, shownHeaders } from '../../domain/sandbox/refusals.ts';
import type { SandboxRefusal } from '../../domain/sandbox/refusals.ts';
import { unknownCase } from '../../domain/unknown-case.ts';
import { descriptors, mapProviders } from '../registry.ts';
import type { SimulatorAccount } from '../registry.ts';
import { listenHttp1 } from './listen-http1.ts';
import type { SimulatorTls } from './listen-http1.ts';
import { listenHttp2 } from './listen-http2.ts';
import type {
  DeliveredMessage,
  GivenAnswer,
  ProviderSimulator,
  Simulate,
  SimulatedAnswer,
  SimulatedRequest,
  Exchange,
  SimulatorServer,
} from './simulator.ts';

export type WorkerData = {
  accounts: SimulatorAccount[];
  secret: Uint8Array;
  /** Protocol of the push service; HTTP/2 by default. */
  webPushProtocol?: SimulatorProtocol | undefined;
  /**
   * Three times in milliseconds: real time minus this thread's time, the service's time minus this thread's time, and the time
   * at which the service's clock is stopped, or NaN.
   */
  clockDifferences: Float64Array;
};

export type WorkerCommand =
  | { kind: 'accounts'; id: number; accounts: SimulatorAccount[] }
  | { kind: 'faults'; id: number; faults: Faults }
  | { kind: 'counters' | 'faults left' | 'refusals' | 'reset' | 'settle' | 'stop'; id: number }
  /** The batch is stored in the inbox. */
  | { kind: 'stored' };

export type WorkerReport =
  | { kind: 'ready'; origins: Record<ProviderName, string> }
  | { kind: 'done'; id: number; result?: unknown }
  | { kind: 'delivered'; messages: DeliveredMessage[] };

const batchMessages = 500;
const batchMilliseconds = 20;
// Beyond this limit the simulated phones respond only when the inbox has stored messages, so senders wait.
const maxWaiting = 20_000;
// A developer needs only the last few. Each has some hundred bytes.
const maxRefusals = 1_000;
/**
 * Runs a server for each provider, controlled through a port. Commands and messages pass over the port. Nothing else is shared
 * except the clock's offsets, so the servers may run in a separate thread or in the sender's own.
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
  const refusals = makeRefusalLog();
  const simulators = await serveAll({
    data,
    accounts: () => accounts,
    times,
    onDelivered: batches.add,
    onRefused: (provider, refused) => refusals.add({ at: times().shownAt.toISOString(), provider, ...refused }),
  });

  const counters = (): object =>
    Object.fromEntries(
      providerNames.map((provider) => [providers[provider].counter, { ...simulators[provider].counters }]),
    );

  async function execute(command: WorkerCommand): Promise<unknown> {
    switch (command.kind) {
      case 'accounts':
        accounts = command.accounts;
        return undefined;
      case 'faults':
        for (const provider of providerNames) simulators[provider].setFaults(command.faults[provider]);
        return undefined;
      case 'counters':
        return counters();
      case 'faults left':
        return Object.fromEntries(providerNames.map((provider) => [provider, simulators[provider].faultsLeft()]));
      case 'refusals':
        return refusals.newest();
      case 'reset':
        refusals.clear();
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
    void execute(command).then((result) => {
      if ('id' in command) port.postMessage({ kind: 'done', id: command.id, result } satisfies WorkerReport);
      // An open port would keep the thread alive after the reply.
      if (command.kind === 'stop') port.close();
    });
  });
  port.postMessage({
    kind: 'ready',
    origins: mapProviders((_, name) => simulators[name].origin),
  } satisfies WorkerReport);
}

/** Keeps the last refusals. Numbers count from the start of the simulators and continue after `clear`. */
function makeRefusalLog() {
  let refusals: SandboxRefusal[] = [];
  let count = 0;
  return {
    add(refusal: Omit<SandboxRefusal, 'number'>): void {
      count += 1;
      refusals.push({ number: count, ...refusal });
      // Drops half of them at once, because moving all of them for each refusal would cost too much.
      if (refusals.length > 2 * maxRefusals) refusals = refusals.slice(-maxRefusals);
    },
    newest: () => refusals.slice(-maxRefusals).reverse(),
    clear(): void {
      refusals = [];
    },
  };
}

type Serving = Pick<ServeOptions, 'times' | 'onDelivered'> & {
  data: WorkerData;
  accounts: () => SimulatorAccount[];
  onRefused: (provider: ProviderName, refusal: Refused) => void;
};

async function serveAll({ data, accounts, onRefused, ...serving }: Serving) {
  const served = await Promise.all(
    providerNames.map(async (name) => {
      const simulator = await descriptors[name].loadSimulator();
      const simulate = simulator.make(accounts, { secret: Buffer.from(data.secret) });
      return await serveSimulator({
        ...serving,
        ...{ simulator, simulate, onRefused: (refused) => onRefused(name, refused) },
        protocol: providers[name].address === 'subscription' ? data.webPushProtocol : undefined,
      });
    }),
  );
  return Object.fromEntries(providerNames.map((name, index) => [name, served[index]!])) as Record<
    ProviderName,
    ServedSimulator
  >;
}

/** Reports the messages that phones received, in batches: the next batch when the previous one is stored. */
function makeBatches(report: (messages: DeliveredMessage[]) => void) {
  const waiting: DeliveredMessage[] = [];
  let isStoring = false;
  let timer: NodeJS.Timeout | undefined;
  const quotaWaits: (() => void)[] = [];
  const settleWaits: (() => void)[] = [];

  function flush(): void {
    timer = undefined;
    if (isStoring || waiting.length === 0) return;
    isStoring = true;
    report(waiting.splice(0, batchMessages));
  }

  /** Resolves when all received messages are handed over and stored. */
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

export type ServedSimulator = SimulatorServer & { counters: SimulatorCounters; faultsLeft(): Fault[] };

type ServeOptions = {
  simulator: ProviderSimulator;
  simulate: Simulate;
  /** HTTP/2 without TLS by default. */
  protocol?: SimulatorProtocol | undefined;
  times: () => Pick<SimulatedRequest, 'now' | 'shownAt'>;
  /** Resolves when the inbox can take more messages; the response waits until then. */
  onDelivered: (message: DeliveredMessage) => Promise<void> | undefined;
  onRefused: (refusal: Refused) => void;
};

/** HTTP/1.1, because some push services support nothing newer. */
export type SimulatorProtocol = { version: 'http/1.1'; tls?: SimulatorTls };

/** The details of a refusal, without its provider and time. */
export type Refused = Omit<SandboxRefusal, 'number' | 'at' | 'provider'>;

/** Serves one simulated provider over a real network protocol on loopback, with its fault switch. */
async function serveSimulator(options: ServeOptions): Promise<ServedSimulator> {
  const counters: SimulatorCounters = { received: 0, accepted: 0, refused: 0 };
  let faults: Fault[] = [];
  let strike = makeFaultSwitch(faults);
  const { protocol } = options;
  const onExchange = (exchange: Exchange): void => {
    // A token endpoint shares the server but is not a device.
    if (exchange.path !== options.simulator.tokenPath) counters.received += 1;
    void answer(exchange);
  };
  const server = await (protocol ? listenHttp1(onExchange, protocol.tls) : listenHttp2(onExchange));

  async function answer({ method, path, headers, readBody, respond, cut }: Exchange): Promise<void> {
    const body = await readBody();
    const struck = strike({
      device: faults.some(needsDevice) ? options.simulator.findDevice({ path, body }) : undefined,
    });
    if (struck?.delayMilliseconds) await new Promise((resolve) => setTimeout(resolve, struck.delayMilliseconds));
    const refuse = (refused: Pick<Refused, 'status' | 'reason' | 'rule'>): void =>
      options.onRefused({
        ...{ path, device: options.simulator.findDevice({ path, body }) ?? null },
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
    } else if (path !== options.simulator.tokenPath) counters.refused += 1;
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
    faultsLeft: () => strike.left(),
    stop: () => server.stop(),
  };
}

type Asked = { path: string; body: Buffer };

/** Returns the response of a fault; undefined if the fault lets the simulator respond. */
function answerOfFault(
  fault: Fault,
  { simulator }: Pick<ServeOptions, 'simulator'>,
  asked: Asked,
): GivenAnswer | undefined {
  const { status, headers, body = '', answer } = fault;
  if (answer !== undefined)
    return { ...simulator.fieldAnswer(answer, simulator.findDevice(asked) ?? ''), rule: 'fault' };
  return status === undefined ? undefined : { status, ...(headers ? { headers } : {}), body, rule: 'fault' };
}

/**
 * Passes a request to the simulator. If the simulator throws, the request is refused, because an exception would end the thread
 * and with it every simulator.
 */
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

/** True for a refusal. Some services refuse with a success status, and report the refusal in the body. */
function isRefusal({ status, rule }: GivenAnswer): boolean {
  return status >= 400 || rule !== undefined;
}
