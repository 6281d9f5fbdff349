import { describe, expect, test } from 'vitest';
import { linearize } from '../../../checker/linearize.ts';
import type { Operation } from '../../../checker/linearize.ts';
import { atOnce, brokenBy, fail, inTurn, push, success } from './hand-made.ts';
import type { Given, Line } from './hand-made.ts';

/** What a good history and a bad one differ in, and the rule that the bad one breaks. */
type Pair = [what: string, rule: string, histories: { good: Line[]; bad: Line[] }];

/** Without rows, a push that was answered Success would count as lost. */
const rulesOfObjects = ['name', 'idempotency', 'segment', 'key', 'token', 'limit', 'tenant'];
const brokenRules = (lines: Line[]): string[] => brokenBy(lines).filter((rule) => rulesOfObjects.includes(rule));

const duplicate = fail('Duplicate campaign name');
const named = (campaignName: string, audience = 'All Users') => ({ campaignName, targetAudience: audience });
const keyed = { idempotencyKey: 'k1' };
const filter = (status: number, id = 's1'): Given => ({
  path: '/v3/custom-segments',
  body: { name: 'VIP' },
  status,
  reply: status === 201 ? { data: { id } } : {},
});
const archive = (what: 'archive' | 'unarchive'): Given => ({
  ...{
    method: 'PATCH',
    path: `/v2/custom-segments/${what}`,
    body: { name: 'VIP' },
    reply: { cs_id: 's1', cs_name: 'VIP' },
  },
});
const read = (state: string): Given => ({
  ...{ method: 'GET', path: '/v3/custom-segments/s1', reply: { data: { status: state } } },
});
const toSegment = (reply: object) =>
  push({ campaignName: 'To VIP', targetAudience: 'Custom Segment', customSegmentName: 'VIP' }, reply);
const operator = (path: string): Given => ({ method: 'OPERATOR', path, body: { name: 'k' } });
const useKey = (status: number): Given => ({ method: 'GET', path: '/v3/custom-segments', credential: 'k', status });
const token = 'cat_0123456789012345678901234567';
const issue: Given = { path: '/v1/oauth/token', reply: { access_token: token, expires_in: 900 } };
const revoke: Given = { path: '/v1/oauth/revoke', body: { token } };
const refreshToken = 'crt_0123456789012345678901234567';
const issueBoth: Given = { ...issue, reply: { access_token: token, refresh_token: refreshToken, expires_in: 900 } };
const refresh = (status: number, more: object = {}): Given => ({
  ...{ path: '/v1/oauth/refresh', body: { refresh_token: refreshToken }, status, ...more },
  reply: status === 200 ? { access_token: `${token}-2`, expires_in: 900 } : {},
});
const revokeRefresh: Given = { path: '/v1/oauth/revoke', body: { token: refreshToken } };
const retire: Given = { method: 'OPERATOR', path: '/tokens/retire-secret' };
const issueOf = (credential: string, status = 200): Given => ({
  ...{ path: '/v1/oauth/token', credential, status, reply: {} },
});
const useToken = (status: number, at = 0): Given => ({ method: 'GET', path: '/v3/custom-segments', token, status, at });
const search = (status: number, at = 0): Given => ({ path: '/v1/campaigns/search', status, at, reply: [] });
const times = (count: number, make: () => Given): Given[] => Array.from({ length: count }, make);
const id = '0123456789abcdef01234567';

const pairs: Pair[] = [
  [
    'a name that makes two campaigns',
    'name',
    {
      good: inTurn(push(named('Sale'), success('c1', 'x1')), push(named('Sale'), duplicate)),
      bad: inTurn(push(named('Sale'), success('c1', 'x1')), push(named('Sale'), success('c2', 'x2'))),
    },
  ],
  [
    'a free name that is called a duplicate',
    'name',
    {
      good: atOnce(push(named('Sale'), duplicate), push(named('Sale'), success('c1', 'x1'))),
      bad: inTurn(push(named('Sale'), duplicate), push(named('Sale'), success('c1', 'x1'))),
    },
  ],
  [
    'a push to a user that joins another campaign than the one of its name',
    'name',
    {
      good: inTurn(push(named('Hi', 'User'), success('c1', 'x1')), push(named('Hi', 'User'), success('c1', 'x2'))),
      bad: inTurn(push(named('Hi', 'User'), success('c1', 'x1')), push(named('Hi', 'User'), success('c2', 'x2'))),
    },
  ],
  [
    'a lost answer after which the name is free again',
    'name',
    {
      good: inTurn(push(named('Sale'), {}, { isLost: true }), push(named('Sale'), duplicate)),
      bad: inTurn(push(named('Sale'), duplicate), push(named('Sale'), {}, { isLost: true })),
    },
  ],
  [
    'an idempotency key that does its work twice',
    'idempotency',
    {
      good: inTurn(push(named('One'), success('c1', 'x1'), keyed), push(named('One'), success('c1', 'x1'), keyed)),
      bad: inTurn(push(named('One'), success('c1', 'x1'), keyed), push(named('One'), success('c1', 'x2'), keyed)),
    },
  ],
  [
    'a conflict without a first request',
    'idempotency',
    {
      good: inTurn(
        push(named('One'), success('c1', 'x1'), keyed),
        push(named('Two'), fail('Idempotency-Key was used for another request'), keyed),
      ),
      bad: inTurn(push(named('Two'), fail('Idempotency-Key was used for another request'), keyed)),
    },
  ],
  [
    'a segment name that is used twice',
    'segment',
    { good: inTurn(filter(201), filter(409)), bad: inTurn(filter(201), filter(201, 's2')) },
  ],
  [
    'an archived segment that is shown as active',
    'segment',
    {
      good: inTurn(filter(201), archive('archive'), read('ARCHIVED'), archive('unarchive'), read('READY')),
      bad: inTurn(filter(201), archive('archive'), read('READY')),
    },
  ],
  [
    'a push to an archived segment',
    'segment',
    {
      good: inTurn(filter(201), archive('archive'), toSegment(fail('customSegmentName: the segment is archived'))),
      bad: inTurn(filter(201), archive('archive'), toSegment(success('c1', 'x1'))),
    },
  ],
  [
    'a key that works after it was archived',
    'key',
    {
      good: inTurn(operator('/keys/create'), useKey(200), operator('/keys/archive'), useKey(401)),
      bad: inTurn(operator('/keys/create'), operator('/keys/archive'), useKey(200)),
    },
  ],
  [
    'a token that works after it was revoked',
    'token',
    { good: inTurn(issue, useToken(200), revoke, useToken(401)), bad: inTurn(issue, revoke, useToken(200)) },
  ],
  [
    'a token that works after its life',
    'token',
    { good: inTurn(issue, useToken(401, 902_000)), bad: inTurn(issue, useToken(200, 902_000)) },
  ],
  [
    'an access token that works after its refresh token was revoked',
    'token',
    {
      good: inTurn(issueBoth, refresh(200), revokeRefresh, useToken(401), refresh(401)),
      bad: inTurn(issueBoth, refresh(200), revokeRefresh, { ...useToken(200), token: `${token}-2` }),
    },
  ],
  [
    'a refresh token that works after it was revoked',
    'token',
    {
      good: [...inTurn(issueBoth), ...atOnce(refresh(200), revokeRefresh)],
      bad: inTurn(issueBoth, revokeRefresh, refresh(200)),
    },
  ],
  [
    'a token that works after its secret was retired',
    'token',
    { good: inTurn(issueBoth, retire, useToken(401)), bad: inTurn(issueBoth, retire, useToken(200)) },
  ],
  [
    'a token that works for another workspace',
    'token',
    {
      good: inTurn(issueBoth, { ...useToken(404), workspace: 'B' }, { ...revoke, workspace: 'B' }, useToken(200)),
      bad: inTurn(issueBoth, { ...useToken(200), workspace: 'B' }),
    },
  ],
  [
    'a refresh token that works for another workspace',
    'token',
    {
      good: inTurn(issueBoth, refresh(401, { workspace: 'B' }), refresh(200)),
      bad: inTurn(issueBoth, refresh(200, { workspace: 'B' })),
    },
  ],
  [
    'a token that another workspace has revoked',
    'token',
    {
      good: inTurn(issueBoth, { ...revoke, workspace: 'B' }, useToken(200)),
      bad: inTurn(issueBoth, { ...revoke, workspace: 'B' }, useToken(401)),
    },
  ],
  [
    'one token too many for a key in a minute',
    'limit',
    {
      good: inTurn(...times(5, () => issueOf('k')), issueOf('k', 429), issueOf('l')),
      bad: inTurn(...times(6, () => issueOf('k'))),
    },
  ],
  [
    'a token that is refused because of those of another key',
    'limit',
    {
      good: inTurn(...times(5, () => issueOf('k')), issueOf('k', 429)),
      bad: inTurn(...times(5, () => issueOf('k')), issueOf('l', 429)),
    },
  ],
  [
    'one call too many in a second',
    'limit',
    {
      good: inTurn(...times(10, () => search(200)), search(429), search(200, 1_000)),
      bad: inTurn(...times(11, () => search(200))),
    },
  ],
  [
    'a call that is refused too early',
    'limit',
    {
      good: inTurn(...times(10, () => search(200)), search(429)),
      bad: inTurn(...times(9, () => search(200)), search(429)),
    },
  ],
  [
    'an id of one workspace in an answer to another',
    'tenant',
    {
      good: inTurn(push(named('Sale'), success(id, 'x1')), {
        path: `/v5/campaigns/${id}`,
        workspace: 'B',
        status: 404,
        reply: { id },
      }),
      bad: inTurn(push(named('Sale'), success(id, 'x1')), {
        path: '/v5/campaigns/search',
        workspace: 'B',
        reply: { id },
      }),
    },
  ],
  [
    'a message to a phone of another workspace',
    'tenant',
    {
      good: [...inTurn(push(named('Sale'), success(id, 'x1'))), ...toPhone('A')],
      bad: [...inTurn(push(named('Sale'), success(id, 'x1'))), ...toPhone('B')],
    },
  ],
];

function toPhone(workspace: string): Line[] {
  const device = { kind: 'device', workspace, user: 'u', address: 'd', platform: 'IOS' };
  return [device, { kind: 'message', campaign: id, run: 'r', device: 'd', address: 'd', collapse: 'k', message: 'm' }];
}

describe('the checker of objects, limits and tenants', () => {
  test.each(pairs)('finds %s (%s), and nothing in a history without it', (_what, rule, { good, bad }) => {
    expect(brokenRules(good)).toEqual([]);
    expect(brokenRules(bad)).toContain(rule);
  });
});

describe('linearize', () => {
  const write = (value: number, [begin, end]: [number, number]): Operation<number> => ({
    ...{ begin, end, isSure: true, show: `write ${value}`, apply: () => [value] },
  });
  const expectRead = (value: number, [begin, end]: [number, number]): Operation<number> => ({
    ...{ begin, end, isSure: true, show: `read ${value}`, apply: (state: number) => (state === value ? [state] : []) },
  });

  test('lets a read that overlaps a write see either value, but not the old one after the new one', () => {
    const old = [write(1, [0, 10]), expectRead(0, [1, 2]), expectRead(1, [3, 4])];
    const flicker = [write(1, [0, 10]), expectRead(1, [1, 2]), expectRead(0, [3, 4])];
    expect(linearize(old, 0)).toEqual({ kind: 'yes' });
    expect(linearize(flicker, 0)).toMatchObject({ kind: 'no' });
  });

  test('finds a lost update of two increments', () => {
    const add = (answer: number, span: [number, number]): Operation<number> => ({
      ...{ begin: span[0], end: span[1], isSure: true, show: `add → ${answer}` },
      apply: (state) => (state + 1 === answer ? [answer] : []),
    });
    expect(linearize([add(1, [0, 9]), add(2, [1, 9])], 0)).toEqual({ kind: 'yes' });
    expect(linearize([add(1, [0, 9]), add(1, [1, 9])], 0)).toMatchObject({ kind: 'no' });
  });

  test('lets an operation without an answer take effect late, or never', () => {
    const unsure = { ...write(7, [0, 1]), isSure: false };
    expect(linearize([unsure, expectRead(0, [2, 3]), expectRead(7, [4, 5])], 0)).toEqual({ kind: 'yes' });
    expect(linearize([unsure, expectRead(0, [2, 3])], 0)).toEqual({ kind: 'yes' });
    expect(linearize([unsure, expectRead(7, [2, 3]), expectRead(0, [4, 5])], 0)).toMatchObject({ kind: 'no' });
  });

  test('reports an object with too many orders as undecided, never as correct', () => {
    // All at once, and the last read is impossible: every subset has to be tried.
    const writes = Array.from({ length: 18 }, (_, value) => write(value, [0, 100]));
    expect(linearize([...writes, expectRead(-1, [0, 100])], 0)).toEqual({ kind: 'undecided' });
  });
});
