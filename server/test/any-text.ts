import fc from 'fast-check';

const surrogates = { first: 0xd8_00, count: 0x8_00 };

/**
 * Texts of any code points. The library's own (`unit: 'binary'`) keeps a table of all million of them, which takes each worker a
 * second to fill and every collection of garbage to walk.
 */
export function anyText({ maxLength = 10 }: { maxLength?: number } = {}): fc.Arbitrary<string> {
  const codePoint = fc
    .integer({ min: 0, max: 0x10_ff_ff - surrogates.count })
    .map((number) => (number < surrogates.first ? number : number + surrogates.count));
  return fc.array(codePoint, { maxLength }).map((codePoints) => String.fromCodePoint(...codePoints));
}
