import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ConsoleClient } from '../../../console/src/api/console-client.ts';
import { estimateUsers, roundToTwoDigits, describeAttributes } from '../../src/domain/segments/preview.ts';
import { startCarillonBundle } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { insertTestWorkspace } from '../test-workspace.ts';
import { openSignedInClient } from './signed-in-client.ts';

let bundle: CarillonBundle;
let client: ConsoleClient;
let workspaceId: string;
beforeAll(async () => {
  bundle = await startCarillonBundle();
  ({ workspaceId } = bundle);
  ({ client } = await openSignedInClient(bundle));
  const users = [
    { city: 'Lisbon', orders: 3, vip: true, joined: '2026-03-01', sizes: ['M', 'L'], born: 'May' },
    { city: 'Lisbon', orders: 12, vip: false, joined: '2026-04-01T10:00:00Z' },
    { city: 'Porto', orders: 1 },
  ];
  for (const [number, attributes] of users.entries())
    await bundle.call('POST', `/v1/customer/${workspaceId}`, {
      headers: bundle.basic(),
      body: { type: 'customer', customer_id: `person-${number}`, attributes },
    });
});
afterAll(() => bundle?.stop());

const condition = (name: string, test: object) => ({
  filter_type: 'user_attributes',
  name,
  data_type: 'string',
  ...test,
});
const inCity = (...value: string[]) => condition('city', { operator: 'in', value });
const all = (...filters: object[]) => ({ filter_operator: 'and', filters });
const ask = (included: object, excluded?: object) => ({
  workspaceId,
  filters: { included_filters: included, ...(excluded && { excluded_filters: excluded }) },
});

describe('filters that are built', () => {
  test('are told in words, counted, and shown by some whom they hold', async () => {
    const asked = ask(
      all(inCity('lisbon')),
      all(condition('orders', { data_type: 'double', operator: 'greaterThan', value: 10 })),
    );
    expect(await client.segments.describeFilter(asked)).toEqual({
      state: 'READABLE',
      words: 'Users for whom city is "lisbon", except those for whom orders is greater than 10.',
    });
    const { length: of } = await bundle.database`select 1 from users where workspace_id = ${workspaceId}`;
    expect(await client.segments.countFilter({ ...asked, isExact: false })).toEqual({
      state: 'COUNTED',
      users: 1,
      of,
      isEstimate: false,
    });
    const sample = await client.segments.sampleFilter(asked);
    expect(sample).toMatchObject({ state: 'FOUND', users: [{ customerId: 'person-0' }] });
    const { users } = sample as Extract<typeof sample, { state: 'FOUND' }>;
    expect((await client.users.read({ workspaceId, id: users[0]!.id })).customerId).toBe('person-0');
  });

  test('that are half written are answered with what is missing and where, and asked of nobody', async () => {
    const half = ask(all(inCity('Porto'), condition('orders', { data_type: 'double', operator: 'lessThan' })));
    const fault = { state: 'UNUSABLE', field: 'included_filters', reason: 'filters[1].value is required' };
    expect(await client.segments.describeFilter(half)).toEqual(fault);
    expect(await client.segments.countFilter({ ...half, isExact: true })).toEqual(fault);
    expect(await client.segments.sampleFilter(half)).toEqual(fault);
    const without = ask(all(inCity('Porto')), { filter_operator: 'and', filters: [] });
    expect(await client.segments.countFilter({ ...without, isExact: false })).toMatchObject({
      field: 'excluded_filters',
    });
    const gone = ask(all({ filter_type: 'custom_segments', id: 'e'.repeat(24) }));
    expect(await client.segments.describeFilter(gone)).toMatchObject({ state: 'UNUSABLE', field: null });
  });

  test('become a segment of the console, with a line in the audit log; a change takes the place of all of them', async () => {
    const { filters } = ask(all(inCity('Porto')));
    const { id } = await client.segments.createFilter({ workspaceId, name: 'In Porto', filters });
    const made = await client.segments.read({ workspaceId, id });
    expect(made).toMatchObject({
      name: 'In Porto',
      kind: 'FILTER',
      source: 'CONSOLE',
      description: 'Users for whom city is "Porto".',
      filters: { included: filters.included_filters, excluded: null },
    });
    // A segment may not refer to itself, and is told so while it is built.
    const circle = ask(all({ filter_type: 'custom_segments', id }));
    expect(await client.segments.countFilter({ ...circle, id, isExact: false })).toMatchObject({ state: 'UNUSABLE' });
    expect(await client.segments.countFilter({ ...circle, isExact: false })).toMatchObject({ users: 1 });

    const next = ask(all(inCity('Lisbon')), all(condition('vip', { data_type: 'bool', operator: 'is', value: true })));
    await client.segments.changeFilter({ workspaceId, id, name: 'Of Lisbon', filters: next.filters });
    const changed = await client.segments.read({ workspaceId, id });
    expect(changed).toMatchObject({
      name: 'Of Lisbon',
      filters: { included: next.filters.included_filters, excluded: next.filters.excluded_filters },
    });
    await client.segments.changeFilter({ workspaceId, id, name: 'Of Lisbon', filters });
    expect((await client.segments.read({ workspaceId, id })).filters).toEqual({
      included: filters.included_filters,
      excluded: null,
    });
    const lines = await client.accounts.listAudit({ workspaceId });
    expect(
      lines.filter(({ objectId }) => objectId === id).map(({ action, objectName }) => [action, objectName]),
    ).toEqual([
      ['segment.change', 'Of Lisbon'],
      ['segment.change', 'Of Lisbon'],
      ['segment.create', 'In Porto'],
    ]);
  });

  test('are refused as by the API: a name or filters that are taken, and another workspace', async () => {
    const { filters } = ask(all(inCity('Faro')));
    await client.segments.createFilter({ workspaceId, name: 'In Faro', filters });
    await expect(client.segments.createFilter({ workspaceId, name: 'Faro again', filters })).rejects.toMatchObject({
      code: 'SEGMENT_FILTERS_TAKEN',
    });
    const other = ask(all(inCity('Braga'))).filters;
    await expect(client.segments.createFilter({ workspaceId, name: 'In Faro', filters: other })).rejects.toMatchObject({
      code: 'SEGMENT_NAME_TAKEN',
    });
    const elsewhere = await insertTestWorkspace(bundle.database, new Date('2026-01-01T00:00:00Z'));
    const { segments } = await client.segments.list(workspaceId);
    const key = { workspaceId: elsewhere, id: segments.find(({ name }) => name === 'In Faro')!.id };
    await expect(client.segments.changeFilter({ ...key, name: 'Mine', filters: other })).rejects.toMatchObject({
      code: 'SEGMENT_ID_NOT_FOUND',
    });
    expect(
      await client.segments.countFilter({ ...ask(all(inCity('Lisbon'))), workspaceId: elsewhere, isExact: true }),
    ).toMatchObject({
      users: 0,
      of: 0,
    });
    expect(await client.segments.listAttributes(elsewhere)).toEqual([]);
    expect(await client.segments.suggestValues({ workspaceId: elsewhere, attribute: 'city', prefix: 'L' })).toEqual([]);
  });
});

test('attributes are known by name, type and the values that some people have; texts by how they begin', async () => {
  const attributes = await client.segments.listAttributes(workspaceId);
  const of = (name: string) => attributes.find((attribute) => attribute.name === name);
  expect(of('city')).toEqual({ name: 'city', type: 'string', values: ['Lisbon', 'Porto'] });
  expect(of('orders')).toEqual({ name: 'orders', type: 'double', values: ['1', '12', '3'] });
  expect(of('vip')).toEqual({ name: 'vip', type: 'bool', values: ['false', 'true'] });
  expect(of('joined')).toMatchObject({ type: 'datetime' });
  expect(of('sizes')).toEqual({ name: 'sizes', type: 'array_string', values: ['L', 'M'] });
  expect(of('born')).toMatchObject({ type: 'string' });
  const suggest = (prefix: string) => client.segments.suggestValues({ workspaceId, attribute: 'city', prefix });
  expect(await suggest('L')).toEqual(['Lisbon']);
  expect(await suggest('Po')).toEqual(['Porto']);
  expect(await suggest('x')).toEqual([]);
});

test('values of a file that name nobody are told by their places: by id, by a text, by a number', async () => {
  const ask = (attributeName: string, values: string[], attributeType: 'string' | 'double' = 'string') =>
    client.segments.findUnmatched({ workspaceId, attributeName, attributeType, values });
  expect(await ask('uid', ['person-0', 'nobody', 'person-2', ''])).toEqual([1, 3]);
  // Two people live there: a value that names both names neither.
  expect(await ask('city', ['Porto', 'Lisbon', 'Faro'])).toEqual([1, 2]);
  expect(await ask('orders', ['12.0', '3', '7', 'three'], 'double')).toEqual([2, 3]);
  expect(await ask('orders', ['12'])).toEqual([0]);
  await expect(ask('uid', Array.from({ length: 5_001 }, String))).rejects.toMatchObject({ status: 400 });
});

test('an estimate has two digits, and is made of no few', () => {
  expect(estimateUsers(399, { share: 1 / 16 })).toBeUndefined();
  expect(estimateUsers(25_982, { share: 1 / 16 })).toBe(420_000);
  expect([0, 7, 99, 123, 99_900, 1_000_000].map(roundToTwoDigits)).toEqual([0, 7, 99, 120, 100_000, 1_000_000]);
});

test('an attribute of several types is of the one that most people have; one that nobody was seen with is a text', () => {
  const seen = [
    { name: 'size', type: 'string', value: 'M', users: 2 },
    { name: 'size', type: 'number', value: '38', users: 5 },
    { name: 'place', type: 'object', value: '{}', users: 9 },
  ];
  expect(describeAttributes(['place', 'rare', 'size'], seen)).toEqual([
    { name: 'place', type: 'string', values: [] },
    { name: 'rare', type: 'string', values: [] },
    { name: 'size', type: 'double', values: ['38'] },
  ]);
});
