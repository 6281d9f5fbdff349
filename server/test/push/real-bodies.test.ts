import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CampaignContent } from '../../src/domain/content/content.ts';
import { measureContent } from '../../src/engine/fan-out/compose-message.ts';
import { warnOfSizes } from '../../src/http/push/routes.ts';
import { propertyRuns } from '../property-runs.ts';
import { goodBody, makePushBundle } from './push-bundle.ts';
import type { PushBody, PushBundle } from './push-bundle.ts';

/** Members by their path: `payload.ANDROID.summary`. */
type Patch = Record<string, unknown>;
type Row = {
  client: string;
  kind: string;
  sent: Patch;
  /** The same as the interface shows it; without it the members are absent. */
  meant?: Patch;
  /** What a workspace with strict bodies says. */
  refusal: string;
  headers?: Record<string, string>;
};

describe('bodies of real clients', () => {
  const parsing = (fault: string) => `Error parsing parameters: ${fault}`;
  const notAllowed = (field: string) => `Key not of Type List or Value not allowed: ${field}`;
  const text = 'must be a text';
  const object = 'must be an object';
  const flag = 'must be true or false';
  const between = (from: number, to: number) => `must be a whole number from ${from} to ${to}`;

  const one = (path: string, value: unknown, refusal: string): Pick<Row, 'sent' | 'refusal'> => ({
    sent: { [path]: value },
    refusal: refusal === 'list' ? notAllowed(path) : parsing(`${path}: ${refusal}`),
  });
  const instead = (path: string, value: unknown, meant: unknown): Pick<Row, 'sent' | 'meant'> => ({
    sent: { [path]: value },
    meant: { [path]: meant },
  });
  const row = (client: string, kind: string, ...parts: object[]): Row =>
    Object.assign({ client, kind }, ...parts) as Row;

  const image = { type: 'image', value: 'https://shop.example/i.png' };
  const goal = { name: 'Bought', eventName: 'Bought' };

  const rows: Row[] = [
    // Jackson writes null for every field that holds none.
    row('Jackson', 'null text', one('payload.ANDROID.groupKey', null, text)),
    row('Jackson', 'null text', one('payload.ANDROID.channel_id', null, text)),
    row('Jackson', 'null text', one('payload.ANDROID.collapseReplaceKey', null, text)),
    row('Jackson', 'null object', one('payload.ANDROID.defaultAction', null, object)),
    row('Jackson', 'null object', one('payload.ANDROID.fallback', null, object)),
    row('Jackson', 'null list', one('payload.ANDROID.richContent', null, 'list')),
    row('Jackson', 'null list', one('payload.ANDROID.additionalActions', null, 'list')),
    row('Jackson', 'null flag', one('payload.IOS.enableIosBadge', null, flag)),
    row('Jackson', 'null object', one('advancedSettings', null, object)),
    row('Jackson', 'all of a part null', {
      sent: { 'payload.IOS.fallback': { title: null, message: null } },
      refusal: parsing(`payload.IOS.fallback.message: ${text}`),
    }),
    // Gson with serializeNulls, and maps of any values.
    row('Gson', 'null text', one('payload.IOS.subtitle', null, text)),
    row('Gson', 'null text', one('payload.IOS.groupKey', null, text)),
    row('Gson', 'null address', one('payload.WEB.imageURL', null, text)),
    row('Gson', 'null flag', one('payload.WEB.autoDismiss', null, flag)),
    row('Gson', 'null list', one('campaignTags', null, 'list')),
    row('Gson', 'null list', one('conversionGoals', null, 'list')),
    row('Gson', 'number in a pair', {
      ...instead(
        'payload.ANDROID.defaultAction',
        { type: 'deeplinking', value: 'shop://17', kvPairs: { order: 17, gift: true, note: null } },
        { type: 'deeplinking', value: 'shop://17', kvPairs: { order: '17', gift: 'true' } },
      ),
      refusal: parsing(`payload.ANDROID.defaultAction.kvPairs.order: ${text}`),
    }),
    // System.Text.Json with numbers written as texts, and names of enums.
    row('System.Text.Json', 'number as text', instead('advancedSettings.ttl.ANDROID', '60', 60), {
      refusal: parsing(`advancedSettings.ttl.ANDROID: ${between(0, 10_080)}`),
    }),
    row('System.Text.Json', 'number as text', instead('advancedSettings.inboxExpiry', '24', 24), {
      refusal: parsing(`advancedSettings.inboxExpiry: ${between(1, 87_600)}`),
    }),
    row('System.Text.Json', 'number as text', instead('advancedSettings.notificationPrioritySettings.iOS', '5', 5), {
      refusal: notAllowed('advancedSettings.notificationPrioritySettings.iOS'),
    }),
    row(
      'System.Text.Json',
      'number as text',
      instead('payload.IOS.options', { relevanceScore: '0.7' }, { relevanceScore: 0.7 }),
      {
        refusal: parsing('payload.IOS.options.relevanceScore: must be a number from 0 to 1'),
      },
    ),
    row(
      'System.Text.Json',
      'number as text',
      instead('payload.WEB.options', { timestamp: '1790000000000' }, { timestamp: 1_790_000_000_000 }),
      {
        refusal: parsing(`payload.WEB.options.timestamp: ${between(0, 8_640_000_000_000_000)}`),
      },
    ),
    row('System.Text.Json', 'null number', one('advancedSettings.campaignThrottleTime', null, between(1, 360))),
    row('System.Text.Json', 'flag with a capital', instead('advancedSettings.ignoreFC', 'True', true), {
      refusal: parsing(`advancedSettings.ignoreFC: ${flag}`),
    }),
    row('System.Text.Json', 'word in another case', instead('campaignDelivery.type', 'Soon', 'soon'), {
      refusal: notAllowed('campaignDelivery.type'),
    }),
    row('System.Text.Json', 'word in another case', {
      ...instead('targetPlatform', ['Android', 'iOS', 'Web'], ['ANDROID', 'IOS', 'WEB']),
      refusal: notAllowed('targetPlatform'),
    }),
    row('System.Text.Json', 'null text', one('requestId', null, text)),
    // encoding/json: a nil slice, map or pointer is null, an empty string stays.
    row('encoding/json', 'null list', one('payload.IOS.richContent', null, 'list')),
    row('encoding/json', 'null object', one('advancedSettings.ttl', null, object)),
    row('encoding/json', 'empty address', one('payload.WEB.imageURL', '', 'must be a URL with https')),
    row('encoding/json', 'empty word', one('advancedSettings.iOSTargetDevice', '', 'list')),
    row('encoding/json', 'number as text', instead('advancedSettings.campaignThrottleRpm', '1000', 1000), {
      refusal: parsing(`advancedSettings.campaignThrottleRpm: ${between(1, 10_000_000)}`),
    }),
    row('encoding/json', 'empty word', { sent: { requestType: '' }, refusal: 'Invalid Request Type' }),
    row('encoding/json', 'null object in a list', {
      ...instead('conversionGoals', [{ ...goal, attrs: null }], [goal]),
      refusal: parsing(`conversionGoals[0].attrs: ${object}`),
    }),
    // axios sends what a form holds.
    row('axios', 'empty flag', one('advancedSettings.bypassDND', '', flag)),
    row('axios', 'empty number', one('advancedSettings.inboxExpiry', '', between(1, 87_600))),
    row('axios', 'word in another case', instead('targetAudience', 'all users', 'All Users'), {
      refusal: notAllowed('targetAudience'),
    }),
    row(
      'axios',
      'word in another case',
      instead('payload.ANDROID.richContent', [{ ...image, type: 'Image' }], [image]),
      {
        refusal: notAllowed('payload.ANDROID.richContent[0].type'),
      },
    ),
    row('axios', 'word in another case', {
      ...instead('advancedSettings.notificationPrioritySettings', { Android: 'low', iOS: null }, { Android: 'Low' }),
      refusal: notAllowed('advancedSettings.notificationPrioritySettings.Android'),
    }),
    row('axios', 'header in another case', {
      sent: {},
      headers: { 'x-svc-query-type': 'All Users' },
      refusal: parsing('X-SVC-Query-Type: differs from targetAudience'),
    }),
    row('axios', 'null in a delivery', {
      ...instead(
        'campaignDelivery',
        { type: 'later', date: '03/02/2026', time: '10:00 AM', timezone: null },
        { type: 'later', date: '03/02/2026', time: '10:00 AM' },
      ),
      refusal: parsing('campaignDelivery.timezone: is not a time-zone name'),
    }),
    // PHP: an empty array is a list, whatever it was to be.
    row('PHP', 'empty list for an object', one('payload.ANDROID.fallback', [], object)),
    row('PHP', 'empty list for an object', one('advancedSettings', [], object)),
    row('PHP', 'empty list for an object', one('advancedSettings.notificationPrioritySettings', [], object)),
    row('PHP', 'empty list for an object', {
      ...instead(
        'payload.IOS.defaultAction',
        { type: 'navigation', value: 'Cart', kvPairs: [] },
        { type: 'navigation', value: 'Cart' },
      ),
      refusal: parsing(`payload.IOS.defaultAction.kvPairs: ${object}`),
    }),
    row('PHP', 'empty object', {
      sent: { 'payload.IOS.defaultAction': {} },
      refusal: parsing('payload.IOS.defaultAction.type: is required'),
    }),
    row('PHP', 'flag in capitals', instead('advancedSettings.useJinjaPersonalization', 'FALSE', false), {
      refusal: parsing(`advancedSettings.useJinjaPersonalization: ${flag}`),
    }),
    row('PHP', 'what does not exist here', {
      sent: { 'advancedSettings.pushAmp+': true },
      refusal: parsing('advancedSettings.pushAmp+: this value is not available in this version'),
    }),
  ];

  const texts = { title: 'Title', message: 'Text' };
  const whole: PushBody = goodBody({
    targetPlatform: ['ANDROID', 'IOS', 'WEB'],
    payload: {
      ANDROID: { ...texts },
      IOS: { ...texts },
      WEB: { ...texts, redirectURL: 'https://shop.example/', iconURL: 'https://shop.example/icon.png' },
    },
  });

  let lenient: PushBundle;
  let strict: PushBundle;
  let names = 0;
  beforeAll(async () => {
    [lenient, strict] = await Promise.all([
      makePushBundle({ pushBodies: 'lenient' }),
      makePushBundle({ pushBodies: 'strict' }),
    ]);
  });
  afterAll(() => Promise.all([lenient?.end(), strict?.end()]));

  const make = (patch: Patch): PushBody => apply({ ...whole, campaignName: `Campaign number ${(names += 1)}` }, patch);

  /** What is stored of a push, but for its names. */
  async function store(patch: Patch, headers: Record<string, string> = {}) {
    const answer = await lenient.send(make(patch), { headers });
    const { status, cid, Error_Message: fault } = answer.json();
    const [stored] = await lenient.database`
      select campaigns.audience, campaigns.platforms, campaigns.content, campaigns.settings, campaigns.tags, campaigns.timing,
        campaigns.conversion_goals, campaigns.delivery_type
      from campaigns where id = ${cid ?? ''}`;
    return { outcome: `${status} ${fault ?? ''}`.trim(), stored, warning: answer.headers['x-svc-warning'] };
  }

  test('number forty, from six serializers', () => {
    expect(rows.length).toBeGreaterThanOrEqual(40);
    expect(new Set(rows.map(({ client }) => client)).size).toBe(6);
  });

  test.each(rows)('are parsed: $client, $kind: $sent $headers', async ({ sent, meant = {}, headers, refusal }) => {
    const [taken, reference] = [await store(sent, headers), await store(meant)];
    expect(taken.outcome).toBe('Success');
    expect(taken.stored).toEqual(reference.stored);
    expect(taken.warning).toBe(
      'advancedSettings.pushAmp+' in sent ? 'advancedSettings.pushAmp+ has no effect here' : undefined,
    );
    const before = await strict.countRows();
    const refused = (await strict.send(make(sent), { headers: headers ?? {} })).json();
    expect([refused.status, refused.Error_Message]).toEqual(['Fail', refusal]);
    expect(await strict.countRows()).toEqual(before);
    expect((await strict.send(make(meant))).json().status).toBe('Success');
  });

  test('are rejected if they are ambiguous, by lenient workspaces too', async () => {
    const refusals: [Patch, string][] = [
      [{ 'payload.ANDROID.title': null }, parsing('payload.ANDROID.title: is required')],
      [{ 'payload.ANDROID.title': 5 }, parsing(`payload.ANDROID.title: ${text}`)],
      [{ 'advancedSettings.ttl.ANDROID': '60 min' }, parsing(`advancedSettings.ttl.ANDROID: ${between(0, 10_080)}`)],
      [{ 'advancedSettings.ttl.ANDROID': true }, parsing(`advancedSettings.ttl.ANDROID: ${between(0, 10_080)}`)],
      [{ 'advancedSettings.ignoreFC': 1 }, parsing(`advancedSettings.ignoreFC: ${flag}`)],
      [{ 'campaignDelivery.type': 'now' }, notAllowed('campaignDelivery.type')],
      [{ targetPlatform: ['ANDROID', 'WINDOWS'] }, notAllowed('targetPlatform')],
      [{ campaignTags: [null] }, parsing(`campaignTags[0]: ${text}`)],
      [{ requestType: 'report' }, 'Invalid Request Type'],
    ];
    for (const [patch, message] of refusals)
      expect((await store(patch)).outcome, JSON.stringify(patch)).toBe(`Fail ${message}`);
  });

  test('join the campaign of audience User in any case; a null identity in a v2.1 body does not conflict', async () => {
    await lenient.addUser('17');
    const user = {
      attribute: 'USER_ATTRIBUTE_UNIQUE_ID',
      comparisonParameter: 'IS',
      attributeValue: 17,
      isCustom: null,
    };
    const body = { ...whole, campaignName: 'Joined by all', targetUserAttributes: user, appId: null, signature: '' };
    const cids = new Set<string>();
    for (const targetAudience of ['User', 'USER', 'user']) {
      const answer = (await lenient.send({ ...body, targetAudience })).json();
      expect(answer.Error_Message).toBeUndefined();
      cids.add(answer.cid);
    }
    expect(cids.size).toBe(1);
    expect((await strict.send(make({ appId: null }))).json().Error_Message).toBe('Invalid appId');
    expect((await strict.send(make({ signature: '' }))).json().Error_Message).toBe('Signature is not verified');
  });
});

describe('warnings of sizes', () => {
  let bundle: PushBundle;
  let names = 0;
  beforeAll(async () => {
    bundle = await makePushBundle();
  });
  afterAll(() => bundle?.end());

  const web = { redirectURL: 'https://shop.example/17', iconURL: 'https://shop.example/i.png' };

  const texts = (length: number, more: object = {}) => ({ title: 'Order 17', message: 'x'.repeat(length), ...more });

  test.each<[string, object, RegExp]>([
    ['Android', { ANDROID: texts(4_000) }, /^payload\.ANDROID makes 4\d\d\d bytes; the limit is 4096$/],
    ['iPhones', { IOS: texts(4_000) }, /^payload\.IOS makes 4\d\d\d bytes; the limit is 4096$/],
    ['browsers', { WEB: texts(4_000, web) }, /^payload\.WEB makes 4\d\d\d bytes; the limit is 3993$/],
    [
      'Firefox on Android alone',
      { WEB: texts(2_900, web) },
      /^payload\.WEB makes 3\d\d\d bytes; the limit is 2967 for Firefox on Android$/,
    ],
    [
      'several platforms, each by itself',
      { ANDROID: texts(10), IOS: texts(4_000), WEB: texts(4_000, web) },
      /^payload\.IOS makes 4\d\d\d bytes; the limit is 4096, payload\.WEB makes 4\d\d\d bytes; the limit is 3993$/,
    ],
    [
      'texts that are personalised, as they stand',
      { ANDROID: texts(4_000, { title: 'Hi {{ UserAttribute["First Name"] }}' }) },
      /^payload\.ANDROID makes 4\d\d\d bytes; the limit is 4096$/,
    ],
  ])('names a plain text that cannot fit in a header: %s', async (_what, payload, warning) => {
    const { told, warning: given } = await send(payload);
    expect(given).toMatch(warning);
    // The body of the answer stays as the contract has it (interface 2.11).
    const { told: usual } = await send({ ANDROID: texts(10) });
    expect(told).toEqual(usual);
  });

  test('reports a fallback that cannot fit as the fallback', async () => {
    const title = 'Hi {{ UserAttribute["First Name"] }}';
    const { told, warning } = await send({ ANDROID: texts(10, { title, fallback: texts(4_000) }) });
    expect(told).toMatchObject({ status: 'Success' });
    expect(warning).toMatch(/^payload\.ANDROID\.fallback makes 4\d\d\d bytes; the limit is 4096$/);
  });

  test('reports nothing that fits', async () => {
    const payload = { ANDROID: texts(2_000), IOS: texts(2_000), WEB: texts(2_000, web) };
    expect((await send(payload)).warning).toBeUndefined();
  });

  const androidPayload = { mode: 'both', pushFrom: 'carillon', dataPrefix: null } as const;
  // The longest that a message can become: the service's own address, before that of the page.
  const defaults = { dataPrefix: 'svc', publicUrl: 'https://push.example.com' };

  test('skips no short content that measuring would report', () => {
    const short = fc.string({ unit: 'binary', maxLength: 700 });
    const contents = fc.record({
      title: short,
      message: short,
      redirectUrl: short.map((text) => `https://a.b/${text}`),
    });
    fc.assert(
      fc.property(contents, fc.constantFrom('ANDROID', 'IOS', 'WEB'), (drawn, platform) => {
        const { redirectUrl, ...given } = drawn;
        const own = {
          ANDROID: { ...given, richContent: [], additionalActions: [] },
          IOS: { ...given, richContent: [], additionalActions: [], enableBadge: true },
          WEB: { ...given, redirectUrl, iconUrl: 'https://a.b/i' },
        }[platform];
        const content = { [platform]: own } as unknown as CampaignContent;
        const measure: Parameters<typeof warnOfSizes>[1]['measure'] = (shown) => measureContent(shown, defaults);
        const measured = measureContent(
          { workspaceId: 'WORKSPACE1', androidPayload, platform, content: own } as never,
          defaults,
        );
        const warnings = warnOfSizes({ content }, { measure, workspaceId: 'WORKSPACE1', androidPayload });
        expect(warnings).toHaveLength(measured.bytes > measured.maxEverywhere ? 1 : 0);
      }),
      { numRuns: propertyRuns(300) },
    );
  });

  async function send(payload: object, more: object = {}) {
    const campaignName = `Sized number ${(names += 1)}`;
    const answer = await bundle.send(
      goodBody({ campaignName, targetPlatform: Object.keys(payload), payload, ...more }),
    );
    const { status, ...ids } = answer.json() as Record<string, unknown>;
    return {
      told: { status, members: Object.keys(ids) },
      warning: answer.headers['x-svc-warning'] as string | undefined,
    };
  }
});

function apply(body: PushBody, patch: Patch): PushBody {
  const changed = structuredClone(body);
  for (const [path, value] of Object.entries(patch)) {
    const names = path.split('.');
    let part = changed as Record<string, any>;
    for (const name of names.slice(0, -1)) part = part[name] ??= {};
    part[names.at(-1)!] = value;
  }
  return changed;
}
