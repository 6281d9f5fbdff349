import fc from 'fast-check';
import { Check } from 'typebox/value';
import { describe, expect, test } from 'vitest';
import { propertyRuns } from '../property-runs.ts';
import { bodyOf, mutantsOf } from './body-arbitrary.ts';
import type { Shape } from './body-arbitrary.ts';
import { publishedBodies, refusedFields, shapeFamilies } from './shape-families.ts';

/*
 * These routes switch schema validation off, because the faults of their parsers have texts and an order that are part of
 * the contract. A field declares how a member is read and documented, but some parts read their members one at a time:
 * this test finds a member that is documented and not read.
 */

/** Faults of what a member is, not of what the members say together. */
const ofForm =
  /^must be (an object|a text|a list|true or false|a whole number)|^must have|^must hold (texts|only)|^must be one of/;

describe.each(Object.entries(shapeFamilies))(
  '%s',
  (_name, { shape, read, words = {}, agree = (same) => same, lenient }) => {
    const bodies = bodyOf(shape as Shape, words).map((body) => agree(body as Record<string, unknown>));
    // The document of a campaign has rules from part to part; of the other bodies nothing at all is refused.
    const isDocument = 'basic_details' in ((shape as Shape).properties ?? {});

    test('accepts the form of every value that the shape accepts', () => {
      fc.assert(
        fc.property(bodies, (body) => {
          expect(Check(shape as never, body)).toBe(true);
          const refused = refusedFields(() => read(body));
          expect(isDocument ? refused.filter(({ reason }) => ofForm.test(reason)) : refused).toEqual([]);
        }),
        { numRuns: propertyRuns(200) },
      );
    });

    test('rejects a member of the wrong type like the shape', () => {
      fc.assert(
        fc.property(bodies, fc.nat(), (body, choice) => {
          const mutants = mutantsOf(shape as Shape, body).filter(({ path }) => !lenient?.test(path));
          if (mutants.length === 0) return;
          const { path, body: mutant } = mutants[choice % mutants.length]!;
          expect(Check(shape as never, mutant)).toBe(false);
          const refused = refusedFields(() => read(mutant as Record<string, unknown>));
          const ofMember = refused.filter(
            ({ field }) => !isDocument || field.startsWith(path) || path.startsWith(field),
          );
          expect(ofMember, path).not.toEqual([]);
        }),
        { numRuns: propertyRuns(500) },
      );
    });
  },
);

test('covers every published body', () => {
  const held = new Set<unknown>(Object.values(shapeFamilies).map(({ shape }) => shape));
  const open = publishedBodies().flatMap(([name, shape]) =>
    typeof shape === 'function' || held.has(shape) ? [] : [name],
  );
  expect(open).toEqual([]);
});
