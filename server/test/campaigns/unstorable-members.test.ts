import { afterAll, beforeAll, expect, test } from 'vitest';
import { campaign, idOf, makeAuthoringBundle } from './authoring-bundle.ts';
import type { AuthoringBundle } from './authoring-bundle.ts';

let bundle: AuthoringBundle;
let draftId: string;
let segmentId: string;
beforeAll(async () => {
  bundle = await makeAuthoringBundle();
  await bundle.addDevices(1);
  draftId = await bundle.draft();
  segmentId = idOf(
    await bundle.segments('POST', '/v3/custom-segments', { name: 'Ours', included_filters: filters(0) }),
  );
});
afterAll(() => bundle.close());

const filters = (number: number) => ({
  filter_operator: 'and',
  filters: [
    { filter_type: 'user_attributes', name: `attribute_${number}`, data_type: 'string', operator: 'exists' },
    { filter_operator: 'or', filter_type: 'nested_filters', filters: [attribute] },
  ],
});
const attribute = { filter_type: 'user_attributes', name: 'city', data_type: 'string', operator: 'exists' };
const segmented = (number: number) => ({
  ...campaign({ basic_details: { name: `Campaign ${number}`, platforms: ['ANDROID'] } }),
  segmentation_details: { included_filters: filters(number), excluded_filters: filters(number) },
});
const bodies: [string, (number: number) => [method: 'POST' | 'PATCH', path: string, body: object]][] = [
  [
    'a filter segment',
    (number) => ['POST', '/v3/custom-segments', { name: `S ${number}`, included_filters: filters(number) }],
  ],
  ['a change of one', (number) => ['PATCH', `/v3/custom-segments/${segmentId}`, { excluded_filters: filters(number) }]],
  ['a draft', (number) => ['POST', '/v5/campaigns', segmented(number)]],
  [
    'a change of one',
    (number) => ['PATCH', `/v5/campaigns/${draftId}`, { ...segmented(number), updated_by: 'ada@example.com' }],
  ],
  ['a campaign of V1', (number) => ['POST', '/v1/campaigns', { ...segmented(number), request_id: `r ${number}` }]],
  ['a business event', (number) => ['POST', '/v1.0/business_event', eventOf(number)]],
  ['a trigger', () => ['POST', '/v5/business-events/triggers', { event_name: 'e', event_attributes: { a: { b: 1 } } }]],
];
const eventOf = (number: number) => ({
  event_name: `event ${number}`,
  event_attributes: [{ attribute_name: 'price', attribute_data_type: 'float' }],
  created_by: 'ada',
});

test.each(bodies)(
  '%s with a member that no column can hold, at any depth, is no fault of ours',
  async (_what, make) => {
    let number = 0;
    const places = pathsOf(make(1)[2]);
    for (const place of places)
      for (const member of [{ 'a\udbff': 'b' }, { 'a\0': 1 }, { a: '\ud800' }, { a: { b: ['\0'] } }]) {
        const [method, path, body] = make((number += 2));
        const call = path.startsWith('/v3') ? bundle.segments : bundle.call;
        const answer = await call(method, path, addAt(body, { place, member }));
        expect(answer.statusCode, `${place.join('.')} ${JSON.stringify(member)}: ${answer.body}`).toBeLessThan(500);
      }
  },
);

type Place = (string | number)[];

/** Where there are objects. */
function pathsOf(value: unknown, place: Place = []): Place[] {
  if (value === null || typeof value !== 'object') return [];
  const inside = Object.entries(value).flatMap(([name, item]) => pathsOf(item, [...place, name]));
  return Array.isArray(value) ? inside : [place, ...inside];
}

function addAt(body: object, { place, member }: { place: Place; member: object }): object {
  const copy = structuredClone(body);
  const found = place.reduce<any>((value, name) => value[name], copy);
  Object.assign(found, member);
  return copy;
}
