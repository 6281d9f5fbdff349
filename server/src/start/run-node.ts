import { readProcessConfig } from './config.ts';
import { formatStartBlock, formatStartLine } from './start-block.ts';
import type { StartBlock } from './start-block.ts';
import type { Carillon } from './node/start-carillon.ts';
import { exitCodes, toStartError } from './start-errors.ts';

export type ProcessNode = {
  /** Ends everything in order. @param fault why, when it was not asked for */
  stop(fault: unknown): Promise<void>;
};

/**
 * Reads the settings, composes the node and prints the start block. A start that cannot be ends the process with its
 * code. One that was asked to stop meanwhile has ended what it began and is undefined.
 */
export async function runNode(stopRequested: AbortSignal): Promise<ProcessNode | undefined> {
  let carillon: Carillon;
  try {
    const config = readProcessConfig();
    // Loaded once the settings are known to be right: a slip in them is told before a second has passed.
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

/** A person at a terminal gets the link of the first owner; standard output that goes elsewhere is kept, and gets none. */
async function addOwnerLink({ block, createConsoleLink }: Carillon): Promise<StartBlock> {
  const isShown = block.workspaceId === undefined && process.stdout.isTTY;
  return isShown ? { ...block, console: await createConsoleLink() } : block;
}
