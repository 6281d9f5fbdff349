import { expect, test } from 'vitest';
import { describeTrouble } from '../../../src/domain/operations/readiness.ts';
import { parseTraceparent, writeTraceparent } from '../../../src/domain/operations/tracing.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';
const known = { traceId, spanId };

// W3C Trace Context, "traceparent header".
test.each([
  [`00-${traceId}-${spanId}-01`, { ...known, isSampled: true }],
  [`00-${traceId}-${spanId}-00`, { ...known, isSampled: false }],
  [`00-${traceId}-${spanId}-03`, { ...known, isSampled: true }],
  [`00-${traceId}-${spanId}-fe`, { ...known, isSampled: false }],
  [`cc-${traceId}-${spanId}-01-what-the-future-will-be`, { ...known, isSampled: true }],
  [`00-${traceId}-${spanId}-01-more`, undefined],
  [`ff-${traceId}-${spanId}-01`, undefined],
  [`00-${'0'.repeat(32)}-${spanId}-01`, undefined],
  [`00-${traceId}-${'0'.repeat(16)}-01`, undefined],
  [
    `00-${'0'.repeat(31)}1-1${'0'.repeat(15)}-01`,
    { traceId: `${'0'.repeat(31)}1`, spanId: `1${'0'.repeat(15)}`, isSampled: true },
  ],
  [
    `00-1${'0'.repeat(31)}-${'0'.repeat(15)}1-01`,
    { traceId: `1${'0'.repeat(31)}`, spanId: `${'0'.repeat(15)}1`, isSampled: true },
  ],
  [`00-${traceId.toUpperCase()}-${spanId}-01`, undefined],
  [`x00-${traceId}-${spanId}-01`, undefined],
  [`00-${traceId}-${spanId}-01x`, undefined],
  ['', undefined],
  [undefined, undefined],
])('parses %s as %j', (text, parsed) => {
  expect(parseTraceparent(text)).toEqual(parsed);
});

test('writes version 00, with one flag', () => {
  expect(writeTraceparent({ ...known, isSampled: true })).toBe(`00-${traceId}-${spanId}-01`);
  expect(writeTraceparent({ ...known, isSampled: false })).toBe(`00-${traceId}-${spanId}-00`);
});

test('reports a trouble of a node with its detail, if there is one', () => {
  expect(describeTrouble({ name: 'database' })).toBe('database');
  expect(describeTrouble({ name: 'jobs', detail: 'release-runs (53100)' })).toBe('jobs: release-runs (53100)');
});
