import { afterAll, beforeAll, expect, test } from 'vitest';
import { inTransaction } from '../../src/storage/database.ts';
import type { Transaction } from '../../src/storage/database.ts';
import { archiveSegment, lockSegmentsOfWorkspace, unarchiveSegment } from '../../src/storage/segments/segments.ts';
import { isAnybodyWaiting } from '../is-anybody-waiting.ts';
import { makeSegmentBundle, start } from './segment-bundle.ts';
import type { SegmentBundle } from './segment-bundle.ts';

// Another request is halfway: it holds the segments of the workspace and has changed some. Ours begins before it ends.

let bundle: SegmentBundle;
let limited: SegmentBundle;
beforeAll(async () => {
  bundle = await makeSegmentBundle();
  limited = await makeSegmentBundle({ limits: { activeSegments: 1 } });
});
afterAll(async () => {
  await bundle?.end();
  await limited?.end();
});

type Call = Parameters<SegmentBundle['call']>;

async function callWhile(
  { database, workspaceId, call }: SegmentBundle,
  { change, asked }: { change: (tx: Transaction) => Promise<unknown>; asked: Call },
) {
  const settle = await inTransaction(database, async (tx) => {
    await lockSegmentsOfWorkspace(tx, workspaceId);
    await change(tx);
    const answer = call(...asked);
    await expect.poll(() => isAnybodyWaiting(database)).toBe(true);
    return () => answer;
  });
  return settle();
}

const headers = () => ({ 'svc-appkey': bundle.workspaceId, 'svc-dbname': undefined });
const patch = (id: string, body: object): Call => ['PATCH', `/v3/custom-segments/${id}`, { headers: headers(), body }];
let ages = 0;
const olderThan = (value: number) => ({
  filter_operator: 'and',
  filters: [{ filter_type: 'user_attributes', name: 'age', data_type: 'double', operator: 'greaterThan', value }],
});
async function create(name: string, filters: object = olderThan((ages += 1))): Promise<string> {
  const body = { name, included_filters: filters };
  return (await bundle.call('POST', '/v3/custom-segments', { headers: headers(), body })).json().data.id as string;
}

test('a name that another change takes first is told as taken', async () => {
  const [first, second] = [await create('First'), await create('Second')];
  const answer = await callWhile(bundle, {
    change: (tx) => tx`update segments set name = 'Both' where id = ${first}`,
    asked: patch(second, { name: 'Both' }),
  });
  expect([answer.statusCode, answer.json().error.code]).toEqual([409, 'Resource not created']);
  expect((await bundle.segment('Second')).id).toBe(second);
});

test('filters that another segment has first are told with its name', async () => {
  const filters = olderThan(50);
  const [shelved, changed] = [await create('Shelved', filters), await create('Changed')];
  await inTransaction(bundle.database, (tx) => archiveSegment(tx, { id: shelved, at: start }));
  const answer = await callWhile(bundle, {
    change: (tx) => unarchiveSegment(tx, { id: shelved, at: start }),
    asked: patch(changed, { included_filters: filters }),
  });
  expect([answer.statusCode, answer.json().error.existing_cs_name]).toEqual([409, 'Shelved']);
});

test('two changes at once make no circle: the one that is later is refused', async () => {
  const [one, other] = [await create('One of a circle'), await create('Other of a circle')];
  const refer = (id: string) => ({
    filter_operator: 'or',
    filters: [{ filter_type: 'custom_segments', id, name: 'label' }],
  });
  const answer = await callWhile(bundle, {
    change: (tx) => tx`
      update segments set included_filters = ${tx.json(refer(other))}, uses_segments = ${[other]} where id = ${one}`,
    asked: patch(other, { included_filters: refer(one) }),
  });
  expect([answer.statusCode, answer.json().error.code]).toEqual([412, 'Cyclic Entity']);
});

test.each([
  ['is unarchived', archiveSegment, ['PATCH', '/v2/custom-segments/unarchive', { body: { name: 'Active' } }]],
  [
    'that failed is filled anew',
    (tx: Transaction, { id }: { id: string }) =>
      tx`update segments set state = 'FAILED', state_reason = 'none' where id = ${id}`,
    ['PUT', '/v2/custom-segments/file-segment/add-users'],
  ],
] as [string, (tx: Transaction, segment: { id: string; at: Date }) => Promise<unknown>, Call][])(
  'a segment that was active when the request came, and %s, counts against the limit (interface 8)',
  async (_what, change, [method, path, sent]) => {
    const { database, create: createFile, segment } = limited;
    await database`delete from segment_operations`;
    await database`delete from segments`;
    await createFile({ name: 'Waiting' });
    const waiting = (await segment('Waiting')).id as string;
    await inTransaction(database, (tx) => archiveSegment(tx, { id: waiting, at: start }));
    await createFile({ name: 'Active' });
    const active = (await segment('Active')).id as string;
    const { expiry_time: _expiry, ...body } = limited.body({ name: 'Active' });
    const answer = await callWhile(limited, {
      change: async (tx) => {
        await change(tx, { id: active, at: start });
        await unarchiveSegment(tx, { id: waiting, at: start });
      },
      asked: [method, path, sent ?? { body }],
    });
    expect([answer.statusCode, answer.json().title]).toEqual([429, 'Too Many Requests']);
    const [counted] = await database`select count(*) as active from segments where state in ('FILLING', 'READY')`;
    expect(Number(counted!.active)).toBe(1);
  },
);
