import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decideStep, wayOf } from '../../../src/domain/journeys/advance.ts';
import type { AtStep } from '../../../src/domain/journeys/advance.ts';
import type { JourneyStep, StepKind } from '../../../src/domain/journeys/graph.ts';
import { propertyRuns } from '../../property-runs.ts';

const start = new Date('2026-03-09T12:00:00Z'); // a Monday
const after = (milliseconds: number): Date => new Date(start.getTime() + milliseconds);
const step = (kind: StepKind): JourneyStep => ({ id: 'step', name: undefined, ...kind });
const at = (more: Partial<AtStep> = {}): AtStep => ({
  ...{ entryId: 'entry', arrivedAt: start, now: start, eventAt: null, isLate: false, facts: {} },
  ...more,
});

describe('a step', () => {
  test('waits from the arrival, and is left at its very end', () => {
    const wait = step({ kind: 'wait', milliseconds: 60_000, next: 'b' });
    expect(decideStep(wait, at())).toEqual({ kind: 'stay', until: after(60_000) });
    expect(decideStep(wait, at({ now: after(59_999) }))).toEqual({ kind: 'stay', until: after(60_000) });
    expect(decideStep(wait, at({ now: after(60_000) }))).toEqual({ kind: 'leave', edge: 'next', to: 'b' });
  });

  test('waits until a time of day in the zone of the person, over weekdays and changes of the clock', () => {
    const until = (minuteOfDay: number, weekdays: number[], more: Partial<AtStep> = {}) => {
      const decision = decideStep(step({ kind: 'wait_until_time', minuteOfDay, weekdays, next: null }), at(more));
      return decision.kind === 'stay' ? decision.until.toISOString() : decision.kind;
    };
    const all = [1, 2, 3, 4, 5, 6, 7];
    const facts = { timeZone: 'Europe/Berlin' }; // 13:00 there
    expect(until(13 * 60, all, { facts })).toBe('leave');
    expect(until(13 * 60 + 1, all, { facts })).toBe('2026-03-09T12:01:00.000Z');
    expect(until(12 * 60 + 59, all, { facts })).toBe('2026-03-10T11:59:00.000Z');
    expect(until(12 * 60 + 59, [1], { facts })).toBe('2026-03-16T11:59:00.000Z');
    expect(until(9 * 60, [7], { facts })).toBe('2026-03-15T08:00:00.000Z');
    // The clock goes forward on 29 March: 02:30 does not exist, and 03:30 is the same moment.
    const arrivedAt = new Date('2026-03-28T12:00:00Z');
    expect(until(150, [7], { facts, arrivedAt, now: arrivedAt })).toBe('2026-03-29T01:30:00.000Z');
  });

  test('that waits for an event prefers the event to the timeout', () => {
    const wait = step({
      kind: 'wait_for_event',
      events: [],
      milliseconds: 60_000,
      next: 'did',
      timeoutNext: 'did not',
    });
    expect(decideStep(wait, at())).toEqual({ kind: 'stay', until: after(60_000) });
    expect(decideStep(wait, at({ now: after(60_000) }))).toEqual({ kind: 'leave', edge: 'timeout', to: 'did not' });
    for (const now of [start, after(60_000)])
      expect(decideStep(wait, at({ now, eventAt: start }))).toEqual({ kind: 'leave', edge: 'event', to: 'did' });
  });

  test('branches by what was read, and never without', () => {
    const condition = { kind: 'events', operator: 'and', filters: [] } as const;
    const branch = step({ kind: 'branch', condition, next: 'yes', elseNext: null });
    expect(decideStep(branch, at({ facts: { isMet: true } }))).toEqual({ kind: 'leave', edge: 'yes', to: 'yes' });
    expect(decideStep(branch, at({ facts: { isMet: false } }))).toEqual({ kind: 'leave', edge: 'no', to: null });
    expect(() => decideStep(branch, at())).toThrow('before its facts');
  });

  test.each([
    ['send', { kind: 'leave', edge: 'next', to: 'b' }],
    ['skip', { kind: 'leave', edge: 'late', to: 'b' }],
    ['exit', { kind: 'end', edge: 'late', reason: 'LATE' }],
  ] as const)('that sends follows its rule %s when it is late', (late, expected) => {
    const send = step({ kind: 'send', late, next: 'b' });
    expect(decideStep(send, at())).toEqual({ kind: 'leave', edge: 'next', to: 'b' });
    expect(decideStep(send, at({ isLate: true }))).toEqual(expected);
  });

  test('ends the journey where it is an exit', () => {
    expect(decideStep(step({ kind: 'exit' }), at())).toEqual({ kind: 'end', edge: 'end', reason: 'COMPLETED' });
  });
});

describe('a split', () => {
  test('sends the same entry the same way, and entries by its shares', () => {
    const percents = [10, 0, 60, 30];
    const taken = [0, 0, 0, 0];
    for (let number = 0; number < 20_000; number += 1) {
      const asked = { entryId: String(number), step: 'split', percents };
      const way = wayOf(asked);
      expect(wayOf(asked)).toBe(way);
      taken[way]! += 1;
    }
    expect(taken[1]).toBe(0);
    for (const [way, percent] of percents.entries()) expect(Math.abs(taken[way]! / 200 - percent)).toBeLessThan(1.5);
  });

  test('is independent of another split of the same entry', () => {
    const percents = [50, 50];
    const both = Array.from({ length: 4_000 }, (_, number) =>
      ['a', 'b'].map((id) => wayOf({ entryId: String(number), step: id, percents })).join(''),
    );
    for (const pair of ['00', '01', '10', '11']) expect(both.filter((one) => one === pair).length).toBeGreaterThan(800);
  });
});

/** A graph without circles: every step leads to a later one, or out. */
const drawnGraph = fc.array(
  fc.record({
    kind: fc.constantFrom('wait', 'wait_for_event', 'branch', 'split', 'send', 'update', 'exit'),
    milliseconds: fc.integer({ min: 1, max: 100 }),
    jumps: fc.tuple(fc.nat(), fc.nat()),
    late: fc.constantFrom('send', 'skip', 'exit'),
    met: fc.boolean(),
    event: fc.option(fc.integer({ min: 0, max: 99 }), { nil: undefined }),
  }),
  { minLength: 1, maxLength: 15 },
);
type Drawn = typeof drawnGraph extends fc.Arbitrary<(infer One)[]> ? One : never;

/** Says in plain words where a person goes who is looked at every millisecond: no due times, no decisions. */
function interpret(drawn: readonly Drawn[], lateFrom: number): string[] {
  const path: string[] = [];
  let index: number | undefined = 0;
  let time = 0;
  const jump = (from: number, by: number): number | undefined => {
    const to = from + 1 + (by % (drawn.length - from));
    return to < drawn.length ? to : undefined;
  };
  while (index !== undefined) {
    const here: Drawn = drawn[index]!;
    const [first, second] = here.jumps.map((by) => jump(index!, by));
    if (here.kind === 'exit') return [...path, `${index} end`];
    if (here.kind === 'wait' || here.kind === 'wait_for_event') {
      const happens = here.kind === 'wait_for_event' && here.event !== undefined && here.event < here.milliseconds;
      time += happens ? here.event! : here.milliseconds;
      path.push(`${index} ${happens ? 'event' : here.kind === 'wait' ? 'next' : 'timeout'}`);
      index = here.kind === 'wait' || happens ? first : second;
    } else if (here.kind === 'branch') {
      path.push(`${index} ${here.met ? 'yes' : 'no'}`);
      index = here.met ? first : second;
    } else if (here.kind === 'split') {
      const way = wayOf({ entryId: 'entry', step: String(index), percents: [50, 50] });
      path.push(`${index} way ${way + 1}`);
      index = way === 0 ? first : second;
    } else {
      const isLate = here.kind === 'send' && time >= lateFrom;
      if (isLate && here.late === 'exit') return [...path, `${index} late`];
      path.push(`${index} ${isLate && here.late === 'skip' ? 'late' : 'next'}`);
      index = first;
    }
  }
  return path;
}

/** Walks as the engine does: from one due time to the next. */
function walk(drawn: readonly Drawn[], lateFrom: number): string[] {
  const path: string[] = [];
  const target = (from: number, by: number): string | null => {
    const to = from + 1 + (by % (drawn.length - from));
    return to < drawn.length ? String(to) : null;
  };
  let now = start;
  let position = { id: '0', arrivedAt: start, eventAt: null as Date | null };
  for (let looks = 0; looks < 1_000; looks += 1) {
    const index = Number(position.id);
    const here = drawn[index]!;
    const [next, elseNext] = [target(index, here.jumps[0]), target(index, here.jumps[1])];
    const { milliseconds, late } = here;
    const kinds: Record<string, StepKind> = {
      wait: { kind: 'wait', milliseconds, next },
      wait_for_event: { kind: 'wait_for_event', events: [], milliseconds, next, timeoutNext: elseNext },
      branch: { kind: 'branch', condition: { kind: 'events', operator: 'and', filters: [] }, next, elseNext },
      split: { kind: 'split', ways: [next, elseNext].map((to) => ({ percent: 50, next: to })) },
      send: { kind: 'send', late, next },
      update: { kind: 'update', attributes: {}, next },
      exit: { kind: 'exit' },
    };
    const isLate = now.getTime() - start.getTime() >= lateFrom;
    const decision = decideStep(
      { id: position.id, name: undefined, ...kinds[here.kind]! },
      { entryId: 'entry', now, isLate, facts: { isMet: here.met }, ...position },
    );
    if (decision.kind === 'stay') {
      const event = here.kind === 'wait_for_event' && here.event !== undefined && here.event < milliseconds;
      const eventAt = event ? new Date(position.arrivedAt.getTime() + here.event!) : null;
      now = eventAt ?? decision.until;
      position = { ...position, eventAt };
      continue;
    }
    path.push(`${position.id} ${decision.edge}`);
    if (decision.kind === 'end' || decision.to === null) return path;
    position = { id: decision.to, arrivedAt: now, eventAt: null };
  }
  throw new Error('walks in a circle');
}

test('leads along every random graph as a naive interpreter does', () => {
  fc.assert(
    fc.property(drawnGraph, fc.integer({ min: 0, max: 400 }), (drawn, lateFrom) => {
      const path = walk(drawn, lateFrom);
      expect(path).toEqual(interpret(drawn, lateFrom));
      expect(new Set(path.map((passed) => passed.split(' ')[0])).size).toBe(path.length);
    }),
    { numRuns: propertyRuns(300) },
  );
});
