/** Starts one node: reads the settings, composes it, prints the start block and stops cleanly on SIGTERM or SIGINT. */
import closeWithGrace from 'close-with-grace';
import { readProcessConfig } from './start/config.ts';
import { formatStartBlock, formatStartLine } from './start/start-block.ts';
import { startCarillon } from './start/start-carillon.ts';
import { exitCodes, toStartError } from './start/start-errors.ts';

// The longest stop: requests (30 s limit each), an open window (15 s a request) and the database's last checkpoint.
const stopMilliseconds = 90_000;

try {
  const config = readProcessConfig();
  const carillon = await startCarillon(config);
  let isStopping = false;
  closeWithGrace({ delay: stopMilliseconds, logger: false }, async ({ err }) => {
    isStopping = true;
    if (err) carillon.log.fatal({ err }, 'unexpected fault; stopping');
    await carillon.stop();
  });
  // Last: whoever reads it may send a signal at once.
  process.stdout.write(config.json ? `${formatStartLine(carillon.block)}\n` : formatStartBlock(carillon.block));
  carillon.databaseExited?.then(() => {
    if (isStopping) return;
    process.stderr.write(
      'carillon: the embedded database ended unexpectedly; its last lines are in the log (level debug).\n',
    );
    process.exit(exitCodes.DATABASE_UNREACHABLE.code);
  });
} catch (error) {
  const startError = toStartError(error);
  process.stderr.write(`carillon: ${startError.message}\n`);
  if (startError.code === 'UNEXPECTED') process.stderr.write(`${(startError.cause as Error).stack}\n`);
  process.exit(exitCodes[startError.code].code);
}
