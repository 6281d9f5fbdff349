import { describe, expect, test } from 'vitest';
import { changeTexts } from '../../../src/domain/content/texts.ts';
import type { CampaignContent, Platform } from '../../../src/domain/content/content.ts';
import type { TextPlace } from '../../../src/domain/content/texts.ts';
import type { OwnTexts } from '../../../src/domain/template/personalise.ts';
import { makePersonaliser } from '../../../src/domain/template/personalise.ts';

const action = {
  type: 'deeplinking' as const,
  value: 'action value',
  keyValuePairs: { pair: 'pair value' },
};
const locKeys = { titleLocKey: 'key', titleLocArgs: ['argument'] };
const button = { action: 'b', title: 'button title', url: 'button url', iconURL: 'button icon' };
const contents = {
  ANDROID: {
    title: 'title',
    message: 'message',
    summary: 'summary',
    channelId: 'channel',
    groupKey: 'group',
    collapseReplaceKey: 'replace',
    richContent: [{ type: 'image' as const, value: 'image' }],
    defaultAction: action,
    additionalActions: [
      { type: 'copy' as const, value: 'copied', name: 'copy name', iconUrl: 'copy icon' },
      { type: 'snooze' as const, value: '', name: '' },
    ],
    options: { icon: 'icon', locKeys },
    overrides: { fcm: { data: { a: ['override', 1, null] } } },
  },
  IOS: {
    title: 'title',
    message: 'message',
    subtitle: 'subtitle',
    enableBadge: false,
    richContent: [],
    additionalActions: [{ category: 'category' }],
    options: { additionalActions: [button] },
    overrides: { apns: { headers: { 'apns-priority': '5' } } },
  },
  WEB: {
    title: 'title',
    message: 'message',
    redirectUrl: 'redirect',
    iconUrl: 'icon',
    imageUrl: 'image',
    autoDismiss: true,
    options: { badgeURL: 'badge', additionalActions: [button], tag: 'tag' },
  },
};
const web = ['https:', 'http:'];

const places: Record<Platform, Record<string, Omit<TextPlace, 'field'>>> = {
  ANDROID: {
    'options.locKeys.titleLocArgs[0]': { longest: 1_024, isRequired: false },
    'providerOverrides.fcm.data.a[0]': { longest: 4_096, isRequired: false },
    title: { longest: 4_096, isRequired: true },
    message: { longest: 4_096, isRequired: true },
    summary: { longest: 4_096, isRequired: false },
    collapseReplaceKey: { longest: 256, isRequired: true },
    'richContent[0].value': { longest: 2_048, isRequired: false },
    'defaultAction.value': { longest: 2_048, isRequired: true },
    'defaultAction.keyValuePairs.pair': { longest: 4_096, isRequired: false },
    'additionalActions[0].iconUrl': { longest: 2_048, schemes: web, isRequired: false },
    'additionalActions[0].name': { longest: 256, isRequired: true },
    'additionalActions[0].value': { longest: 2_048, isRequired: true },
    'additionalActions[1].name': { longest: 256, isRequired: false },
    'additionalActions[1].value': { longest: 2_048, isRequired: false },
  },
  IOS: {
    'options.additionalActions[0].iconURL': { longest: 2_048, schemes: ['https:'], isRequired: false },
    'options.additionalActions[0].title': { longest: 64, isRequired: true },
    'options.additionalActions[0].url': { longest: 2_048, schemes: 'web and apps', isRequired: true },
    'providerOverrides.apns.headers.apns-priority': { longest: 4_096, isRequired: false },
    title: { longest: 4_096, isRequired: true },
    message: { longest: 4_096, isRequired: true },
    subtitle: { longest: 4_096, isRequired: false },
  },
  WEB: {
    imageUrl: { longest: 2_048, schemes: ['https:'], isRequired: false },
    'options.badgeURL': { longest: 2_048, schemes: ['https:'], isRequired: false },
    'options.additionalActions[0].iconURL': { longest: 2_048, schemes: ['https:'], isRequired: false },
    'options.additionalActions[0].title': { longest: 64, isRequired: true },
    'options.additionalActions[0].url': { longest: 2_048, schemes: web, isRequired: true },
    title: { longest: 4_096, isRequired: true },
    message: { longest: 4_096, isRequired: true },
    redirectUrl: { longest: 2_048, schemes: web, isRequired: true },
    iconUrl: { longest: 2_048, schemes: web, isRequired: true },
  },
};
const platforms = ['ANDROID', 'IOS', 'WEB'] as const;

describe('the texts of a content that may be personalized', () => {
  test.each(platforms)('are listed with the required ones: %s', (platform) => {
    const seen: Record<string, Omit<TextPlace, 'field'>> = {};
    const change = (text: string, { field, ...rest }: TextPlace): string => {
      seen[field] = rest;
      return text;
    };
    expect(changeTexts(platform, { content: contents[platform], change })).toStrictEqual(contents[platform]);
    expect(seen).toStrictEqual(places[platform]);
  });

  test.each(platforms)('are each replaced, and nothing else: %s', (platform) => {
    const count = Object.keys(places[platform]).length;
    const changed = changeTexts(platform, { content: contents[platform], change: (_text, { field }) => `<${field}>` });
    expect(JSON.stringify(changed).match(/"<[^>]+>"/g)).toHaveLength(count);
    const kept = changeTexts(platform, { content: changed, change: (text) => text });
    expect(kept).toStrictEqual(changed);
  });

  test.each<[Platform, object]>([
    [
      'ANDROID',
      {
        ...contents.ANDROID,
        summary: undefined,
        richContent: [],
        defaultAction: { ...action, keyValuePairs: { pair: '' } },
        additionalActions: [
          { type: 'copy', value: 'copied', name: 'copy name' },
          { type: 'snooze', value: undefined, name: undefined },
        ],
        options: { icon: 'icon', locKeys: { titleLocKey: 'key', titleLocArgs: [''] } },
        overrides: { fcm: { data: { a: ['', 1, null] } } },
      },
    ],
    [
      'IOS',
      {
        ...contents.IOS,
        subtitle: undefined,
        options: { additionalActions: [{ action: 'b', title: 'button title', url: 'button url' }] },
        overrides: { apns: { headers: { 'apns-priority': '' } } },
      },
    ],
    [
      'WEB',
      {
        ...contents.WEB,
        imageUrl: undefined,
        options: { additionalActions: [{ action: 'b', title: 'button title', url: 'button url' }], tag: 'tag' },
      },
    ],
  ])('are left out if optional and empty: %s', (platform, left) => {
    const change = (text: string, { isRequired }: TextPlace): string | undefined => (isRequired ? text : undefined);
    const changed = changeTexts(platform, { content: contents[platform] as never, change });
    expect(JSON.parse(JSON.stringify(changed))).toStrictEqual(JSON.parse(JSON.stringify(left)));
    expect(Object.keys(changed)).not.toContain(
      platform === 'WEB' ? 'imageUrl' : platform === 'IOS' ? 'subtitle' : 'summary',
    );
  });

  test('keep a content with only required texts unchanged', () => {
    const bare = {
      ANDROID: { title: 'T', message: 'M', richContent: [], additionalActions: [] },
      IOS: { title: 'T', message: 'M', enableBadge: true, richContent: [], additionalActions: [] },
      WEB: { title: 'T', message: 'M', redirectUrl: 'R', iconUrl: 'I', autoDismiss: false },
    };
    for (const platform of platforms)
      expect(changeTexts(platform, { content: bare[platform], change: (text) => text })).toStrictEqual(bare[platform]);
    expect(() => changeTexts('TV' as Platform, { content: bare.WEB as never, change: (text) => text })).toThrow(
      'unknown platform TV',
    );
  });
});

describe('a rendered content', () => {
  const user = {
    customerId: 'ada',
    attributes: { u_fn: 'Ada', link: ' https://shop.example/17 ', app: 'shop://17', part: 'x'.repeat(1_024) },
  };
  const render = (content: CampaignContent, { platform = 'WEB' as Platform, event = {}, attributes = {} } = {}) => {
    const personaliser = makePersonaliser(content, 'AUTO')!;
    const all = { customerId: 'ada', attributes: { ...user.attributes, ...attributes } };
    const rendered = personaliser.render({ platform, user: all, event });
    return 'fault' in rendered ? rendered : { ...rendered, content: rendered.content, own: rendered.own };
  };
  const browser = (more: object = {}): CampaignContent => ({
    WEB: {
      title: 'T',
      message: 'M',
      redirectUrl: 'https://a.example/',
      iconUrl: 'https://a.example/',
      autoDismiss: false,
      ...more,
    },
  });

  test('has its texts in their places, and URLs without surrounding spaces', () => {
    const rendered = render(
      browser({ title: "Hi {{ UserAttribute['First Name'] }} ", redirectUrl: '{{ UserAttribute.link }}' }),
    );
    expect(rendered).toMatchObject({
      content: { ...browser().WEB, title: 'Hi Ada ', redirectUrl: 'https://shop.example/17' },
    });
    const { own } = rendered as { own: OwnTexts };
    expect(own.texts).toEqual(['Hi Ada ', 'https://shop.example/17']);
    expect(
      [['title'], ['message', 'redirectUrl'], ['message', 'iconUrl'], []].map((fields) => own.shape.isOwn(fields)),
    ).toEqual([true, true, false, false]);
  });

  test('leaves out an optional text that is empty', () => {
    const rendered = render(browser({ imageUrl: "{{ UserAttribute.image|d(' ') }}" }));
    expect(rendered).toMatchObject({ content: browser().WEB });
    expect(Object.keys((rendered as { content: object }).content)).not.toContain('imageUrl');
    expect(rendered).toHaveProperty('own', undefined);
    expect(
      render(browser({ imageUrl: '{{ UserAttribute.image }}' }), { attributes: { image: 'http://a.example/' } }),
    ).toEqual({
      fault: { cause: 'RESULT', field: 'imageUrl', reason: 'is no web address' },
    });
  });

  test.each([
    [browser({ redirectUrl: '{{ UserAttribute.app }}' }), 'redirectUrl', 'is no web address'],
    [browser({ redirectUrl: "{{ ' ' }}" }), 'redirectUrl', 'is empty'],
    [
      browser({ title: '{% for i in range(4) %}{{ UserAttribute.part }}{% endfor %}x' }),
      'title',
      'has more than 4096 characters',
    ],
  ] as const)('reports the place of a failure: %#', (content, field, reason) => {
    expect(render(content as CampaignContent)).toEqual({ fault: { cause: 'RESULT', field, reason } });
  });

  test('may fill a place to its limit', () => {
    expect(
      render(browser({ title: '{{ UserAttribute.long }}' }), { attributes: { long: 'x'.repeat(4_096) } }),
    ).toMatchObject({
      content: { title: 'x'.repeat(4_096) },
    });
  });

  test('opens an app on a phone, and reports what a button needs', () => {
    const ios = (url: string): CampaignContent => ({
      IOS: {
        title: 'T',
        message: 'M',
        enableBadge: false,
        richContent: [],
        additionalActions: [],
        options: { additionalActions: [{ action: 'a', title: 'A', url }] },
      },
    });
    expect(render(ios('{{ UserAttribute.app }}'), { platform: 'IOS' })).toMatchObject({
      content: { options: { additionalActions: [{ url: 'shop://17' }] } },
    });
    expect(render(ios("{{ 'javascript:1' }}"), { platform: 'IOS' })).toEqual({
      fault: {
        cause: 'RESULT',
        field: 'options.additionalActions[0].url',
        reason: 'is no address of the web or of an app',
      },
    });
  });

  test('reads the event that started it, of the user or of the business', () => {
    const texts = browser({ title: '{{ EventAttribute.team }}', message: '{{ BusinessEventAttribute.team }}' });
    expect(render(texts, { event: { team: 'Reds' } })).toMatchObject({ content: { title: 'Reds', message: 'Reds' } });
    expect(render(texts)).toEqual({
      fault: { cause: 'EVENT_ATTRIBUTE', field: 'title', reason: "EventAttribute['team'] has no value" },
    });
    expect(render(browser({ title: '{{ BusinessEventAttribute.toString }}' }))).toEqual({
      fault: {
        cause: 'BUSINESS_EVENT_ATTRIBUTE',
        field: 'title',
        reason: "BusinessEventAttribute['toString'] has no value",
      },
    });
    const { reads, eventReads, userEventReads } = makePersonaliser(texts, 'AUTO')!;
    expect({ reads, eventReads, userEventReads }).toEqual({
      reads: [],
      eventReads: ['team'],
      userEventReads: ['team'],
    });
  });

  test('is the fallback if it fails, with its failure; the first of two failures is reported', () => {
    const own = browser({
      title: '{{ UserAttribute.nick }}',
      fallback: { ...browser().WEB, title: 'Hi {{ UserAttribute.u_fn }}' },
    });
    expect(render(own)).toMatchObject({
      content: { title: 'Hi Ada' },
      instead: { cause: 'USER_ATTRIBUTE', field: 'title', reason: "UserAttribute['nick'] has no value" },
    });
    const both = browser({
      title: '{{ UserAttribute.nick }}',
      fallback: { ...browser().WEB, title: '{{ UserAttribute.other }}' },
    });
    expect(render(both)).toEqual({
      fault: { cause: 'USER_ATTRIBUTE', field: 'title', reason: "UserAttribute['nick'] has no value" },
    });
    expect(render(browser({ title: '{{ UserAttribute.u_fn }}', fallback: browser().WEB }))).not.toHaveProperty(
      'instead',
    );
  });

  test('fails at its place if this version cannot parse it', () => {
    expect(render(browser({ title: '{{ x' }))).toEqual({
      fault: { cause: 'UNKNOWN', field: 'title', reason: '"}}" is missing' },
    });
  });

  test('has the texts of the language, and the rest of the content', () => {
    const content = browser({
      title: '{{ UserAttribute.u_fn }}',
      locales: { de: { title: 'Hallo {{ UserAttribute.u_fn }}' } },
    });
    const personaliser = makePersonaliser(content, 'AUTO')!;
    const of = (language: string | undefined) => personaliser.render({ platform: 'WEB', user, event: {}, language });
    expect(of('de')).toMatchObject({ content: { title: 'Hallo Ada', message: 'M' } });
    expect(of(undefined)).toMatchObject({ content: { title: 'Ada' } });
    expect(of('fr')).toMatchObject({ content: { title: 'Ada' } });
  });

  test('treats a text with only a comment as a template with ON, but not with AUTO', () => {
    const content = browser({ title: 'A{# comment #}' });
    expect(makePersonaliser(content, 'AUTO')).toBeUndefined();
    expect(makePersonaliser(content, 'ON')!.render({ platform: 'WEB', user, event: {} })).toMatchObject({
      content: { title: 'A' },
    });
  });
});
