import { describe, expect, test } from 'vitest';
import { brokenBy, count, delivery, inTurn, message, push, quiet, run, success } from './hand-made.ts';
import type { Given, Line } from './hand-made.ts';

const stored = (more: object = {}): Line => ({
  ...{ kind: 'request', workspace: 'A', request: 'q', response: 'x1', campaign: 'c', run: 'r', ...more },
});
const device = (more: object = {}): Line => ({
  ...{ kind: 'device', workspace: 'A', user: 'u', address: 'd', platform: 'IOS', ...more },
});
const pushed = (body: object = {}): Line[] =>
  inTurn(push({ campaignName: 'Sale', requestId: 'q', ...body }, success('c', 'x1')));
/** A push to one device, which got its message: nothing is wrong with it. */
const whole = [device(), ...pushed(), ...message(), quiet, run(), stored(), delivery(), count()];
const replaced = (kind: string, ...lines: Line[]): Line[] => [...whole.filter((line) => line.kind !== kind), ...lines];

const campaign = {
  kind: 'campaign',
  workspace: 'A',
  id: 'c',
  name: 'c',
  occurrences: [],
  ttlMinutes: 60,
  isSpread: false,
};
const lived = (at: number): Line[] => [campaign, device(), ...message({ at }), run(), delivery(), count()];
const killed: Line = { kind: 'fault', what: 'kill', worker: 'w' };
const callback = (more: object = {}): Line => ({
  ...{
    kind: 'callback',
    id: 'w1',
    status: 200,
    body: { request_id: 'o1', segment_name: 'VIP', user_count: 2 },
    ...more,
  },
});
const url = 'http://files/1.csv';
const fill: Given = {
  path: '/v2/custom-segments/file-segment',
  ...{ status: 202, body: { name: 'VIP', file_url: url }, reply: { cs_id: 's1', cs_name: 'VIP' } },
};
const filled = (...callbacks: Line[]): Line[] => [
  ...[{ kind: 'file', url, values: ['u', 'v'] }, ...inTurn(fill), ...callbacks],
];
const sync = (action: string): Given => {
  const parameters = { cohort_name: 'VIP', members: [{ uid: 'u' }] };
  return { path: '/v1/integrations/cohortsync', body: { action, parameters } };
};
const toCohort = (...calls: Given[]): Line[] => [
  ...[device(), ...inTurn(...calls), ...pushed({ targetAudience: 'Custom Segment', customSegmentName: 'VIP' })],
  ...[...message(), quiet, run(), stored(), delivery(), count()],
];
const withoutMessage = (lines: Line[]): Line[] =>
  lines.filter(({ kind }) => !['message', 'stored', 'delivery', 'count'].includes(kind));

const capped = (messages: number): Line[] => [
  ...[{ kind: 'workspace', id: 'A', word: 'alpha', cap: 1 }, device()],
  ...Array.from({ length: messages }, (_, number) => {
    const [id, more] = [`r${number}`, { run: `r${number}`, message: `m${number}` }];
    return [...message(more), run({ id }), delivery({ run: id }), count({ run: id })];
  }).flat(),
];

type Pair = [what: string, rule: string, histories: { good: Line[]; bad: Line[] }];

const pairs: Pair[] = [
  [
    'a push that was answered Success and is not stored',
    'success',
    { good: whole, bad: replaced('request', stored({ response: 'x2', request: 'other' })) },
  ],
  ['a push that is stored twice', 'success', { good: whole, bad: [...whole, stored({ response: 'x9' })] }],
  [
    'a push that is stored and was never answered Success',
    'success',
    { good: whole, bad: [...whole, stored({ response: 'x9', request: 'q9' })] },
  ],
  ['a device of the audience that is left out', 'lost', { good: whole, bad: withoutMessage(whole) }],
  [
    'a user who is sent a push to somebody else',
    'audience',
    {
      good: replaced('call', ...pushed()),
      bad: [
        ...[device(), device({ user: 'v', address: 'e' })],
        ...pushed({ targetAudience: 'User', targetUserAttributes: { attributeValue: 'v' } }),
        ...[...message(), quiet, run(), stored(), delivery(), count(), delivery({ device: 'e', address: 'e' })],
      ],
    },
  ],
  [
    'a member of a cohort who is left out',
    'lost',
    { good: toCohort(sync('add_members')), bad: withoutMessage(toCohort(sync('add_members'))) },
  ],
  [
    'a user who is sent to after leaving a cohort',
    'audience',
    { good: toCohort(sync('add_members')), bad: toCohort(sync('add_members'), sync('remove_members')) },
  ],
  [
    'a second identity of a message',
    'identity',
    {
      good: [...message({ isStored: false }), killed, ...message({ worker: 'w2' }), ...rows()],
      bad: [...message({ isStored: false }), killed, ...message({ worker: 'w2', message: 'm2' }), ...rows()],
    },
  ],
  [
    'a message that is sent again after its answer was stored',
    'repeat',
    { good: [...message({ answer: 'OTHER' }), ...message(), ...rows()], bad: [...message(), ...message(), ...rows()] },
  ],
  [
    'a message that a second worker sends while the first one holds it',
    'claim',
    {
      good: [...message({ isStored: false }), killed, ...message({ worker: 'w2' }), ...rows()],
      bad: [...message({ isStored: false }), ...message({ worker: 'w2' }), ...rows()],
    },
  ],
  ['a message that is sent after its life', 'expired', { good: lived(3_600_000), bad: lived(3_600_001) }],
  [
    'a message that is sent again after a stop',
    'change',
    {
      good: [...stopped(), ...message({ isStored: false }), ...rows()],
      bad: [...stopped(), ...message({ answer: 'OTHER' }), ...message(), ...rows()],
    },
  ],
  [
    'a callback that is posted again after it was acknowledged',
    'callback',
    { good: filled(callback({ status: 503 }), callback()), bad: filled(callback(), callback()) },
  ],
  [
    'two callbacks of one operation',
    'callback',
    { good: filled(callback()), bad: filled(callback(), callback({ id: 'w2' })) },
  ],
  ['a fill without a callback', 'callback', { good: filled(callback()), bad: filled() }],
  [
    'a segment that is filled in part',
    'fill',
    {
      good: filled(callback()),
      bad: filled(callback({ body: { request_id: 'o1', segment_name: 'VIP', user_count: 1 } })),
    },
  ],
  ['a run that never ends', 'quiet', { good: [run()], bad: [run({ status: 'SENDING' })] }],
  ['work that never becomes quiet', 'quiet', { good: [quiet], bad: [{ kind: 'quiet', isStuck: true }] }],
  [
    'a run that failed without a reason',
    'reason',
    { good: [run({ status: 'FAILED', reason: 'the segment is gone' })], bad: [run({ status: 'FAILED' })] },
  ],
  [
    'a message that expired without a reason',
    'reason',
    {
      good: [run(), delivery({ outcome: 'EXPIRED', code: 'EXPIRED' }), count({ outcome: 'EXPIRED' })],
      bad: [run(), delivery({ outcome: 'EXPIRED' }), count({ outcome: 'EXPIRED' })],
    },
  ],
  [
    'an occurrence that is fired twice',
    'occurrence',
    {
      good: [run({ occurrence: 1 }), run({ id: 'r2', occurrence: 2 })],
      bad: [run({ occurrence: 1 }), run({ id: 'r2', occurrence: 1 })],
    },
  ],
  ['a counter that skips a device', 'count', { good: whole, bad: replaced('count', count({ devices: 0 })) }],
  [
    'a ledger that reports a message that no phone got',
    'ledger',
    { good: whole, bad: whole.filter(({ kind }) => kind !== 'message') },
  ],
  [
    'a message that the ledger does not know',
    'ledger',
    { good: whole, bad: whole.filter(({ kind }) => kind !== 'delivery' && kind !== 'count') },
  ],
  [
    'an outcome that the provider did not answer',
    'ledger',
    { good: whole, bad: [...message({ answer: 'REJECTED' }), ...rows({ outcome: 'EXPIRED', code: 'EXPIRED' })] },
  ],
  ['a user who gets more messages than the cap allows', 'cap', { good: capped(1), bad: capped(2) }],
  [
    'a fault of the server',
    'failure',
    {
      good: inTurn({ path: '/v1/campaigns/search', status: 400 }),
      bad: inTurn({ path: '/v1/campaigns/search', status: 500 }),
    },
  ],
  [
    'a job that fails without a cut connection',
    'failure',
    {
      good: [
        { kind: 'fault', what: 'cut' },
        { kind: 'fault', what: 'job failed', error: 'x' },
      ],
      bad: [{ kind: 'fault', what: 'job failed', error: 'x' }],
    },
  ],
];

function rows(more: { outcome?: string; code?: string } = {}): Line[] {
  return [run(), delivery(more), count(more.outcome === undefined ? {} : { outcome: more.outcome })];
}

function stopped(): Line[] {
  return [{ kind: 'change', campaign: 'c', action: 'stop', at: 0 }];
}

describe('the checker of deliveries', () => {
  test.each(pairs)('finds %s (%s), and nothing in a history without it', (_what, rule, { good, bad }) => {
    expect(brokenBy(good)).toEqual([]);
    expect(brokenBy(bad)).toContain(rule);
  });

  test('accepts a message that a killed worker sent and that nobody can know of after a stop', () => {
    const lines = [...message({ isStored: false }), run({ status: 'STOPPED', reason: 'the campaign was stopped' })];
    expect(brokenBy(lines)).toEqual([]);
    expect(brokenBy([...message(), run({ status: 'STOPPED', reason: 'the campaign was stopped' })])).toEqual([
      'ledger',
    ]);
  });

  test('compares the identities that a phone of the torture got with the accepted rows of its campaign', () => {
    const got = (...ids: string[]): Line[] =>
      ids.map((id) => ({
        kind: 'message',
        campaign: 'c',
        address: 'd',
        collapse: 'k',
        message: id,
        answer: 'ACCEPTED',
      }));
    const two = [run(), run({ id: 'r2' }), delivery(), delivery({ run: 'r2' }), count(), count({ run: 'r2' })];
    expect(brokenBy([...got('m1', 'm1', 'm2'), ...two], 'torture')).toEqual([]);
    expect(brokenBy([...got('m1'), ...two], 'torture')).toEqual(['ledger']);
    expect(brokenBy([...got('m1', 'm2', 'm3'), ...two], 'torture')).toEqual(['ledger']);
  });
});
