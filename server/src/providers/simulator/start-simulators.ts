import { MessageChannel } from 'node:worker_threads';
import type { MessagePort, Worker } from 'node:worker_threads';
import type { Clock } from '../../clock.ts';
import type { CounterName, ProviderName } from '../../domain/delivery/providers.ts';
import { parseFaults } from '../../domain/sandbox/faults.ts';
import type { Fault } from '../../domain/sandbox/faults.ts';
import type { SandboxRefusal } from '../../domain/sandbox/refusals.ts';
import type { Logger } from '../../log.ts';
import { simulatorEndpointsAt } from '../registry.ts';
import type { SimulatorAccount, SimulatorEndpoints } from '../registry.ts';
import { serveSimulators } from './serve-simulators.ts';
import type {
  SimulatorCounters,
  SimulatorProtocol,
  WorkerCommand,
  WorkerData,
  WorkerReport,
} from './serve-simulators.ts';
import { openSimulatorThread } from './simulator-thread.ts';
import type { SimulatorThread } from './simulator-thread.ts';
import type { DeliveredMessage } from './simulator.ts';

export type { SimulatorAccount } from '../registry.ts';
export type { DeliveredMessage } from './simulator.ts';

export type SimulatorOptions = {
  clock: Clock;
  log: Logger;
  accounts: SimulatorAccount[];
  /** Derives the keys of the simulated browsers. */
  secret: Buffer;
  /** Called with each batch of messages that devices received. The next batch waits until it resolves. */
  onDelivered: (messages: DeliveredMessage[]) => Promise<void>;
  /** A separate thread, the default, takes 20 MB and a tenth of a second of the processor to start. */
  runIn?: SimulatorPlace;
  /** A thread that was opened in advance; by default a new one. */
  thread?: SimulatorThread | undefined;
  /** Protocol of the push service; HTTP/2 without TLS by default. */
  webPushProtocol?: SimulatorProtocol;
};

export type SimulatorPlace = 'own thread' | 'this thread';

export type Simulators = {
  /** Loopback origins. */
  origins: Readonly<Record<ProviderName, string>>;
  endpoints: SimulatorEndpoints;
  setAccounts(accounts: SimulatorAccount[]): Promise<void>;
  /** Returns exact counts since the start or the last reset. */
  counters(): Promise<Record<CounterName, SimulatorCounters>>;
  /** Returns the last thousand refusals since the start or the last reset, newest first. */
  refusals(): Promise<SandboxRefusal[]>;
  /** @throws ServiceError PARAMETER_INVALID */
  setFaults(faults: unknown): Promise<void>;
  /** Returns the faults that may still apply. */
  faultsLeft(): Promise<Record<ProviderName, Fault[]>>;
  reset(): Promise<void>;
  /** Settles when every message that was accepted before has been handed over and stored. */
  settle(): Promise<void>;
  /** Applies the clock after it was moved, so that the inbox shows the same time. */
  syncClock(): void;
  stop(): Promise<void>;
};

/** A command without the id that its reply carries. */
type Asked = WorkerCommand extends infer C ? (C extends { id: number } ? Omit<C, 'id'> : never) : never;

const clockSyncMilliseconds = 1_000;

/** Starts a simulator of each provider in this process. */
export async function startSimulators(options: SimulatorOptions): Promise<Simulators> {
  const { clock, log } = options;
  const clockDifferences = new Float64Array(new SharedArrayBuffer(24));
  const syncClock = (): void => {
    const here = performance.timeOrigin + performance.now();
    clockDifferences[0] = clock.realNow().getTime() - here;
    clockDifferences[1] = clock.now().getTime() - here;
    clockDifferences[2] = clock.standsAt() === undefined ? Number.NaN : clock.now().getTime();
  };
  syncClock();
  const workerData: WorkerData = {
    accounts: options.accounts,
    secret: new Uint8Array(options.secret),
    clockDifferences,
    webPushProtocol: options.webPushProtocol,
  };
  const worker = options.runIn === 'this thread' ? startHere(workerData) : startThread(workerData, options.thread);
  const clockTimer = setInterval(syncClock, clockSyncMilliseconds);
  clockTimer.unref();

  const calls = makeCalls(worker.port);
  const { ask } = calls;
  const origins = await new Promise<Record<ProviderName, string>>((resolve, reject) => {
    worker.onFault(reject);
    worker.port.on('message', (report: WorkerReport) => {
      if (report.kind === 'ready') resolve(report.origins);
      else if (report.kind === 'done') calls.finish(report);
      else {
        options
          .onDelivered(report.messages)
          .catch((error: unknown) =>
            log.warn({ err: error, messages: report.messages.length }, 'inbox messages not stored'),
          )
          .finally(() => worker.port.postMessage({ kind: 'stored' } satisfies WorkerCommand));
      }
    });
  });
  worker.onFault((error) => {
    log.error({ err: error }, 'simulators failed');
    calls.fail(error);
  });

  return {
    origins,
    endpoints: simulatorEndpointsAt(origins),
    setAccounts: (accounts) => ask({ kind: 'accounts', accounts }),
    counters: () => ask({ kind: 'counters' }),
    refusals: () => ask({ kind: 'refusals' }),
    setFaults: async (faults) => ask({ kind: 'faults', faults: parseFaults(faults) }),
    faultsLeft: () => ask({ kind: 'faults left' }),
    reset: () => ask({ kind: 'reset' }),
    settle: () => ask({ kind: 'settle' }),
    syncClock,
    async stop() {
      clearInterval(clockTimer);
      if (!calls.hasFailed()) await ask({ kind: 'stop' });
      await worker.end();
    },
  };
}

/** Sends commands over the port and matches each reply with its command. */
function makeCalls(port: Serving['port']) {
  const pending = new Map<number, PromiseWithResolvers<unknown>>();
  let lastId = 0;
  let failure: Error | undefined;
  return {
    async ask<Result>(command: Asked): Promise<Result> {
      if (failure) throw failure;
      const id = (lastId += 1);
      const asked = Promise.withResolvers<unknown>();
      pending.set(id, asked);
      port.postMessage({ ...command, id });
      return asked.promise as Promise<Result>;
    },
    finish({ id, result }: Extract<WorkerReport, { kind: 'done' }>): void {
      pending.get(id)?.resolve(result);
      pending.delete(id);
    },
    /** Rejects all calls: a thread that has ended sends no replies, so pending calls would wait for ever. */
    fail(error: Error): void {
      failure ??= error;
      for (const { reject } of pending.values()) reject(failure);
      pending.clear();
    },
    hasFailed: () => failure !== undefined,
  };
}

/** The thread or port that serves the simulators. */
type Serving = {
  port: Worker | MessagePort;
  onFault(tell: (error: Error) => void): void;
  end(): Promise<unknown>;
};

function startThread(workerData: WorkerData, thread = openSimulatorThread()): Serving {
  thread.begin(workerData);
  return { port: thread.worker, onFault: (tell) => void thread.failed.then(tell), end: thread.end };
}

function startHere(workerData: WorkerData): Serving {
  const { port1, port2 } = new MessageChannel();
  const serving = serveSimulators(port2, workerData);
  return {
    port: port1,
    onFault: (tell) => void serving.catch(tell),
    end: async () => port1.close(),
  };
}
