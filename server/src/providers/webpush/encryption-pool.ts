import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Logger } from '../../log.ts';
import { packMessages, unpackResults, encryptWebPush } from './encrypt.ts';
import type { PlainMessage } from './encrypt.ts';

export type WebPushEncryption = {
  /** @throws when the key is no point of the curve */
  encrypt(message: PlainMessage): Promise<Buffer>;
  /** Ends the threads; what they had is encrypted here. */
  close(): Promise<void>;
};

export type WebPushEncryptionOptions = {
  log: Logger;
  /** Besides this one, which has all else to do. */
  threads?: number;
  /** What a thread runs. */
  script?: URL;
};

/** Whatever else is done for a message, which this thread does, takes longer than a third of its encryption. */
const maxUsefulThreads = 3;
/** So many at once are worth a thread; fewer are encrypted here while there is none. */
const minToStart = 16;
const maxBatch = 32;
/**
 * Handed to one thread, and not back: some 50 ms of its time, and at most 1 MB. Beyond it this thread encrypts too, which
 * uses its core.
 */
const maxOpenPerThread = 256;
/** In one turn of the event loop: some 2 ms. */
const maxHere = 8;
const checkMilliseconds = 30_000;
const maxIdleChecks = 2;
const recoveryMilliseconds = 60_000;

type Waiting = PlainMessage & { resolve: (encrypted: Buffer) => void; reject: (error: unknown) => void };
/** `hasAnswered`: since the last check. */
type Thread = { worker: Worker; batches: Waiting[][]; open: number; hasAnswered: boolean };

/**
 * Encryption of Web Push messages, nearly all of whose cost is agreeing on a key, on threads that are started when there is
 * much of it and end when there is none. A thread that fails costs time, never a message.
 */
export function makeWebPushEncryption({
  log,
  threads: maxThreads = Math.min(maxUsefulThreads, availableParallelism() - 1),
  script = new URL('./encryption-thread.ts', import.meta.url),
}: WebPushEncryptionOptions): WebPushEncryption {
  let threads: Thread[] = [];
  const waiting: Waiting[] = [];
  let checks: NodeJS.Timeout | undefined;
  let idleChecks = 0;
  /** There are to be no threads: for good, or for a while because one failed and another would fail as well. */
  let isAlone = maxThreads < 1;
  let recovery: NodeJS.Timeout | undefined;

  function add(message: Waiting): void {
    waiting.push(message);
    if (waiting.length === 1) setImmediate(flush);
  }

  /** Once a turn of the event loop, because a message each would cost more than it saves. */
  function flush(): void {
    idleChecks = 0;
    if (threads.length === 0 && !isAlone && waiting.length >= minToStart) startThreads();
    let thread: Thread | undefined;
    while (waiting.length > 0 && (thread = findLeastBusy(threads)) !== undefined)
      post(thread, waiting.splice(0, maxBatch));
    for (const message of waiting.splice(0, maxHere)) encryptHere(message);
    if (waiting.length > 0) setImmediate(flush);
  }

  function startThreads(): void {
    threads = Array.from({ length: maxThreads }, () => startThread({ script, log, onEnd }));
    checks ??= setInterval(check, checkMilliseconds).unref();
  }

  /** Ends threads that have nothing to do any more, and one that has and does nothing. */
  function check(): void {
    for (const thread of threads) {
      if (thread.batches.length > 0 && !thread.hasAnswered) void thread.worker.terminate();
      thread.hasAnswered = false;
    }
    idleChecks += 1;
    if (idleChecks > maxIdleChecks) void endThreads();
  }

  function onEnd(thread: Thread): void {
    if (threads.includes(thread)) stayAlone();
    threads = threads.filter((other) => other !== thread);
    for (const message of thread.batches.splice(0).flat()) add(message);
  }

  /** A thread ended by itself. */
  function stayAlone(): void {
    isAlone = true;
    recovery ??= setTimeout(() => {
      recovery = undefined;
      isAlone = false;
    }, recoveryMilliseconds).unref();
  }

  async function endThreads(): Promise<void> {
    clearInterval(checks);
    checks = undefined;
    const ending = threads;
    threads = [];
    await Promise.all(ending.map(({ worker }) => worker.terminate()));
  }

  return {
    encrypt(message) {
      return new Promise((resolve, reject) => add({ ...message, resolve, reject }));
    },
    async close() {
      isAlone = true;
      clearTimeout(recovery);
      await endThreads();
    },
  };
}

type Starting = { script: URL; log: Logger; onEnd: (thread: Thread) => void };

function startThread({ script, log, onEnd }: Starting): Thread {
  const worker = new Worker(script, { resourceLimits: { maxOldGenerationSizeMb: 64 } });
  const thread: Thread = { worker, batches: [], open: 0, hasAnswered: true };
  worker.unref();
  worker.on('message', (results: Uint8Array<ArrayBuffer>) => {
    const batch = thread.batches.shift();
    if (!batch) return;
    thread.hasAnswered = true;
    thread.open -= batch.length;
    if (thread.batches.length === 0) worker.unref();
    for (const [number, encrypted] of unpackResults(results, batch).entries()) {
      if (encrypted) batch[number]!.resolve(encrypted);
      else encryptHere(batch[number]!);
    }
  });
  worker.on('error', (error) => log.error({ err: error }, 'web push encryption thread failed'));
  worker.once('exit', () => onEnd(thread));
  return thread;
}

function findLeastBusy(threads: readonly Thread[]): Thread | undefined {
  let found: Thread | undefined;
  for (const thread of threads) if (thread.open < (found?.open ?? maxOpenPerThread)) found = thread;
  return found;
}

function post(thread: Thread, batch: Waiting[]): void {
  const packed = packMessages(batch);
  thread.batches.push(batch);
  thread.open += batch.length;
  // A process that stops waits for what is open, not for a thread that has nothing to do.
  if (thread.batches.length === 1) thread.worker.ref();
  thread.worker.postMessage(packed, [packed.buffer]);
}

function encryptHere({ plain, keys, resolve, reject }: Waiting): void {
  try {
    resolve(encryptWebPush(plain, keys));
  } catch (error) {
    reject(error);
  }
}
