import { expect, test } from 'vitest';
import { liveSendUntil, tokenKindOf, writeLivePayload } from '../../../src/domain/events/live-activities.ts';

const contentState = { eta: 12 };

test('sends Apple the members that the app’s types decode, and no unset ones', () => {
  expect(JSON.parse(writeLivePayload({ kind: 'update', contentState, priority: 5 }, 1_772_366_400))).toEqual({
    aps: { timestamp: 1_772_366_400, event: 'update', 'content-state': contentState },
  });
  const alert = { title: 'T', body: 'B' };
  const start = {
    kind: 'start',
    contentState,
    priority: 10,
    attributesType: 'Order',
    attributes: { id: 1 },
    alert,
  } as const;
  expect(JSON.parse(writeLivePayload(start, 1))).toEqual({
    aps: {
      ...{ timestamp: 1, event: 'start', 'content-state': contentState },
      ...{ 'attributes-type': 'Order', attributes: { id: 1 }, alert },
    },
  });
  const end = { kind: 'end', contentState, priority: 10, staleDate: 2, dismissalDate: 0 } as const;
  expect(JSON.parse(writeLivePayload(end, 1))).toEqual({
    aps: { timestamp: 1, event: 'end', 'content-state': contentState, 'stale-date': 2, 'dismissal-date': 0 },
  });
});

test('sends a start event to the start tokens, and every other event to those of the activity', () => {
  expect((['start', 'update', 'end'] as const).map(tokenKindOf)).toEqual(['START', 'UPDATE', 'UPDATE']);
});

test('sends an event for eight hours, or until it is stale; a past date has no effect', () => {
  const at = new Date('2026-03-01T12:00:00Z');
  const seconds = at.getTime() / 1_000;
  const hour = 3_600;
  const until = (staleDate?: number) =>
    (liveSendUntil(staleDate === undefined ? {} : { staleDate }, at).getTime() - at.getTime()) / 1_000;
  expect(until()).toBe(8 * hour);
  expect(until(seconds + hour)).toBe(hour);
  expect(until(seconds + 9 * hour)).toBe(8 * hour);
  expect(until(seconds)).toBe(8 * hour);
  expect(until(seconds + 1)).toBe(1);
  expect(until(1)).toBe(8 * hour);
});
