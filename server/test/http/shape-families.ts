import fc from 'fast-check';
import { readCampaign } from '../../src/domain/campaign-document/campaign.ts';
import { ServiceError } from '../../src/domain/errors.ts';
import * as authoring from '../../src/http/campaigns/authoring.ts';
import {
  parseChange,
  parseCreate,
  parseV1Status,
  parseV5Status,
  takeParts,
} from '../../src/http/campaigns/authoring.ts';
import { parsePreview, parseTest } from '../../src/http/campaigns/test-and-preview.ts';
import * as tests from '../../src/http/campaigns/test-and-preview.ts';
import { parseMeta, parsePage, parseSearch } from '../../src/http/campaigns/search.ts';
import * as campaigns from '../../src/http/campaigns/search.ts';
import { parsePush } from '../../src/http/push/parse-push.ts';
import * as pushes from '../../src/http/push/parse-push.ts';
import type { Words } from './body-arbitrary.ts';

type Body = Record<string, any>;

/** A published body shape, the reader behind it, and what the shape says in words alone. */
export type ShapeFamily = {
  shape: object;
  /** Throws for what it refuses, or says the faults. */
  read: (body: Body) => { field: string; reason: string }[] | object | void;
  words?: Words;
  /** Makes members agree that the shape cannot hold together. */
  agree?: (body: Body) => Body;
  /** Members whose wrong kinds the reader takes, on purpose or because they are read elsewhere. */
  lenient?: RegExp;
};

const now = new Date('2026-01-01T00:00:00Z');
const urls = ['https://example.com/a.png'];
const prefixes = ['svc'];
const filters = {
  filter_operator: 'and',
  filters: [{ filter_type: 'user_attributes', name: 'city', data_type: 'string', operator: 'exists' }],
};

/** Members of options that exclude each other, or need each other: whole ones. */
const optionWords = {
  ANDROID: [
    {
      deliveryMode: 'data',
      visibility: 'secret',
      color: '#0a7d5a',
      icon: 'ic',
      sticky: true,
      timeoutSeconds: 1,
      badge: { operation: 'set', value: 0 },
      locKeys: { titleLocKey: 'k', titleLocArgs: ['a'], bodyLocKey: 'k', bodyLocArgs: ['a'] },
      directBootOk: true,
      bandwidthConstrainedOk: 'true',
      restrictedSatelliteOk: false,
      analyticsLabel: 'label',
    },
    { badge: { operation: 'clear' } },
    { badge: { operation: 'increment', value: 99 } },
  ],
  IOS: [
    {
      interruptionLevel: 'passive',
      relevanceScore: 0.5,
      targetContentId: 'id',
      filterCriteria: 'work',
      sound: { name: 'bell' },
      contentAvailable: true,
      launchImage: 'image',
      locKeys: { subtitleLocKey: 'k', subtitleLocArgs: ['a'] },
    },
  ],
  WEB: [
    {
      additionalActions: [{ action: 'a', title: 'A button', url: 'https://example.com/a' }],
      badgeURL: 'https://example.com/b.png',
      tag: 'tag',
      renotify: true,
      requireInteraction: true,
      lang: 'en',
      dir: 'auto',
      vibrate: [1, 2],
      timestamp: 1,
      declarative: 'always',
      appBadge: { operation: 'set', value: 3 },
    },
    { silent: true },
  ],
};

/** What an override may not touch stands in no word of a shape. */
const overrides = [
  {
    fcm: { android: { notification: { ticker: 'x', tag: null } } },
    hms: { android: { category: 'EXPRESS' } },
    apns: { headers: { 'apns-priority': '5' }, payload: { aps: { 'thread-id': 'o' } } },
    webpush: { headers: { Urgency: 'high' }, payload: { shelf: [1, null] } },
  },
];

const workspace = {
  timeZone: 'UTC',
  pushBodies: 'strict',
  androidPayload: { mode: 'data', pushFrom: 'carillon', dataPrefix: null },
};

const pushWords: Words = {
  'payload.locales': 'absent',
  'payload.providerOverrides': overrides,
  'payload.ANDROID.options': optionWords.ANDROID,
  'payload.ANDROID.fallback.options': optionWords.ANDROID,
  'payload.IOS.options': optionWords.IOS,
  'payload.IOS.fallback.options': optionWords.IOS,
  'payload.WEB.options': optionWords.WEB,
  'payload.WEB.fallback.options': optionWords.WEB,
  // What is silent has no texts, which the shape requires.
  silent: [false, 'false'],
  Android: ['High', 'Low'],
  iOS: [1, 5, 10],
  appIds: [['default']],
  iOSTargetDevice: ['apns_device_default_push', 'apns_device_provisional_push'],
  preCacheSegment: [false, 'false'],
  'pushAmp+': [false, 'false'],
  redirectURL: urls,
  iconURL: urls,
  imageURL: urls,
  'payload.ANDROID.richContent.type': ['image', 'coupon', 'sound'],
  'payload.ANDROID.fallback.richContent.type': ['image', 'coupon', 'sound'],
  'payload.IOS.richContent.type': ['gif', 'coupon', 'sound'],
  'payload.IOS.fallback.richContent.type': ['gif', 'coupon', 'sound'],
  'payload.ANDROID.additionalActions.type': ['call', 'snooze', 'copy', 'share'],
  'payload.ANDROID.fallback.additionalActions.type': ['call', 'snooze', 'copy', 'share'],
  targetUserAttributes: fc.oneof(
    fc.constant({ attribute: 'city', comparisonParameter: 'is', attributeValue: 'Oslo', isCustom: 'true' }),
    fc.constant({ attribute: 'city', comparisonParameter: 'in', attributeValue: ['Oslo', 'Bern'] }),
  ),
  campaignDelivery: fc.constantFrom<object>(
    { type: 'soon' },
    { type: 'later', date: '01/02/2026', time: '09:30 AM', timezone: 'Europe/Oslo' },
    { type: 'periodic', time: '09:30 AM', endDate: '02/02/2026', repeatAfter: '3' },
  ),
  attrs: fc.constantFrom<object>(
    { name: 'city', type: 'string', filter: 'is', value: 'Oslo' },
    { name: 'city', type: 'string', filter: 'in the following', value: ['Oslo'] },
    { name: 'price', type: 'numeric', filter: 'is greater than', value: 4 },
    { name: 'city', type: 'string', filter: 'exists' },
  ),
};

/** Content for each platform that is named and no other, and of the audience what belongs to it. */
function agreePush({ targetUserAttributes, customSegmentName, ...body }: Body): Body {
  const isContent = (name: string): boolean => ['ANDROID', 'IOS', 'WEB'].includes(name);
  const payload = Object.keys(body.payload).some(isContent)
    ? body.payload
    : { ...body.payload, ANDROID: { message: 'm', title: 't' } };
  return {
    ...body,
    payload,
    targetPlatform: Object.keys(payload).filter(isContent),
    ...(body.targetAudience === 'User'
      ? {
          targetUserAttributes: targetUserAttributes ?? {
            attribute: 'a',
            comparisonParameter: 'is',
            attributeValue: 'b',
          },
        }
      : {}),
    ...(body.targetAudience === 'Custom Segment' ? { customSegmentName: customSegmentName ?? 'VIP' } : {}),
  };
}

const push = (shape: object): ShapeFamily => ({
  shape,
  words: pushWords,
  agree: agreePush,
  // Read before the workspace is known, with refusals of their own: push-endpoints.test.ts.
  // The older `Summary` is read where there is no `summary`.
  lenient: /^(campaignName|appId|signature|requestType)$|\.Summary$/,
  read: (body) =>
    parsePush(body, {
      admitted: { name: 'A name', workspace, existing: undefined } as never,
      now,
      queryType: undefined,
      prefixes,
    }),
});

const searchWords: Words = {
  channels: [['PUSH'], ['PUSH', 'EMAIL']],
  status: [['ACTIVE'], ['SENT', 'STOPPED']],
  'campaign_fields.delivery_type': [['ONE_TIME']],
  campaign_delivery_type: [['ONE_TIME', 'PERIODIC']],
  from_date: ['2026-01-01'],
  to_date: ['2026-01-02', '2026-01-02T10:00:00'],
};

const documentWords: Words = {
  'campaign_content.content.push.locales': [{ de: { android: { title: 'T' }, web: { imageURL: urls[0] } } }],
  'campaign_content.content.push.providerOverrides': overrides,
  'campaign_content.content.push.android.options': optionWords.ANDROID,
  'campaign_content.content.push.android.template_backup.options': optionWords.ANDROID,
  'campaign_content.content.push.ios.options': optionWords.IOS,
  'campaign_content.content.push.ios.template_backup.options': optionWords.IOS,
  'campaign_content.content.push.web.options': optionWords.WEB,
  'campaign_content.content.push.web.template_backup.options': optionWords.WEB,
  channel: ['PUSH'],
  platforms: [['ANDROID', 'IOS', 'WEB']],
  team: ['Default Team'],
  campaign_delivery_type: ['PERIODIC'],
  'campaign_content.content.default': 'absent',
  locales: [['default']],
  variation_details: [{ no_of_variations: 1 }],
  template_type: ['BASIC'],
  default_click_action: ['DEEPLINKING'],
  click_action_type: ['call', 'copy'],
  rich_media_type: ['Image'],
  rich_media_value: urls,
  image_url: urls,
  icon_url: urls,
  redirect_url: urls,
  icon_image_type: ['ICON_URL'],
  included_filters: [filters],
  excluded_filters: [filters],
  delivery_type: ['AT_FIXED_TIME'],
  start_time: ['2026-02-01T09:30:00'],
  expiry_time: ['2026-05-01T09:30:00'],
  timezone: ['Europe/Oslo'],
  sending_frequency: ['MONTHLY'],
  repeat_frequency: [1, 12],
  week_granularity: ['FIRST', 'LAST'],
  repeat_on_days_of_week: [['MONDAY']],
  expire_notification_after_type: ['HOUR'],
  send_with_priority: ['HIGH'],
  apns_priority: ['5', '10'],
  interruption_level: ['ACTIVE'],
  relevance_score: [0],
  metric: ['SENT'],
  metrics: ['SENT'],
  frequency: ['TOTAL', 'INSTANCE'],
  window_unit: ['MINUTES', 'DAYS'],
  window_value: [1, 30],
  goal_event_attribute: [{ name: 'city', type: 'string', operator: 'is', value: 'Oslo' }],
  updated_by: ['somebody'],
};

/** The type and the frequency decide which members are read at all. */
function agreeDocument(body: Body): Body {
  const periodic = body.scheduling_details?.periodic_details;
  if (periodic) periodic.sending_frequency = 'MONTHLY';
  return { ...body, campaign_delivery_type: 'PERIODIC' };
}

const authored = (shape: object, parse: (body: Body) => unknown, words: Words = {}): ShapeFamily => ({
  shape,
  words: { ...documentWords, ...words },
  agree: agreeDocument,
  // The days of a month are counted with `Number`, for which `true` is 1.
  lenient: /repeat_on_date_of_month\[/,
  read(body) {
    const faults = refusedFields(() => parse(body));
    return [...faults, ...readCampaign(takeParts(body)).faults];
  },
});

const testWords: Words = {
  draft_id: 'absent',
  identifier_values: [['a', 'b']],
  platform: ['IOS'],
  locale_name: ['default'],
  variation: ['variation_1', 1],
};
const v1 = { version: 'V1', versioning: 'off' } as const;
const v5 = { version: 'V5', versioning: 'on' } as const;

/**
 * Every body shape whose route switches schema validation off; forms (tokens) and queries hold texts alone. The fuzzer makes
 * its valid bodies of them too.
 */
export const shapeFamilies: Record<string, ShapeFamily> = {
  'push v2': push(pushes.pushBodyV2),
  'push v2.1': push(pushes.pushBodyV21),
  'V1 search': { shape: campaigns.v1SearchBody, words: searchWords, read: (body) => parseSearch(body, v1) },
  'V5 search': { shape: campaigns.v5SearchBody, words: searchWords, read: (body) => parseSearch(body, v5) },
  'V5 search without versions': {
    shape: campaigns.v5SearchBodyWithoutVersions,
    words: searchWords,
    read: (body) => parseSearch(body, { version: 'V5', versioning: 'off' }),
  },
  'V5 meta': {
    shape: campaigns.v5MetaBody,
    words: { ...searchWords, 'campaign_fields.delivery_type': ['ONE_TIME'] },
    // A list is taken for an object without filters.
    lenient: /^campaign_fields$/,
    read: (body) => parseMeta(body, v5),
  },
  'V1 page': { shape: campaigns.v1PageBody, read: (body) => parsePage(body, v1) },
  'V5 page': { shape: campaigns.v5PageBody, read: (body) => parsePage(body, v5) },
  'V1 create': authored(authoring.v1CreateBody, (body) => parseCreate(body, v1)),
  'V5 create': authored(authoring.v5CreateBody, (body) => parseCreate(body, v5)),
  'V1 change': authored(authoring.v1ChangeBody, (body) => parseChange(body, v1)),
  'V5 change': authored(authoring.v5ChangeBody, (body) => parseChange(body, v5)),
  'V1 test': authored(tests.v1TestBody, (body) => parseTest(body, v1), testWords),
  'V5 test': authored(tests.v5TestBody, (body) => parseTest(body, v5), testWords),
  'V5 preview': {
    ...authored(tests.v5PreviewBody, (body) => parsePreview(body), testWords),
    words: { ...documentWords, ...testWords, event_attributes: [{ price: 4 }] },
  },
  'V1 status': {
    shape: authoring.v1StatusBody,
    words: { action: ['STOP', 'PAUSE'] },
    read: (body) => parseV1Status(body),
  },
  'V5 status': {
    shape: authoring.v5StatusBody,
    words: { action: ['STOP', 'PUBLISH'] },
    read: (body) => ({ action: parseV5Status(body, undefined) }),
  },
};

/** Every shape of a body that the families publish, by its name. */
export function publishedBodies(): [name: string, shape: unknown][] {
  return [pushes, campaigns, authoring, tests].flatMap((module) =>
    Object.entries(module).filter(([name]) => /Body/.test(name)),
  );
}

/** What a reader refuses, by field; an error without one counts as the whole body. */
export function refusedFields(read: () => unknown): { field: string; reason: string }[] {
  try {
    const found = read();
    return Array.isArray(found) ? found : [];
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { faults, field = '', reason = error.code } = error.context;
    return faults ?? [{ field, reason }];
  }
}
