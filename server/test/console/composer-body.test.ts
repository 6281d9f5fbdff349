import { describe, expect, test } from 'vitest';
import { attributeNames, markerOf, standardNames } from '../../../console/src/composer/content/attribute-marker.ts';
import {
  audienceKind,
  excludedSegments,
  includedOperator,
  includedSegments,
  namedUsers,
  ofEveryone,
  ofUsers,
  ofSegments,
  withoutSegments,
} from '../../../console/src/composer/audience/audience.ts';
import {
  mergePatchOf,
  otherContents,
  pushPath,
  readAt,
  sentBody,
  writeAt,
} from '../../../console/src/composer/campaign-body.ts';
import { goalOperators } from '../../../console/src/composer/schedule/goal-operators.ts';
import { soonIn } from '../../../console/src/composer/schedule/timing.ts';
import type { CampaignBody } from '../../../client/src/carillon-campaigns.ts';
import { userSource, makePersonaliser } from '../../src/domain/template/personalise.ts';
import { mergeParts } from '../../src/domain/campaign-document/changes.ts';
import { goalOperators as goalOperatorsOfServer } from '../../src/domain/campaigns/conversions.ts';

const write = (body: CampaignBody, changes: Record<string, unknown>): CampaignBody =>
  Object.entries(changes).reduce((next, [path, value]) => writeAt(next, path, value), body);

describe('a member of a campaign', () => {
  test('is read, written and taken away by the path that the server names it by', () => {
    const body = writeAt({}, 'basic_details.name', 'Spring');
    const goal = writeAt(body, 'conversion_goal_details.goals[1].goal_name', 'Bought');
    expect(readAt(goal, 'basic_details.name')).toBe('Spring');
    expect(readAt(goal, 'conversion_goal_details.goals[0].goal_name')).toBe('Bought');
    expect(writeAt(goal, 'conversion_goal_details', undefined)).toEqual(body);
    expect(readAt(body, 'basic_details.name.first')).toBeUndefined();
    // What was there is not changed in place.
    expect(body).toEqual({ basic_details: { name: 'Spring' } });
  });
});

test('contents in other locales and variations are named, and stay when the one shown is changed', () => {
  const push = { android: { basic_details: { title: 'T' } } };
  const both = { variation_1: { push }, variation_2: { push } };
  const body: CampaignBody = { campaign_content: { content: { default: both, pt: both } } };
  expect(otherContents(body)).toEqual(['default, variation_2', 'pt, variation_1', 'pt, variation_2']);
  expect(otherContents({ campaign_content: { content: { push } } })).toEqual([]);
  const changed = writeAt(body, `${pushPath(body)}.android.basic_details.title`, 'New');
  expect(readAt(changed, 'campaign_content.content.default.variation_1.push.android.basic_details.title')).toBe('New');
  expect(readAt(changed, 'campaign_content.content.pt')).toEqual(both);
  expect(readAt(changed, 'campaign_content.content.default.variation_2')).toEqual({ push });
});

describe('what is sent', () => {
  test('leaves out what the server takes for not sent, and keeps what says no', () => {
    const body = {
      basic_details: { name: '', tags: [], platforms: ['IOS'] },
      advanced: { a: { b: null } },
      flag: false,
      none: 0,
    };
    expect(sentBody(body as CampaignBody)).toEqual({ basic_details: { platforms: ['IOS'] }, flag: false, none: 0 });
  });

  test.each<[string, CampaignBody, CampaignBody]>([
    ['nothing', { basic_details: { name: 'A', tags: ['x'] } }, { basic_details: { tags: ['x'], name: 'A' } }],
    ['a text', { basic_details: { name: 'A' } }, { basic_details: { name: 'B' } }],
    ['a member that goes', { basic_details: { name: 'A' }, advanced: { a: 1 } }, { basic_details: { name: 'A' } }],
    ['a list', { basic_details: { tags: ['x', 'y'] } }, { basic_details: { tags: ['y'] } }],
    ['an object for a text', { advanced: { a: 'x' } }, { advanced: { a: { b: 1 } } }],
  ])('of a change is a merge patch that makes of the one the other: %s', (_name, before, after) => {
    const patch = mergePatchOf(before, after);
    expect(mergeParts(before, (patch ?? {}) as Record<string, unknown>)).toEqual(after);
    if (_name === 'nothing') expect(patch).toBeUndefined();
  });
});

describe('an audience', () => {
  const segments = [
    { id: 'a'.repeat(24), name: 'A' },
    { id: 'b'.repeat(24), name: 'B' },
  ];

  test('that is written is read as what it is', () => {
    const all = write({}, ofEveryone());
    expect(audienceKind(all)).toBe('all');
    const some = write(all, ofSegments(segments, 'and'));
    expect([audienceKind(some), includedSegments(some), includedOperator(some)]).toEqual(['segments', segments, 'and']);
    const but = write(some, withoutSegments([segments[1]!]));
    expect([audienceKind(but), excludedSegments(but)]).toEqual(['segments', [segments[1]]]);
    const users = write(all, ofUsers([' ada ', '', 'grace']));
    expect([audienceKind(users), namedUsers(users)]).toEqual(['users', ['ada', 'grace']]);
    expect(write(users, ofEveryone())).toEqual(all);
  });

  test.each([
    [
      'another attribute',
      { filter_type: 'user_attributes', name: 'city', data_type: 'string', operator: 'in', value: ['x'] },
    ],
    ['a segment that is turned round', { filter_type: 'custom_segments', id: 'a', negate: true }],
    ['a group', { filter_type: 'nested_filters', filter_operator: 'and', filters: [] }],
  ])('that the composer does not write is left alone: %s', (_name, filter) => {
    const tree = { filter_operator: 'and', filters: [filter] };
    expect(audienceKind({ segmentation_details: { included_filters: tree } })).toBe('filters');
    const but = { is_all_user_campaign: true, excluded_filters: tree };
    expect(audienceKind({ segmentation_details: but })).toBe('filters');
  });
});

describe('markers of attributes', () => {
  const render = (title: string, attributes: Record<string, unknown>) => {
    const content = { message: 'M', title, richContent: [], additionalActions: [] };
    const made = makePersonaliser({ ANDROID: content }, 'AUTO')!.render({
      platform: 'ANDROID',
      user: { customerId: 'ada', attributes: attributes as never },
      event: {},
    });
    return 'content' in made ? made.content.title : made.fault.reason;
  };

  test('are read by the engine, whatever an attribute is called', () => {
    for (const name of ['city', "it's", 'back\\slash', 'a "word"', 'Größe 1'])
      expect(render(markerOf({ source: 'UserAttribute', name, shown: name }, ''), { [name]: 'here' })).toBe('here');
    const marker = markerOf({ source: 'UserAttribute', name: 'u_fn', shown: 'First Name' }, "it's you");
    expect([render(marker, { u_fn: 'Ada' }), render(marker, {})]).toEqual(['Ada', "it's you"]);
  });

  test('name standard attributes as templates know them', () => {
    for (const [stored, shown] of Object.entries(standardNames)) {
      const source = userSource({ customerId: 'x', attributes: { [stored]: 'value' } });
      expect(source.find(shown)).toBe('value');
    }
    expect(attributeNames(['city', 'u_fn', 'uid']).map(({ shown }) => shown)).toEqual(['First Name', 'ID', 'city']);
  });
});

test('goals are asked with the operators of the server, and with values of its forms', () => {
  const forms = { 'part of a text': 'text' } as Record<string, string>;
  const ofServer = Object.fromEntries(
    Object.entries(goalOperatorsOfServer).map(([type, operators]) => [
      type,
      Object.fromEntries(Object.entries(operators).map(([operator, form]) => [operator, forms[form] ?? form])),
    ]),
  );
  expect(goalOperators).toEqual(ofServer);
});

test('a time that is proposed is the whole hour after the next, in the zone of the workspace', () => {
  expect(soonIn('America/New_York', '2026-11-21T16:10:00Z')).toBe('2026-11-21T13:00');
  expect(soonIn('Asia/Kolkata', '2026-12-31T17:10:00Z')).toBe('2027-01-01T00:30');
});
