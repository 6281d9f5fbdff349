import { StartError } from '../start/start-errors.ts';
import { toPlainLine } from './print-table.ts';

const lookMilliseconds = 500;
/** Whoever waits longer asks again. */
const maxWatchMilliseconds = 3_600_000;

/**
 * Looks until what is watched has come to its end, and says on standard error what changed meanwhile.
 *
 * @throws StartError SETTING_INVALID after an hour
 */
export async function watchUntil<Found>(
  look: () => Promise<Found>,
  { tell, isOver }: { tell: (found: Found) => string; isOver: (found: Found) => boolean },
): Promise<Found> {
  const deadline = performance.now() + maxWatchMilliseconds;
  let said: string | undefined;
  for (;;) {
    const found = await look();
    const line = toPlainLine(tell(found));
    if (line !== said) process.stderr.write(`${line}\n`);
    said = line;
    if (isOver(found)) return found;
    if (performance.now() > deadline)
      throw new StartError('SETTING_INVALID', `Watched for an hour; it is at: ${line}.`);
    await new Promise((resolve) => setTimeout(resolve, lookMilliseconds));
  }
}
