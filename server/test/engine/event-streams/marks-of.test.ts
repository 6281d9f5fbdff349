import { expect, test } from 'vitest';
import { marksOf } from '../../../src/engine/outbox/event-streams.ts';

const run = { id: 'run', workspaceId: 'WORKSPACE' };
const stored = (bucket: number, outcome: string, code: string | null = null) => ({
  delivery: { bucket, outcome, code },
});

test('an accepted message is an event, and so is a user whom a control group kept out', () => {
  expect(
    marksOf(run, [
      stored(4, 'ACCEPTED', 'FALLBACK_USER_ATTRIBUTE'),
      stored(9, 'WITHHELD', 'GLOBAL_CONTROL_GROUP'),
      stored(4, 'ACCEPTED'),
      stored(4, 'WITHHELD', 'CAMPAIGN_CONTROL_GROUP'),
      stored(1, 'REJECTED'),
    ]),
  ).toEqual([
    { workspaceId: 'WORKSPACE', runId: 'run', buckets: [4, 9], kinds: ['delivered', 'control_group'], events: 4 },
  ]);
});

test('of rows none of which is an event nothing is told', () => {
  const others = ['WAITING', 'GONE', 'REJECTED', 'EXPIRED', 'FAILED'].map((outcome) =>
    stored(1, outcome, 'GLOBAL_CONTROL_GROUP'),
  );
  expect(marksOf(run, [...others, stored(1, 'WITHHELD', 'FREQUENCY_CAP'), stored(1, 'WITHHELD')])).toEqual([]);
  expect(marksOf(run, [])).toEqual([]);
});
