/**
 * Runs one node as a process. Signal handlers are installed before anything else is loaded or started, so that a stop is
 * orderly at any time, even during the start.
 */
import closeWithGrace from 'close-with-grace';

// The maximum duration of a stop: requests (30 s limit each), an open window (15 s a request) and the database's last
// checkpoint.
const stopMilliseconds = 90_000;
// Ctrl-C comes from the terminal, and again from npm and bootstrap.js, which pass it on.
const echoMilliseconds = 1_000;
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

const stopRequest = new AbortController();
const { close } = closeWithGrace(
  { delay: stopMilliseconds, logger: false, skip: [...signals], onSecondError: printSecondFault },
  async ({ err }) => {
    stopRequest.abort();
    const node = await started;
    // Before the node exists there is no log, so without this line only the exit code would show the fault.
    if (err && !node)
      process.stderr.write(`carillon: unexpected fault while it started: ${err.stack ?? err.message}\n`);
    await node?.stop(err);
  },
);

/** The process exits with 1 immediately, so this line is the only explanation. */
function printSecondFault(fault: unknown): void {
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
