import { describe, expect, test } from 'vitest';
import { unknownUser, userSource, makePersonaliser } from '../../src/domain/template/personalise.ts';
import type { CampaignContent } from '../../src/domain/content/content.ts';

const android = (more: object = {}): CampaignContent => ({
  ANDROID: { title: 'T', message: 'M', richContent: [], additionalActions: [], ...more },
});
const user = { customerId: 'ada', attributes: { u_fn: 'Ada', u_em: 'a@b.c', Name: 'own', city: 'Rome' } };

describe('the names of a user’s attributes (fact 3.8)', () => {
  test.each([
    ['First Name', 'Ada'],
    ['u_fn', 'Ada'],
    ['USER_ATTRIBUTE_USER_FIRST_NAME', 'Ada'],
    ['Email (Standard)', 'a@b.c'],
    ['USER_ATTRIBUTE_USER_EMAIL', 'a@b.c'],
    ['ID', 'ada'],
    ['uid', 'ada'],
    ['customer_id', 'ada'],
    ['USER_ATTRIBUTE_UNIQUE_ID', 'ada'],
    ['Name', 'own'],
    ['city', 'Rome'],
    ['Last Name', undefined],
    ['toString', undefined],
  ])('%s is %s', (name, value) => {
    expect(userSource(user).find(name)).toBe(value);
  });
});

test('of somebody who is not there any more nothing is known', () => {
  expect(['ID', 'uid', 'u_fn'].map((name) => userSource(unknownUser).find(name))).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

describe('a content', () => {
  test('without templates needs nothing done', () => {
    expect(makePersonaliser(android(), 'AUTO')).toBeUndefined();
    expect(makePersonaliser(android({ title: '{{ x }}' }), 'OFF')).toBeUndefined();
    expect(makePersonaliser(android({ title: '{# x #}' }), 'AUTO')).toBeUndefined();
    expect(makePersonaliser({}, 'ON')).toBeUndefined();
  });

  test('tells which attributes it reads, of the fallback too, under the names they may be stored by', () => {
    const read = makePersonaliser(
      android({
        title: "{{ UserAttribute['First Name'] }}",
        fallback: { ...android({ message: '{{ UserAttribute.city }}{{ BusinessEventAttribute.team }}' }).ANDROID },
      }),
      'AUTO',
    )!;
    expect([read.reads, read.eventReads]).toEqual([['First Name', 'u_fn', 'city'], ['team']]);
    const all = makePersonaliser(android({ title: '{{ UserAttribute.get("a") }}' }), 'AUTO')!;
    expect(all.reads).toBe('all');
  });

  test('names the text that failed, and why', () => {
    const content = android({ richContent: [{ type: 'image', value: '{{ UserAttribute.picture }}' }] });
    const rendered = makePersonaliser(content, 'AUTO')!.render({ platform: 'ANDROID', user, event: {} });
    expect(rendered).toEqual({
      fault: {
        field: 'richContent[0].value',
        cause: 'USER_ATTRIBUTE',
        reason: "UserAttribute['picture'] has no value",
      },
    });
  });

  test.each([
    [
      'longer than its place',
      { collapseReplaceKey: '{% for i in range(300) %}x{% endfor %}' },
      'has more than 256 characters',
    ],
    ['empty where a text is needed', { message: '{{ "" }}' }, 'is empty'],
  ])('that comes out %s fails', (_name, more, reason) => {
    const rendered = makePersonaliser(android(more), 'AUTO')!.render({ platform: 'ANDROID', user, event: {} });
    expect(rendered).toMatchObject({ fault: { cause: 'RESULT', reason } });
  });

  test.each(['javascript:alert(1)', 'data:text/html,x', 'shop', '//shop.example', ''])(
    'leads nowhere but to the web: %s',
    (link) => {
      const web: CampaignContent = {
        WEB: {
          title: 'T',
          message: 'M',
          redirectUrl: '{{ UserAttribute.link }}',
          iconUrl: 'https://a.b/',
          autoDismiss: false,
        },
      };
      const follow = { customerId: 'ada', attributes: { link } };
      const rendered = makePersonaliser(web, 'AUTO')!.render({ platform: 'WEB', user: follow, event: {} });
      expect(rendered).toMatchObject({ fault: { cause: 'RESULT', field: 'redirectUrl' } });
    },
  );

  test('that another version of this server stored and this one cannot read fails, and throws nothing', () => {
    const rendered = makePersonaliser(android({ title: '{{ x' }), 'AUTO')!.render({
      platform: 'ANDROID',
      user,
      event: {},
    });
    expect(rendered).toMatchObject({ fault: { cause: 'UNKNOWN', field: 'title' } });
  });
});
