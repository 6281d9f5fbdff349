import { expect, test } from 'vitest';
import { learnedShares, drawBeta, makeUniform } from '../../../src/domain/experiments/learning.ts';

/** The generator sfc32 as PractRand has it, in whole numbers without an end. */
function* sfc32(seed: Buffer): Generator<bigint> {
  const word = (value: bigint): bigint => BigInt.asUintN(32, value);
  let [a, b, c, counter] = [0, 4, 8, 12].map((place) => BigInt(seed.readUInt32LE(place))) as [
    ...[bigint, bigint, bigint, bigint],
  ];
  for (;;) {
    const drawn = word(a + b + counter);
    counter = word(counter + 1n);
    a = b ^ (b >> 9n);
    b = word(c + (c << 3n));
    c = word(word((c << 21n) | (c >> 11n)) + drawn);
    yield drawn;
  }
}

test('generates the numbers of sfc32 from a seed, in the middle of their 2^-32', () => {
  const seed = Buffer.from('fedcba9876543210e1d2c3b4a5968778', 'hex');
  const uniform = makeUniform(seed);
  const wanted = sfc32(seed);
  for (let count = 0; count < 200; count += 1) {
    const drawn = Number(wanted.next().value as bigint);
    expect(uniform()).toBe((2 * drawn + 1) / 2 ** 33);
  }
});

test('draws from the beta distribution, not its mirror image', () => {
  const uniform = makeUniform(Buffer.alloc(16, 7));
  const drawn = Array.from({ length: 500 }, () => drawBeta(uniform, { alpha: 1, beta: 9 }));
  // Half are below 1 - 2^(-1/9).
  const below = drawn.filter((value) => value < 1 - 2 ** (-1 / 9)).length;
  expect(Math.abs(below - 250)).toBeLessThan(40);
  expect(drawn.every((value) => value > 0 && value < 1)).toBe(true);
});

test('learns shares from successes and failures', () => {
  const shares = (...arms: [successes: number, trials: number][]) =>
    learnedShares({
      arms: arms.map(([successes, trials]) => ({ successes, trials })),
      floorPercent: 0,
      seed: 'a',
    });
  // Of two that never failed the one that was tried more often is the better.
  expect(shares([2, 2], [40, 40])[1]).toBeGreaterThan(8_500);
  // And of two without a success the one that was tried less.
  expect(shares([0, 2], [0, 40])[0]).toBeGreaterThan(8_500);
});
