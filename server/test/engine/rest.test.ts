import { expect, test } from 'vitest';
import { makeRest } from '../../src/engine/jobs/job.ts';

test('a node that nobody has called for five seconds rests: its jobs look every twentieth time', () => {
  let now = 0;
  const rest = makeRest(() => now);
  expect(rest.stretch(1_000)).toBe(20_000);
  const end = rest.beginCall();
  now = 60_000;
  expect(rest.stretch(1_000)).toBe(1_000);
  end();
  now = 65_000;
  expect(rest.stretch(1_000)).toBe(1_000);
  now = 65_001;
  expect(rest.stretch(1_000)).toBe(20_000);
});

test('a call wakes a node that rested, and no other; the end of a call counts once', () => {
  let now = 0;
  let woken = 0;
  const rest = makeRest(() => now);
  rest.onWoken(() => (woken += 1));
  const end = rest.beginCall();
  rest.beginCall()();
  expect(woken).toBe(1);
  end();
  end();
  now = 10_000;
  rest.beginCall()();
  expect(woken).toBe(2);
});
