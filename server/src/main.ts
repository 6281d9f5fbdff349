/**
 * One node as a process. Signals are listened for before anything else is loaded or started, so that a stop is orderly
 * at any time, during the start as well.
 */
import closeWithGrace from 'close-with-grace';

// The longest stop: requests (30 s limit each), an open window (15 s a request) and the database's last checkpoint.
const stopMilliseconds = 90_000;
// Ctrl-C comes from the terminal, and again from npm and bootstrap.js, which pass it on.
const echoMilliseconds = 1_000;
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

const stopRequest = new AbortController();
const { close } = closeWithGrace(
  { delay: stopMilliseconds, logger: false, skip: [...signals], onSecondError: tellSecondFault },
  async ({ err }) => {
    stopRequest.abort();
    const node = await started;
    // What comes before there is a node has no log: without a word the code would be all.
    if (err && !node)
      process.stderr.write(`carillon: unexpected fault while it started: ${err.stack ?? err.message}\n`);
    await node?.stop(err);
  },
);

/** The process ends with 1 at once; without a word nobody would know why. */
function tellSecondFault(fault: unknown): void {
  const { stack, message } = fault as Error;
  process.stderr.write(`carillon: another fault while it stopped: ${stack ?? message}\n`);
}

let stopAskedAt: number | undefined;
for (const signal of signals) {
  process.on(signal, () => {
    const now = performance.now();
    if (stopAskedAt === undefined) {
      stopAskedAt = now;
      void close();
    } else if (now - stopAskedAt > echoMilliseconds) process.exit(1);
  });
}

const started = import('./start/run-node.ts').then(({ runNode }) => runNode(stopRequest.signal));
