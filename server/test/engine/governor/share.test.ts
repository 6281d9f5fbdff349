import { describe, expect, test } from 'vitest';
import { makeManualClock } from '../../../src/clock.ts';
import type { Outcome } from '../../../src/providers/provider.ts';
import { makeAnswerWatch } from '../../../src/engine/governor/governor.ts';
import { makeShare } from '../../../src/engine/governor/send-budgets.ts';
import { makeLog } from '../../../src/log.ts';

const start = new Date('2026-03-01T12:00:00Z');

/** A share whose leases are granted in their order: the numbers, then nothing. */
function openShare(grants: number[], { perMinute = 600 } = {}) {
  const clock = makeManualClock(start);
  const draws: { wanted: number; returned: number; reserve: number }[] = [];
  const pauses: number[] = [];
  const told: [string, number | undefined][] = [];
  const share = makeShare({
    clock,
    perMinute,
    async lease(draw) {
      draws.push(draw);
      return grants.shift() ?? 0;
    },
    async pause(milliseconds) {
      pauses.push(milliseconds);
    },
  });
  const take = (name: string, { lane = 1 as 0 | 1, messages = 1 } = {}): void =>
    share.take({
      lane,
      messages,
      onTurn: (later) => void told.push([name, later && later.getTime() - start.getTime()]),
    });
  return { clock, draws, pauses, told, take };
}
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('a share of a budget', () => {
  test('is leased for those that wait, at least for a tenth of a second, and the rest is held for a second', async () => {
    const { clock, draws, told, take, pauses } = openShare([5, 2]);
    take('a', { messages: 2 });
    await settled();
    // 600 a minute is one a tenth of a second; mass sends leave a tenth to others.
    expect(draws).toEqual([{ wanted: 2, returned: 0, reserve: 0.1 }]);
    expect(told).toEqual([
      ['a', undefined],
      ['a', undefined],
    ]);
    take('b', { messages: 2 });
    expect([told.length, draws.length]).toEqual([4, 1]);
    clock.advance(999);
    take('c');
    expect([told.length, draws.length]).toEqual([5, 1]);
    take('d');
    await settled();
    expect(draws.slice(1)).toEqual([{ wanted: 1, returned: 0, reserve: 0.1 }]);
    clock.advance(1_000);
    take('e');
    await settled();
    // What was held too long goes back.
    expect(draws.slice(2, 3)).toEqual([{ wanted: 1, returned: 1, reserve: 0.1 }]);
    expect(pauses.length).toBeGreaterThan(0);
  });

  test('is leased as much as a tenth of a second carries, for few that wait', async () => {
    const { draws, take } = openShare([100], { perMinute: 60_500 });
    take('a');
    await settled();
    expect(draws).toEqual([{ wanted: 101, returned: 0, reserve: 0.1 }]);
  });

  test('goes to urgent messages first, for which nothing is reserved', async () => {
    const { draws, told, take } = openShare([0, 2, 1]);
    take('mass', { messages: 2 });
    take('urgent', { lane: 0 });
    await settled();
    expect(draws.map(({ wanted, reserve }) => [wanted, reserve])).toEqual([
      [2, 0.1],
      [3, 0],
      [1, 0.1],
    ]);
    expect(told.map(([name]) => name)).toEqual(['urgent', 'mass', 'mass']);
  });

  test('that is too small serves in part: some now, the others after further leases', async () => {
    const { draws, told, take } = openShare([2, 1]);
    take('a', { messages: 3 });
    take('b');
    await settled();
    expect(draws.slice(0, 2).map(({ wanted }) => wanted)).toEqual([3, 2]);
    expect(told.slice(0, 3)).toEqual([
      ['a', undefined],
      ['a', undefined],
      ['a', undefined],
    ]);
    expect(told[3]).toEqual(['b', 100]);
  });

  test('is asked for twelve times, a quarter of a second apart; then each is told its instant by the rate', async () => {
    const { draws, pauses, told, take } = openShare([]);
    take('a', { messages: 2 });
    take('b');
    await settled();
    expect([draws.length, pauses]).toEqual([12, Array.from({ length: 11 }, () => 250)]);
    expect(told).toEqual([
      ['a', 100],
      ['a', 200],
      ['b', 300],
    ]);
    take('c');
    await settled();
    expect([draws.length, told.at(-1)]).toEqual([24, ['c', 100]]);
  });

  test('gives nobody a turn before those that wait', async () => {
    const { told, take } = openShare([1, 5]);
    take('a', { messages: 2 });
    take('b');
    expect(told).toEqual([]);
    await settled();
    expect(told.map(([name]) => name)).toEqual(['a', 'a', 'b']);
  });
});

describe('the answers of an account', () => {
  function openWatch() {
    const clock = makeManualClock(start);
    const lines: Record<string, unknown>[] = [];
    const log = makeLog(
      { level: 'info', pretty: false },
      { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
    );
    const noisy: string[] = [];
    const watch = makeAnswerWatch({ clock, log, onNoisy: ({ key }) => void noisy.push(key) });
    const note = (kind: Outcome['kind'], { times = 1, key = 'webpush:a', code = '429', isJudged = true } = {}) => {
      for (let time = 0; time < times; time += 1)
        watch.note({ key, perMinute: undefined, throttledPerMinute: isJudged ? 60 : undefined }, {
          kind,
          code,
        } as Outcome);
    };
    return { clock, lines, noisy, note };
  }

  // Google raises quotas below 5 % client errors only (delivery 1).
  test.each([
    ['a thousand answers with 51 errors', 949, 51, 1],
    ['a thousand with 50', 950, 50, 0],
    ['999 with more', 899, 100, 0],
  ])('%s of a minute', (_what, ...[good, bad, warnings]) => {
    const { clock, lines, note } = openWatch();
    note('accepted', { times: good });
    note('rejected', { times: bad });
    expect(lines).toEqual([]);
    clock.advance(60_000);
    note('accepted');
    expect(lines).toHaveLength(warnings);
    if (warnings === 1) expect(lines[0]).toMatchObject({ account: 'webpush:a', answers: 1_000, clientErrors: 51 });
  });

  test.each([
    ['gone', 1],
    ['stopped', 1],
    ['rejected', 1],
    ['wait', 0],
    ['unknown', 0],
    ['unreached', 0],
  ] as const)('%s counts as an error of the client: %d', (kind, warnings) => {
    const { clock, lines, note } = openWatch();
    note('accepted', { times: 900 });
    note(kind, { times: 100, code: '500' });
    clock.advance(60_000);
    note('accepted');
    clock.advance(60_000);
    note('accepted');
    expect(lines).toHaveLength(warnings);
  });

  test('twenty refusals 429 of a push service in a minute make this site noisy, once', () => {
    const { clock, noisy, note } = openWatch();
    note('wait', { times: 19 });
    note('wait', { times: 40, key: 'webpush:b', code: '503' });
    note('wait', { times: 40, key: 'fcm:c', isJudged: false });
    note('unknown', { times: 40 });
    expect(noisy).toEqual([]);
    clock.advance(59_999);
    note('wait', { times: 10 });
    expect(noisy).toEqual(['webpush:a']);
    clock.advance(1);
    note('wait', { times: 19 });
    expect(noisy).toHaveLength(1);
    note('wait');
    expect(noisy).toHaveLength(2);
  });

  test('are kept of ten thousand accounts, and the one that was quiet longest is forgotten', () => {
    const { noisy, note } = openWatch();
    note('wait', { times: 19, key: 'first' });
    note('wait', { times: 19, key: 'second' });
    for (let number = 0; number < 9_999; number += 1) note('accepted', { key: String(number) });
    note('wait', { key: 'second' });
    expect(noisy).toEqual(['second']);
    note('wait', { key: 'first' });
    expect(noisy).toEqual(['second']);
  });
});
