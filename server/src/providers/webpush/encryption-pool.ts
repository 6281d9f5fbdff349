import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Logger } from '../../log.ts';
import { packMessages, unpackResults, encryptWebPush } from './encrypt.ts';
import type { PlainMessage } from './encrypt.ts';

export type WebPushEncryption = {
  /** @throws if the key is not a point of the curve */
  encrypt(message: PlainMessage): Promise<Buffer>;
  /** Ends the threads; this thread encrypts their remaining messages. */
  close(): Promise<void>;
};

export type WebPushEncryptionOptions = {
  log: Logger;
  /** Threads in addition to this one, which does all other work. */
  threads?: number;
  /** The script that a thread runs. */
  script?: URL;
};

/** This thread's other work for a message takes longer than a third of its encryption. */
const maxUsefulThreads = 3;
/** This many messages at once are worth starting threads; without threads, fewer are encrypted here. */
const minToStart = 16;
const maxBatch = 32;
/**
 * Maximum number of messages in one thread: some 50 ms of its time, and at most 1 MB. Beyond it this thread encrypts too, which
 * uses its core.
 */
const maxOpenPerThread = 256;
/** Messages encrypted here in one turn of the event loop: some 2 ms. */
const maxHere = 8;
const checkMilliseconds = 30_000;
const maxIdleChecks = 2;
const recoveryMilliseconds = 60_000;

type Waiting = PlainMessage & { resolve: (encrypted: Buffer) => void; reject: (error: unknown) => void };
/** `hasAnswered`: the thread has returned results since the last check. */
type Thread = { worker: Worker; batches: Waiting[][]; open: number; hasAnswered: boolean };

/**
 * Encrypts Web Push messages, for which nearly all of the cost is key agreement. Threads are started when there is much to
 * encrypt and ended when there is nothing. A thread that fails costs time, never a message.
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
  /** No threads may be started: permanently, or for a while because one failed and another would fail as well. */
  let isAlone = maxThreads < 1;
  let recovery: NodeJS.Timeout | undefined;

  function add(message: Waiting): void {
    waiting.push(message);
    if (waiting.length === 1) setImmediate(flush);
  }

  /** Runs once per turn of the event loop, because posting each message separately would cost more than it saves. */
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

  /** Ends threads that are idle, and a thread that has work but makes no progress. */
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

  /** Stops using threads for a while, because one ended by itself. */
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
  // A process that stops waits for open batches, not for an idle thread.
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
