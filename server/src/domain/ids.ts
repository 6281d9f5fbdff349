import { randomUUID } from 'node:crypto';

/**
 * Makes a record id: 24 lower-case hexadecimal characters, ordered by creation time (decision D40). The first 12
 * are milliseconds since 1970, the last 12 are random, so an id cannot be guessed from its neighbour.
 *
 * @param now time of creation
 * @param random at least 6 random bytes, for ids that can be made again
 */
export function makeId(now: Date, random?: Uint8Array): string {
  return now.getTime().toString(16).padStart(12, '0') + (random ? hexOf(random) : randomHex());
}

function hexOf(random: Uint8Array): string {
  return Buffer.from(random.subarray(0, 6)).toString('hex');
}

/** The last 48 bits of a UUID of version 4 are random (RFC 9562 §5.4), and Node makes these many at a time. */
function randomHex(): string {
  return randomUUID().slice(-12);
}

/**
 * Makes ids of which each is greater than all before it, also within a millisecond and when the clock goes back: for
 * readers that go on after the last one they saw.
 *
 * @param now time of creation
 * @param last the greatest id that is there already
 */
export function makeIdsInOrder(now: () => Date, last = ''): () => string {
  let milliseconds = Number.parseInt(last.slice(0, 12) || '0', 16);
  // Half of the range stays free to count up in.
  const drawTail = () => Number.parseInt(randomHex(), 16) % 2 ** 47;
  let tail = Number.parseInt(last.slice(12) || '0', 16);
  return () => {
    const shown = now().getTime();
    tail = shown > milliseconds ? drawTail() : tail + 1;
    milliseconds = Math.max(milliseconds, shown);
    return milliseconds.toString(16).padStart(12, '0') + tail.toString(16).padStart(12, '0');
  };
}

/** The greatest id that can have been made at or before `at`: the frozen upper bound of an audience. */
export function lastIdAt(at: Date): string {
  return at.getTime().toString(16).padStart(12, '0') + 'ffffffffffff';
}

export function isId(text: string): boolean {
  return /^[0-9a-f]{24}$/.test(text);
}
