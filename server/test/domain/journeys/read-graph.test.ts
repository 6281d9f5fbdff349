import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { edgesOf } from '../../../src/domain/journeys/check-shape.ts';
import { eventNamesOf, readGraph, readStoredGraph } from '../../../src/domain/journeys/read-graph.ts';
import { propertyRuns } from '../../property-runs.ts';

const rules = { prefixes: ['svc'], name: 'Welcome' };
const did = (...names: string[]) => ({
  filter_operator: 'or',
  filters: names.map((action_name) => ({ filter_type: 'actions', action_name })),
});
const message = {
  platforms: ['ANDROID'],
  campaign_content: {
    content: { push: { android: { template_type: 'BASIC', basic_details: { title: 'Hello', message: 'Welcome' } } } },
  },
};
const wait = (id: string, next: string | null) => ({ type: 'wait', id, duration: { value: 1, unit: 'DAYS' }, next });
const send = (id: string, next: string | null, more: object = {}) => ({ type: 'send', id, message, next, ...more });
const graph = (steps: unknown[], more: object = {}) => ({
  entry: { type: 'api' },
  first_step: (steps[0] as { id: string }).id,
  steps,
  ...more,
});
const faultsOf = (document: unknown) =>
  readGraph(document, rules).faults.map(({ field, reason }) => `${field} ${reason}`);

describe('the reader of journeys', () => {
  test('reads every type of step', () => {
    const filters = {
      filter_operator: 'and',
      filters: [{ filter_type: 'user_attributes', name: 'city', data_type: 'string', operator: 'exists' }],
    };
    const document = graph(
      [
        send('hello', 'pause', { late: 'skip' }),
        wait('pause', 'morning'),
        { type: 'wait_until_time', id: 'morning', time: '09:30', weekdays: [5, 1], next: 'buys' },
        {
          ...{ type: 'wait_for_event', id: 'buys', included_filters: did('Bought') },
          ...{ timeout: { value: 2, unit: 'HOURS' }, next: null, timeout_next: 'lives' },
        },
        {
          ...{ type: 'branch', id: 'lives', condition: { type: 'user', included_filters: filters } },
          ...{ next: 'did', else_next: 'did' },
        },
        {
          ...{ type: 'branch', id: 'did', condition: { type: 'events', included_filters: did('Left') } },
          ...{ next: 'saw', else_next: null },
        },
        {
          ...{ type: 'branch', id: 'saw', condition: { type: 'message', step: 'hello', outcome: 'shown' } },
          ...{ next: 'parts', else_next: null },
        },
        {
          ...{ type: 'split', id: 'parts' },
          ways: [
            { percent: 30, next: 'mark' },
            { percent: 70, next: null },
          ],
        },
        { type: 'update', id: 'mark', attributes: { stage: 'warm', old: null }, next: 'end' },
        { type: 'exit', id: 'end', name: 'The end' },
      ],
      {
        entry: { type: 'event', included_filters: did('Signed up'), from_apps: true },
        goal: { included_filters: did('Bought') },
        exit_events: { included_filters: did('Unsubscribed') },
        reentry: { type: 'after', after: { value: 30, unit: 'DAYS' } },
      },
    );
    const { graph: read, faults } = readGraph(document, rules);
    expect(faults).toEqual([]);
    expect(read).toEqual(readStoredGraph(document));
    expect(read).toMatchObject({
      entry: { kind: 'event', events: [{ eventName: 'Signed up' }], acceptsApps: true },
      firstStep: 'hello',
      goal: [{ eventName: 'Bought' }],
      exitEvents: [{ eventName: 'Unsubscribed' }],
      reentry: { kind: 'after', milliseconds: 30 * 86_400_000 },
    });
    expect([...read!.steps.values()]).toMatchObject([
      { id: 'hello', kind: 'send', late: 'skip', next: 'pause' },
      { kind: 'wait', milliseconds: 86_400_000 },
      { kind: 'wait_until_time', minuteOfDay: 570, weekdays: [1, 5] },
      { kind: 'wait_for_event', milliseconds: 7_200_000, next: null, timeoutNext: 'lives' },
      { kind: 'branch', condition: { kind: 'user', filter: { kind: 'group' } }, elseNext: 'did' },
      { kind: 'branch', condition: { kind: 'events', operator: 'or', filters: [{ eventName: 'Left', count: 1 }] } },
      { kind: 'branch', condition: { kind: 'message', step: 'hello', outcome: 'shown' } },
      {
        kind: 'split',
        ways: [
          { percent: 30, next: 'mark' },
          { percent: 70, next: null },
        ],
      },
      { kind: 'update', attributes: { stage: 'warm', old: null }, next: 'end' },
      { kind: 'exit', name: 'The end' },
    ]);
    expect(eventNamesOf(read!)).toEqual({ entry: ['Signed up'], watched: ['Bought', 'Unsubscribed'] });
  });

  test('reports the faults of all steps at once, each with the id of its step', () => {
    const faults = faultsOf(
      graph([
        { ...wait('long', 'b'), duration: { value: 367, unit: 'DAYS' } },
        { type: 'wait_for_event', id: 'b', included_filters: did('Bought'), next: null, timeout_next: null },
        {
          type: 'split',
          id: 'c',
          ways: [
            { percent: 40, next: null },
            { percent: 40, next: null },
          ],
        },
        { type: 'update', id: 'd', attributes: { id: 7 }, next: null },
        send('e', null, { message: { ...message, platforms: ['FAX'], fax: true } }),
        { ...wait('f', null), nxt: 'a' },
        { type: 'wait', id: 'g', duration: { value: 1, unit: 'DAYS' } },
        { type: 'teleport', id: 'h' },
        'no step',
        wait('f', null),
      ]),
    );
    expect(faults).toEqual([
      'steps.long.duration must be at most 366 days',
      'steps.b.timeout missing',
      'steps.c.ways must have percents that add up to 100, not 80',
      'steps.d.attributes "id" is a reserved name',
      'steps.f.nxt is not a member of this object',
      'steps.g.next must be the id of a step, or null where the journey ends',
      expect.stringMatching(/^steps\.h\.type must be one of wait, /),
      'steps[8] must be an object',
      'steps.f.id is the id of another step',
      'steps.e.message.fax is not a member of this object',
      expect.stringMatching(/^steps\.e\.message\.platforms must hold only ANDROID/),
    ]);
  });

  test.each([
    ['an unknown target', [wait('a', 'b')], 'steps.a.next names "b", which is not a step'],
    ['a circle', [wait('a', 'b'), wait('b', 'a')], 'steps.a.next must not lead back: a → b → a'],
    ['a step that leads to itself', [wait('a', 'a')], 'steps.a.next must not lead back: a → a'],
    ['an unreachable step', [wait('a', null), wait('b', 'a')], 'steps.b cannot be reached from first_step'],
    [
      'a branch on a later message',
      [
        {
          ...{ type: 'branch', id: 'a', condition: { type: 'message', step: 'b', outcome: 'clicked' } },
          ...{ next: 'b', else_next: null },
        },
        send('b', null),
      ],
      'steps.a.condition.step must be the id of a send step before this one',
    ],
  ])('rejects %s', (_name, steps, fault) => {
    expect(faultsOf(graph(steps))).toEqual([fault]);
  });

  test('rejects more than 100 steps, and members that the entry does not have', () => {
    const many = Array.from({ length: 101 }, (_, index) => wait(`s${index}`, index === 100 ? null : `s${index + 1}`));
    expect(faultsOf(graph(many))).toEqual(['steps must be a list of 1 to 100 steps']);
    expect(readGraph(graph(many.slice(1)), rules).graph?.steps.size).toBe(100);
    const entry = { type: 'api', included_filters: did('Came') };
    expect(faultsOf(graph([wait('a', null)], { entry }))).toEqual([
      'entry.included_filters is for entries of type event',
    ]);
    expect(faultsOf(graph([wait('a', null)], { entry: { type: 'event' }, reentry: { type: 'after' } }))).toEqual([
      'entry.included_filters missing',
      'reentry.after missing',
    ]);
    expect(faultsOf({})).toEqual(['entry missing', 'first_step missing', 'steps missing']);
  });

  test('accepts only graphs without circles whose steps can all be reached', () => {
    const id = fc.constantFrom('a', 'b', 'c', 'd', 'e');
    const target = fc.option(id);
    const step = fc.oneof(
      fc.record({ type: fc.constant('exit') }),
      fc.record({ type: fc.constant('update'), attributes: fc.constant({ x: 1 }), next: target }),
      fc.record({
        type: fc.constant('split'),
        ways: fc.tuple(target, target).map(([one, two]) => [
          { percent: 50, next: one },
          { percent: 50, next: two },
        ]),
      }),
    );
    let accepted = 0;
    fc.assert(
      fc.property(
        fc.uniqueArray(id, { minLength: 1 }),
        fc.array(step, { minLength: 5, maxLength: 5 }),
        (ids, kinds) => {
          const steps = ids.map((own, index) => ({ ...kinds[index]!, id: own }));
          const { graph: read } = readGraph(graph(steps), rules);
          const nextOf = (own: string) =>
            steps
              .filter((one) => one.id === own)
              .flatMap((one) => ('ways' in one ? one.ways.map(({ next }) => next) : 'next' in one ? [one.next] : []))
              .filter((next) => next !== null);
          const reached = new Set<string>();
          const endless = (own: string, path: string[]): boolean => {
            reached.add(own);
            return path.includes(own) || nextOf(own).some((next) => endless(next, [...path, own]));
          };
          const isValid =
            !endless(ids[0]!, []) &&
            reached.size === ids.length &&
            ids.every((own) => nextOf(own).every((next) => ids.includes(next)));
          expect(read !== undefined).toBe(isValid);
          if (!read) return;
          accepted += 1;
          for (const one of read.steps.values())
            for (const edge of edgesOf(one)) expect(edge.target === null || read.steps.has(edge.target)).toBe(true);
        },
      ),
      { numRuns: propertyRuns(2_000, 300) },
    );
    expect(accepted).toBeGreaterThan(0);
  });

  test('never throws, whatever the JSON', () => {
    const types = ['wait', 'wait_until_time', 'wait_for_event', 'branch', 'split', 'send', 'update', 'exit'];
    const any = fc.jsonValue({ maxDepth: 3 });
    const step = fc.record(
      Object.fromEntries(
        [
          'id',
          'name',
          'next',
          'timeout',
          'timeout_next',
          'duration',
          'included_filters',
          'condition',
          'else_next',
          'ways',
          'message',
          'attributes',
          'time',
          'weekdays',
          'late',
        ]
          .map((name) => [name, any] as const)
          .concat([['type', fc.constantFrom(...types)]] as never),
      ),
      { requiredKeys: [] },
    );
    const document = fc.record(
      { entry: any, first_step: any, steps: fc.oneof(any, fc.array(step)), goal: any, exit_events: any, reentry: any },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(any, document), (sent) => {
        const { graph: read, faults } = readGraph(sent, rules);
        expect((read === undefined) === faults.length > 0).toBe(true);
      }),
      { numRuns: propertyRuns(5_000, 500) },
    );
  });
});
