import { setTimeout as wait } from 'node:timers/promises';

type Look<Found> = { seconds?: number; look(): Found | false | undefined | Promise<Found | false | undefined> };

const lookMilliseconds = 20;

/** Looks again until there is something other than `false` or undefined. @throws Error after some seconds, 180 unless given */
export async function until<Found>(what: string, { seconds = 180, look }: Look<Found>): Promise<Found> {
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > deadline) throw new Error(`${what}: not within ${seconds} s`);
    await wait(lookMilliseconds);
  }
}
