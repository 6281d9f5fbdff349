import { describe, expect, test } from 'vitest';
import { android, read, web } from './campaign-bodies.ts';
import type { Json } from './campaign-bodies.ts';

const onAndroid = (push: Json): Json => ({
  'basic_details.platforms': ['ANDROID'],
  'campaign_content.content': { push: { android: push } },
});
const onIos = (push: Json): Json => ({
  'basic_details.platforms': ['IOS'],
  'campaign_content.content': { push: { ios: push } },
});
const onWeb = (push: Json): Json => ({ 'campaign_content.content': { push: { web: push } } });
const texts = { title: 'T', message: 'M' };
const bare = { ...texts, richContent: [], additionalActions: [] };
const browser = { ...texts, redirectUrl: 'https://a.example/', iconUrl: 'https://a.example/i.png', autoDismiss: false };
const unavailable = 'is not available in this version';
const at = 'campaign_content.content.push';

describe('the content of a campaign (fact 6.2)', () => {
  test.each<[string, Json, object]>([
    ['the least for Android', onAndroid(android), { ANDROID: bare }],
    [
      'everything for Android',
      onAndroid({
        template_type: 'basic',
        basic_details: {
          ...texts,
          summary: 'S',
          notification_channel: 'news',
          image_url: 'http://a.example/p.png',
          default_click_action: 'DEEPLINKING',
          default_click_action_value: 'shop://17',
          key_value_pairs: [{ key: 'a', value: '1' }, { key: 'b' }],
        },
        buttons: [
          {
            btn_name: 'Call',
            click_action_type: 'call',
            click_action_value: '110',
            icon_url: 'https://a.example/c.png',
          },
          { btn_name: 'Later', click_action_type: 'SNOOZE' },
        ],
        advanced: {
          coupon_code: 'SPRING',
          sound_file: 'bell',
          group_key: `Group key–${'a'.repeat(50)}`,
          collapse_replace_key: 'offer',
          make_notification_sticky: false,
        },
        options: { sticky: true },
      }),
      {
        ANDROID: {
          ...texts,
          summary: 'S',
          channelId: 'news',
          groupKey: `Groupkey${'a'.repeat(37)}`,
          collapseReplaceKey: 'offer',
          richContent: [
            { type: 'image', value: 'http://a.example/p.png' },
            { type: 'coupon', value: 'SPRING' },
            { type: 'sound', value: 'bell' },
          ],
          defaultAction: { type: 'deeplinking', value: 'shop://17', keyValuePairs: { a: '1', b: '' } },
          additionalActions: [
            { type: 'call', name: 'Call', value: '110', iconUrl: 'https://a.example/c.png' },
            { type: 'snooze', name: 'Later', value: '' },
          ],
          options: { sticky: true },
        },
      },
    ],
    ['a group key of marks alone', onAndroid({ ...android, advanced: { group_key: '– –' } }), { ANDROID: bare }],
    ['the least for iPhones', onIos(android), { IOS: { ...bare, enableBadge: false } }],
    [
      'everything for iPhones',
      onIos({
        basic_details: {
          ...texts,
          subtitle: 'S',
          allow_bg_refresh: false,
          rich_media_type: 'video',
          rich_media_value: 'https://a.example/v.mp4',
          default_click_action: 'RICH_LANDING',
          default_click_action_value: 'https://a.example/',
        },
        buttons: [{ button_category: 'offers' }],
        advanced: { enable_ios_badge: true, coupon_code: 'SPRING', sound_file: 'bell', group_key: 'g' },
        options: { contentAvailable: true },
      }),
      {
        IOS: {
          ...texts,
          subtitle: 'S',
          groupKey: 'g',
          enableBadge: true,
          richContent: [
            { type: 'video', value: 'https://a.example/v.mp4' },
            { type: 'coupon', value: 'SPRING' },
            { type: 'sound', value: 'bell' },
          ],
          defaultAction: { type: 'richlanding', value: 'https://a.example/', keyValuePairs: {} },
          additionalActions: [{ category: 'offers' }],
          options: { contentAvailable: true },
        },
      },
    ],
    ...['Image', 'GIF', 'Audio'].map((type): [string, Json, object] => [
      `${type} for iPhones`,
      onIos({ basic_details: { ...texts, rich_media_type: type, rich_media_value: 'https://a.example/m' } }),
      {
        IOS: { ...bare, enableBadge: false, richContent: [{ type: type.toLowerCase(), value: 'https://a.example/m' }] },
      },
    ]),
    ['the least for browsers', {}, { WEB: browser }],
    [
      'everything for browsers',
      onWeb({
        basic_details: { ...web.basic_details, image_url: 'https://a.example/p.png', auto_dismiss_notification: true },
        advanced: { icon_url: 'http://a.example/i.png', icon_image_type: 'ICON_URL' },
        options: { tag: 't' },
      }),
      {
        WEB: {
          ...browser,
          iconUrl: 'http://a.example/i.png',
          imageUrl: 'https://a.example/p.png',
          autoDismiss: true,
          options: { tag: 't' },
        },
      },
    ],
    [
      'a fallback',
      onWeb({ ...web, template_backup: { ...web, basic_details: { ...web.basic_details, title: 'B' } } }),
      { WEB: { ...browser, fallback: { ...browser, title: 'B' } } },
    ],
    [
      'languages of one push, and overrides',
      {
        'campaign_content.content': {
          push: {
            web,
            locales: { de: { web: { title: 'Hallo' } } },
            providerOverrides: { webpush: { payload: { a: 1 } } },
          },
        },
      },
      { WEB: { ...browser, locales: { de: { title: 'Hallo' } }, overrides: { webpush: { payload: { a: 1 } } } } },
    ],
    [
      'two platforms',
      { 'basic_details.platforms': ['WEB', 'ANDROID'], 'campaign_content.content': { push: { web, android } } },
      { ANDROID: bare, WEB: browser },
    ],
  ])('%s', (_name, changes, content) => {
    const { told, definition } = read(changes);
    expect(told).toEqual([]);
    expect(definition!.content).toStrictEqual(content);
    expect(definition!.variants).toBeNull();
  });

  test.each<[string, Json, string[]]>([
    ['no push', { 'campaign_content.content': undefined }, ['campaign_content.content: missing']],
    [
      'another platform',
      { 'campaign_content.content': { push: { web, ios: android } } },
      [`${at}.ios: is not among basic_details.platforms`],
    ],
    [
      'not its platform',
      { 'basic_details.platforms': ['IOS'] },
      [`${at}.ios: missing`, `${at}.web: is not among basic_details.platforms`],
    ],
    [
      'layouts other than BASIC',
      onAndroid({
        ...android,
        template_type: 'TIMER',
        custom_template_id: 'x',
        custom_template_version: 1,
        timer: { a: 1 },
      }),
      [
        'template_type: must be one of BASIC in this version, not "TIMER"',
        `custom_template_id: ${unavailable}`,
        `custom_template_version: ${unavailable}`,
        `timer: ${unavailable}`,
      ].map((told) => `${at}.android.${told}`),
    ],
    [
      'what Android phones do not do',
      onAndroid({
        basic_details: {
          ...texts,
          input_gif_url: 'https://a.example/',
          image_url: 'shop://1',
          notification_channel: '{{ 1 }}',
        },
        advanced: {
          make_notification_sticky: true,
          auto_dismiss_notification: 'x',
          collapse_replace_key: 'a'.repeat(257),
          coupon_code: 'a'.repeat(2_049),
          sound_file: 'a'.repeat(2_049),
          group_key: '{{ 1 }}',
        },
      }),
      [
        `basic_details.input_gif_url: ${unavailable}`,
        `advanced.make_notification_sticky: must be false: true ${unavailable}`,
        `advanced.auto_dismiss_notification: ${unavailable}`,
        'basic_details.notification_channel: cannot be a template',
        'advanced.group_key: cannot be a template',
        'advanced.collapse_replace_key: must have at most 256 characters',
        'basic_details.image_url: must be a URL with https or http',
        'advanced.coupon_code: must have at most 2048 characters',
        'advanced.sound_file: must have at most 2048 characters',
      ].map((told) => `${at}.android.${told}`),
    ],
    [
      'buttons of Android',
      onAndroid({
        ...android,
        buttons: [
          {},
          {
            btn_name: 'a'.repeat(257),
            click_action_type: 'open',
            click_action_value: 'a'.repeat(2_049),
            icon_url: 'shop://1',
          },
        ],
      }),
      [
        '[0].click_action_type: missing',
        '[0].btn_name: missing',
        '[1].click_action_type: must be one of call, snooze, copy, share in this version, not "open"',
        '[1].icon_url: must be a URL with https or http',
        '[1].btn_name: must have at most 256 characters',
        '[1].click_action_value: must have at most 2048 characters',
      ].map((told) => `${at}.android.buttons${told}`),
    ],
    [
      'three buttons',
      onAndroid({ ...android, buttons: Array(3).fill({ btn_name: 'a', click_action_type: 'copy' }) }),
      [`${at}.android.buttons: must be a list of at most 2 items`],
    ],
    ['no title', onAndroid({ basic_details: { message: 'M' } }), [`${at}.android.basic_details.title: missing`]],
    ['no message', onAndroid({ basic_details: { title: 'T' } }), [`${at}.android.basic_details.message: missing`]],
    [
      'an action without value',
      onAndroid({ basic_details: { ...texts, default_click_action: 'NAVIGATE_TO_A_SCREEN' } }),
      [`${at}.android.basic_details.default_click_action_value: missing`],
    ],
    [
      'a value without action',
      onAndroid({
        basic_details: { ...texts, default_click_action_value: 'x', key_value_pairs: [{ key: 'a', value: 'b' }] },
      }),
      [
        `${at}.android.basic_details.default_click_action_value: needs default_click_action`,
        `${at}.android.basic_details.key_value_pairs: needs default_click_action`,
      ],
    ],
    [
      'an action that is none',
      onAndroid({ basic_details: { ...texts, default_click_action: 'JUMP' } }),
      [
        `${at}.android.basic_details.default_click_action: must be one of RICH_LANDING, NAVIGATE_TO_A_SCREEN, DEEPLINKING in this version, not "JUMP"`,
      ],
    ],
    [
      'pairs twice, long or without name',
      onAndroid({
        basic_details: {
          ...texts,
          default_click_action: 'DEEPLINKING',
          default_click_action_value: 'a'.repeat(2_049),
          key_value_pairs: [
            { key: 'a', value: '1' },
            { key: 'a', value: '2' },
            { key: 'a'.repeat(257) },
            { value: 'x' },
          ],
        },
      }),
      [
        'default_click_action_value: must have at most 2048 characters',
        'key_value_pairs[1].key: appears twice',
        'key_value_pairs[2].key: must have at most 256 characters',
        'key_value_pairs[3].key: missing',
        'key_value_pairs[3].key: appears twice',
      ].map((told) => `${at}.android.basic_details.${told}`),
    ],
    [
      'what iPhones do not do',
      onIos({
        ...android,
        basic_details: { ...texts, allow_bg_refresh: true, rich_media_type: 'Image' },
        buttons: [{ button_category: '{{ 1 }}' }],
        advanced: { enable_ios_badge: true },
        options: { badge: { operation: 'clear' }, additionalActions: [{ action: 'a', title: 'A', url: 'shop://1' }] },
      }),
      [
        `basic_details.allow_bg_refresh: must be false: true ${unavailable}`,
        'buttons[0].button_category: cannot be a template',
        'basic_details.rich_media_value: missing',
        'options.badge: cannot be combined with enableIosBadge',
        'options.additionalActions: cannot be combined with a category',
      ].map((told) => `${at}.ios.${told}`),
    ],
    [
      'media without type',
      onIos({ basic_details: { ...texts, rich_media_value: 'https://a.example/' } }),
      [`${at}.ios.basic_details.rich_media_type: missing`],
    ],
    [
      'two buttons of an iPhone',
      onIos({ ...android, buttons: Array(2).fill({ button_category: 'a' }) }),
      [`${at}.ios.buttons: must be a list of at most 1 items`],
    ],
    [
      'what browsers do not do',
      onWeb({
        basic_details: { ...texts, image_url: 'http://a.example/' },
        buttons: [{ title: 'a' }],
        advanced: { icon_image_type: 'DEFAULT' },
      }),
      [
        `buttons: ${unavailable}`,
        'advanced.icon_image_type: must be one of ICON_URL in this version, not "DEFAULT"',
        'basic_details.redirect_url: missing',
        'advanced.icon_url: missing',
        'basic_details.image_url: must be a URL with https',
      ].map((told) => `${at}.web.${told}`),
    ],
    [
      'addresses of apps in a browser',
      onWeb({ basic_details: { ...texts, redirect_url: 'shop://1' }, advanced: { icon_url: 'shop://1' } }),
      ['basic_details.redirect_url', 'advanced.icon_url'].map(
        (name) => `${at}.web.${name}: must be a URL with https or http`,
      ),
    ],
    [
      'a fallback of a fallback',
      onWeb({ ...web, template_backup: { ...web, template_backup: web } }),
      [`${at}.web.template_backup.template_backup: ${unavailable}`],
    ],
  ])('is rejected: %s', (_name, changes, told) => {
    expect(read(changes).told).toEqual(told);
    expect(read(changes).definition).toBeUndefined();
  });

  test('may exist in a draft before it has platforms', () => {
    const { told } = read({ 'basic_details.platforms': undefined, 'campaign_content.content': { push: { android } } });
    expect(told).toEqual(['basic_details.platforms: missing']);
  });
});

describe('variations and locales of a campaign (fact 6.2)', () => {
  const push = (title: string): Json => ({ push: { web: { ...web, basic_details: { ...web.basic_details, title } } } });
  const content = (title: string) => ({ WEB: { ...browser, title } });
  const two = { variation_1: push('A'), variation_2: push('B') };
  const shares = (first: number, second: number): Json => ({
    distribution_type: 'MANUAL',
    no_of_variations: 2,
    manual_distribution_percentage: { variation_1: first, variation_2: second },
  });

  test.each<[string, Json, object | null]>([
    ['one of one', { 'campaign_content.content': { default: { variation_1: push('A') } } }, null],
    [
      'its share of all',
      {
        campaign_content: {
          content: { default: { variation_1: push('A') } },
          variation_details: { no_of_variations: 1, manual_distribution_percentage: { variation_1: 100 } },
        },
      },
      null,
    ],
    [
      'two by shares',
      { campaign_content: { content: { default: two }, variation_details: shares(30, 70) } },
      { locales: [], percents: [30, 70], contents: [[content('A')], [content('B')]] },
    ],
    [
      'one for nobody',
      {
        campaign_content: {
          content: { default: two },
          variation_details: { ...shares(0, 100), distribution_type: undefined },
        },
      },
      { locales: [], percents: [0, 100], contents: [[content('A')], [content('B')]] },
    ],
    [
      'three by what is learned',
      {
        campaign_content: {
          content: { default: { ...two, variation_3: push('C') } },
          variation_details: { distribution_type: 'SHERPA', no_of_variations: 3 },
        },
      },
      {
        locales: [],
        percents: [34, 33, 33],
        contents: [[content('A')], [content('B')], [content('C')]],
        learning: { by: 'CLICKS', floorPercent: 5 },
      },
    ],
    [
      'two by what is learned of a goal',
      {
        campaign_content: {
          content: { default: two },
          variation_details: {
            distribution_type: 'SHERPA',
            no_of_variations: 2,
            sherpa_metric: 'GOAL',
            sherpa_minimum_percentage: 50,
          },
        },
        'conversion_goal_details.goals': [{ goal_name: 'G', goal_event_name: 'E' }],
      },
      {
        locales: [],
        percents: [50, 50],
        contents: [[content('A')], [content('B')]],
        learning: { by: 'GOAL', floorPercent: 50 },
      },
    ],
    [
      'two languages of two, the default first',
      {
        campaign_content: {
          locales: ['default', 'pt-br'],
          content: { 'PT-br': { variation_1: push('PA'), variation_2: push('PB') }, Default: two },
          variation_details: shares(50, 50),
        },
      },
      {
        locales: ['default', 'pt-BR'],
        percents: [50, 50],
        contents: [
          [content('A'), content('PA')],
          [content('B'), content('PB')],
        ],
      },
    ],
  ])('%s', (_name, changes, variants) => {
    const { told, definition } = read(changes);
    expect(told).toEqual([]);
    expect(definition!.variants).toStrictEqual(variants);
    expect(definition!.content).toStrictEqual(content('A'));
  });

  const details = 'campaign_content.variation_details';
  test.each<[string, Json, string[]]>([
    ['a push of several', { [details]: shares(50, 50) }, [`${details}.no_of_variations: must be 1 for content.push`]],
    [
      'a push of languages',
      { 'campaign_content.locales': ['default', 'de'] },
      ['campaign_content.locales: must name the locales of content, and no others'],
    ],
    [
      'a language without a variation',
      {
        campaign_content: {
          content: { default: two, de: { variation_1: push('D') } },
          variation_details: shares(50, 50),
        },
      },
      ['campaign_content.content.de.variation_2.push: missing'],
    ],
    [
      'another name than variation_1',
      { 'campaign_content.content': { default: { variation_1: push('A'), variation_2: push('B') } } },
      ['campaign_content.content.default.variation_2: must be variation_1'],
    ],
    [
      'another name than two',
      { campaign_content: { content: { default: { ...two, b: push('B') } }, variation_details: shares(50, 50) } },
      ['campaign_content.content.default.b: must be variation_1 to variation_2'],
    ],
    [
      'no language tag, and a language twice',
      {
        'campaign_content.content': {
          default: { variation_1: push('A') },
          'a b': { variation_1: push('B') },
          de: { variation_1: push('B') },
          DE: { variation_1: push('B') },
        },
      },
      [
        'campaign_content.content.a b: must be push, default, or a language tag',
        'campaign_content.content.DE: is given twice',
      ],
    ],
    [
      'no default',
      { 'campaign_content.content': { de: { variation_1: push('A') } } },
      ['campaign_content.content.default.variation_1.push: missing'],
    ],
    [
      'other locales than those of its content',
      {
        campaign_content: {
          locales: ['default'],
          content: { default: { variation_1: push('A') }, de: { variation_1: push('B') } },
        },
      },
      ['campaign_content.locales: must name the locales of content, and no others'],
    ],
    [
      'as many others',
      {
        campaign_content: {
          locales: ['default', 'fr'],
          content: { default: { variation_1: push('A') }, de: { variation_1: push('B') } },
        },
      },
      ['campaign_content.locales: must name the locales of content, and no others'],
    ],
    [
      'locales within a locale',
      {
        'campaign_content.content': {
          default: { variation_1: push('A') },
          de: { variation_1: { push: { web, locales: { fr: { web: { title: 'F' } } } } } },
        },
      },
      ['campaign_content.content.de.variation_1.push.locales: cannot be combined with campaign_content.locales'],
    ],
    [
      'ten variations',
      { [details]: { no_of_variations: 10 } },
      [`${details}.no_of_variations: must be a whole number from 1 to 9`],
    ],
    [
      'another distribution',
      { [details]: { distribution_type: 'EVEN' } },
      [`${details}.distribution_type: must be one of MANUAL, SHERPA in this version, not "EVEN"`],
    ],
    [
      'members of what is learned without it',
      { [details]: { sherpa_metric: 'CLICKS', sherpa_minimum_percentage: 5 } },
      [
        `${details}.sherpa_metric: needs distribution_type SHERPA`,
        `${details}.sherpa_minimum_percentage: needs distribution_type SHERPA`,
      ],
    ],
    [
      'one to learn of',
      { [details]: { distribution_type: 'SHERPA' } },
      [`${details}.no_of_variations: must be 2 to 9 with distribution_type SHERPA`],
    ],
    [
      'what cannot be learned by',
      {
        campaign_content: {
          content: { default: two },
          variation_details: {
            distribution_type: 'SHERPA',
            no_of_variations: 2,
            manual_distribution_percentage: { variation_1: 50 },
            sherpa_metric: 'OPENS',
            sherpa_minimum_percentage: 51,
            sherpa_duration: 4,
          },
        },
      },
      [
        `${details}.manual_distribution_percentage: cannot be combined with distribution_type SHERPA`,
        `${details}.sherpa_duration: ${unavailable}`,
        `${details}.sherpa_metric: must be one of CLICKS, GOAL in this version, not "OPENS"`,
        `${details}.sherpa_minimum_percentage: must be a whole number from 0 to 50`,
      ],
    ],
    [
      'a goal to learn of without goals',
      {
        campaign_content: {
          content: { default: two },
          variation_details: { distribution_type: 'SHERPA', no_of_variations: 2, sherpa_metric: 'GOAL' },
        },
      },
      [`${details}.sherpa_metric: needs conversion_goal_details.goals`],
    ],
    [
      'learning of events of users',
      {
        campaign_delivery_type: 'EVENT_TRIGGERED',
        trigger_condition: {
          included_filters: { filter_operator: 'or', filters: [{ filter_type: 'actions', action_name: 'Bought' }] },
          trigger_delay_type: 'ASAP',
        },
        campaign_content: {
          content: { default: two },
          variation_details: { distribution_type: 'SHERPA', no_of_variations: 2 },
        },
      },
      [
        `${details}.distribution_type: must be MANUAL for a campaign of type EVENT_TRIGGERED: its runs are too small to learn from`,
      ],
    ],
    [
      'shares of 99',
      { campaign_content: { content: { default: two }, variation_details: shares(49, 50) } },
      [`${details}.manual_distribution_percentage: must be 100 together`],
    ],
    [
      'no shares',
      { campaign_content: { content: { default: two }, variation_details: { no_of_variations: 2 } } },
      [`${details}.manual_distribution_percentage: missing`],
    ],
    [
      'shares of others',
      {
        campaign_content: {
          content: { default: two },
          variation_details: {
            no_of_variations: 2,
            manual_distribution_percentage: { variation_1: 100, variation_3: 0 },
          },
        },
      },
      [
        `${details}.manual_distribution_percentage.variation_3: must be one of variation_1, variation_2`,
        `${details}.manual_distribution_percentage.variation_2: missing`,
      ],
    ],
    [
      'a share of another than one',
      { [details]: { manual_distribution_percentage: { variation_2: 100 } } },
      [
        `${details}.manual_distribution_percentage.variation_2: must be variation_1`,
        `${details}.manual_distribution_percentage.variation_1: missing`,
        `${details}.manual_distribution_percentage: must be 100 together`,
      ],
    ],
    [
      'shares beyond 100',
      { campaign_content: { content: { default: two }, variation_details: shares(101, -1) } },
      [
        `${details}.manual_distribution_percentage.variation_1: must be a whole number from 0 to 100`,
        `${details}.manual_distribution_percentage.variation_2: must be a whole number from 0 to 100`,
        `${details}.manual_distribution_percentage: must be 100 together`,
      ],
    ],
  ])('are rejected: %s', (_name, changes, told) => expect(read(changes).told).toEqual(told));

  test('may have fifty languages besides the default, and no more', () => {
    const of = (count: number): string[] => {
      const tags = Array.from({ length: count }, (_, index) => [`de-x-a${index}`, { variation_1: push('D') }]);
      return read({ 'campaign_content.content': { default: { variation_1: push('A') }, ...Object.fromEntries(tags) } })
        .told;
    };
    expect(of(50)).toEqual([]);
    expect(of(51)).toEqual(['campaign_content.content: must have at most 50 languages']);
  });
});
