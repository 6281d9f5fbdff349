import { expect, test } from 'vitest';
import { attributeEvent } from '../../../src/domain/campaigns/conversions.ts';

const hour = 3_600_000;
const event = new Date('2026-03-10T00:00:00Z');
/** So many hours before the event. */
const before = (hours: number) => new Date(event.getTime() - hours * hour);

type Given = { name: string; sent: number; viewed?: number; clicked?: number; isAccepted?: boolean };
const message = ({ name, sent, viewed, clicked, isAccepted = true }: Given) => ({
  ...{ name, isAccepted, sentAt: before(sent) },
  viewedAt: viewed === undefined ? null : before(viewed),
  clickedAt: clicked === undefined ? null : before(clicked),
});

const cases: [string, Given[], Record<string, string>][] = [
  ['one that was sent a window before counts', [{ name: 'a', sent: 36 }], { TOTAL_CONVERSIONS: 'a' }],
  ['one that was sent earlier does not', [{ name: 'a', sent: 36.001 }], {}],
  [
    'one that was shown within the window counts by it, however long before it was sent',
    [{ name: 'a', sent: 100, viewed: 36 }],
    { VIEW_THROUGH: 'a' },
  ],
  ['one that was shown before the window does not', [{ name: 'a', sent: 100, viewed: 37 }], {}],
  [
    'a click counts by its own time, and with the message while that is within the window',
    [{ name: 'a', sent: 10, viewed: 9, clicked: 8 }],
    { TOTAL_CONVERSIONS: 'a', CLICK_CONVERSIONS: 'a', VIEW_THROUGH: 'a', CLICK_THROUGH: 'a' },
  ],
  [
    'a late click is no click of a message within the window',
    [{ name: 'a', sent: 40, clicked: 1 }],
    { CLICK_THROUGH: 'a' },
  ],
  [
    'what a device reports after the event is too late',
    [{ name: 'a', sent: 10, clicked: -0.001 }],
    { TOTAL_CONVERSIONS: 'a' },
  ],
  [
    'of several the newest is taken that meets the rule, by the time that the rule is about',
    [
      { name: 'newest', sent: 1 },
      { name: 'shown last', sent: 5, viewed: 2 },
      { name: 'clicked last', sent: 9, viewed: 6, clicked: 3 },
      { name: 'clicked', sent: 8, viewed: 7, clicked: 4 },
    ],
    {
      ...{ TOTAL_CONVERSIONS: 'newest', CLICK_CONVERSIONS: 'clicked last' },
      ...{ VIEW_THROUGH: 'shown last', CLICK_THROUGH: 'clicked last' },
    },
  ],
  [
    'one that was accepted goes before a newer one that was not, which counts by nothing else',
    [
      { name: 'withheld', sent: 1, clicked: 1, viewed: 1, isAccepted: false },
      { name: 'accepted', sent: 2 },
    ],
    { TOTAL_CONVERSIONS: 'accepted' },
  ],
  [
    'what a device reports at the instant of the event is in time',
    [{ name: 'a', sent: 0, viewed: 0, clicked: 0 }],
    { TOTAL_CONVERSIONS: 'a', CLICK_CONVERSIONS: 'a', VIEW_THROUGH: 'a', CLICK_THROUGH: 'a' },
  ],
  [
    'of messages that were clicked at the same time it is by the newer one',
    [
      { name: 'older', sent: 9, viewed: 5, clicked: 3 },
      { name: 'newer', sent: 8, viewed: 6, clicked: 3 },
    ],
    { TOTAL_CONVERSIONS: 'newer', CLICK_CONVERSIONS: 'newer', VIEW_THROUGH: 'older', CLICK_THROUGH: 'newer' },
  ],
  [
    'one that did not arrive counts where there is no other',
    [{ name: 'a', sent: 1, isAccepted: false }],
    { TOTAL_CONVERSIONS: 'a' },
  ],
];
test.each(cases)('attributes %s (fact 7)', (_name, given, expected) => {
  const messages = given.map(message).toSorted((one, other) => other.sentAt.getTime() - one.sentAt.getTime());
  const found = attributeEvent(messages, { occurredAt: event, windowHours: 36 });
  expect(Object.fromEntries(found.map((row) => [row.attribution, row.message.name]))).toEqual(expected);
});
