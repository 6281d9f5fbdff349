/** What may be wrong with a request. */
type Part = 'body' | 'text' | 'mediaType' | 'coding' | 'path' | 'query' | 'credentials' | 'headers' | 'method' | 'wire';

export type Choices = {
  chance(probability: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
  /** Whether this part of the request is to be wrong; decided once for the request. */
  isSpoiled(part: Part): boolean;
  seed: number;
  number: number;
};

/** So often each part is the wrong one. What is behind a check is met only by requests that are right everywhere else. */
const weights: readonly [Part, number][] = [
  ['body', 50],
  ['text', 12],
  ['query', 10],
  ['path', 8],
  ['credentials', 8],
  ['headers', 6],
  ['method', 3],
  ['mediaType', 3],
  ['coding', 3],
  ['wire', 4],
];
const parts = weights.flatMap(([part, weight]) => Array.from({ length: weight }, () => part));
const allRight = 0.25;
const onePartWrong = 0.6;

/** The choices of one request: they follow from the seed and its number, so that any one request can be made again. */
export function makeChoices({ seed, number }: { seed: number; number: number }): Choices {
  const random = makeRandom(seed, number);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)]!;
  const kind = random();
  const spoiled = new Set<Part>();
  if (kind >= allRight) spoiled.add(pick(parts));
  // The rest is wrong in several parts at once.
  if (kind >= allRight + onePartWrong) for (let more = 0; more < 3; more += 1) spoiled.add(pick(parts));
  return {
    chance: (probability) => random() < probability,
    pick,
    isSpoiled: (part) => spoiled.has(part),
    seed,
    number,
  };
}

/** Numbers from 0 to 1. */
function makeRandom(seed: number, number: number): () => number {
  let state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(number + 1, 0xc2b2ae35);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
