import fc from 'fast-check';
import { expect, test } from 'vitest';
import { matchAttributes } from '../../src/domain/events/triggers.ts';
import { propertyRuns } from '../property-runs.ts';
import { evaluateSegmentFilter } from '../segments/evaluate-segment-filter.ts';
import { at, attribute, filterOf, group, parsed, stored } from '../segments/filter-arbitraries.ts';

test('attributes of an event pass a filter as those of a user do in the database: by the model that both are held to', () => {
  const told = fc.dictionary(fc.constantFrom('x', 'y'), stored);
  const trees = fc.array(fc.oneof(filterOf('x'), filterOf('y')), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(trees, told, (filters, attributes) => {
      const tree = group(...filters);
      const user = { customerId: 'u', attributes, segments: [] };
      expect(matchAttributes(parsed(tree), attributes, at)).toBe(evaluateSegmentFilter(tree, user, at));
    }),
    { numRuns: propertyRuns(3_000, 400) },
  );
});

test.each([
  ['-0001', false],
  ['1700000000', false],
  ['2026-02-29', false],
  ['2028-02-29', true],
  [253_402_300_800, false],
])('%s is a time: %s', (value, isTime) => {
  const filter = parsed(group(attribute({ data_type: 'datetime', operator: 'exists' })));
  expect(matchAttributes(filter, { x: value }, at)).toBe(isTime);
});
