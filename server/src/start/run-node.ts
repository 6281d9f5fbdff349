import { readProcessConfig } from './config.ts';
import { formatStartBlock, formatStartLine } from './start-block.ts';
import type { StartBlock } from './start-block.ts';
import type { Carillon } from './node/start-carillon.ts';
import { exitCodes, toStartError } from './start-errors.ts';

export type ProcessNode = {
  /** Stops everything in order. @param fault the reason, if the stop was not requested */
  stop(fault: unknown): Promise<void>;
};

/**
 * Reads the settings, composes the node and prints the start block. A failed start ends the process with its exit code. If a
 * stop was requested during the start, everything that it began has ended, and the result is undefined.
 */
export async function runNode(stopRequested: AbortSignal): Promise<ProcessNode | undefined> {
  let carillon: Carillon;
  try {
    const config = readProcessConfig();
    // Loaded after the settings are validated, so that a mistake in them is reported within a second.
    const { startCarillon } = await import('./node/start-carillon.ts');
    carillon = await startCarillon(config, { stopRequested });
    const { block } = carillon;
    process.stdout.write(config.json ? `${formatStartLine(block)}\n` : formatStartBlock(await addOwnerLink(carillon)));
  } catch (error) {
    if (stopRequested.aborted) return undefined;
    const startError = toStartError(error);
    process.stderr.write(`carillon: ${startError.message}\n`);
    if (startError.code === 'UNEXPECTED') process.stderr.write(`${(startError.cause as Error).stack}\n`);
    process.exit(exitCodes[startError.code].code);
  }
  carillon.databaseExited?.then((reason) => {
    if (stopRequested.aborted) return;
    process.stderr.write(`carillon: the embedded database ended unexpectedly: ${reason}\n`);
    process.exit(exitCodes.DATABASE_UNREACHABLE.code);
  });
  return {
    async stop(fault) {
      if (fault) carillon.log.fatal({ err: fault }, 'unexpected fault; stopping');
      await carillon.stop();
    },
  };
}

/**
 * Adds the link for the first owner when a user reads it at a terminal. Other standard output may be stored, so it gets no
 * link.
 */
async function addOwnerLink({ block, createConsoleLink }: Carillon): Promise<StartBlock> {
  const isShown = block.workspaceId === undefined && process.stdout.isTTY;
  return isShown ? { ...block, console: await createConsoleLink() } : block;
}
