import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createKey } from '../../src/app/keys/keys.ts';
import { generateToken } from '../../src/app/tokens/tokens.ts';
import { makeTokenBatches } from '../../src/app/tokens/prove-clients.ts';
import { signPushV2 } from '../../src/domain/crypto/signatures.ts';
import { makeId } from '../../src/domain/ids.ts';
import { inTransaction } from '../../src/storage/database.ts';
import { joinCampaigns } from '../../src/storage/campaigns/campaigns.ts';
import { goodBody, makePushBundle, start, userBody } from './push-bundle.ts';
import type { PushBody, PushBundle } from './push-bundle.ts';
import { propertyRuns } from '../property-runs.ts';

let bundle: PushBundle;
let names = 0;
const fresh = (): string => `Campaign number ${(names += 1)}`;
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

beforeAll(async () => {
  bundle = await makePushBundle();
  await bundle.addUser('ada', { u_em: 'ada@example.com', u_mb: '+4912345', level: 7, town: 'Köln' });
  await bundle.addUser('tim', { u_em: 'tim@example.com', level: 7 });
});
afterAll(() => bundle.end());

async function expectFail(body: PushBody, message: string): Promise<void> {
  const before = await bundle.countRows();
  const answer = await bundle.send(body);
  expect({ status: answer.statusCode, body: answer.json() }).toEqual({
    status: 200,
    body: { status: 'Fail', requestId: '', responseId: expect.stringMatching(uuid), Error_Message: message },
  });
  expect(await bundle.countRows(), 'nothing is stored').toEqual(before);
}

describe('an accepted push (interface 2.11)', () => {
  test('returns Success with cid, an echoed requestId and a new responseId in v2.1, and is stored completely', async () => {
    const answer = await bundle.send(goodBody({ campaignName: fresh(), requestId: 'my-request' }));
    expect(answer.statusCode).toBe(200);
    const body = answer.json();
    expect(body).toEqual({
      status: 'Success',
      requestId: 'my-request',
      responseId: expect.stringMatching(uuid),
      cid: expect.stringMatching(/^[0-9a-f]{24}$/),
    });
    const [row] = await bundle.database`
      select campaigns.status, campaigns.audience, campaigns.created_by, runs.status as run_status, runs.lane,
        push_requests.request_id
      from push_requests join campaigns on campaigns.id = push_requests.campaign_id join runs on runs.id = run_id
      where response_id = ${body.responseId}`;
    expect(row).toEqual({
      status: 'SENDING',
      audience: 'ALL_USERS',
      created_by: 'Shop',
      run_status: 'QUEUED',
      lane: 1,
      request_id: 'my-request',
    });
  });

  test('names in a header what the mode of Android messages does not show', async () => {
    const { appId, database } = bundle;
    const ANDROID = {
      title: 'T',
      message: 'M',
      summary: 'S',
      groupKey: 'orders',
      richContent: [{ type: 'coupon', value: 'SAVE5' }],
      defaultAction: { type: 'deeplinking', value: 'shop://17' },
      additionalActions: [{ type: 'copy', name: 'Copy', value: '17' }],
    };
    const send = () =>
      bundle.send(goodBody({ campaignName: fresh(), targetPlatform: ['ANDROID'], payload: { ANDROID } }));
    expect((await send()).headers['x-svc-warning']).toBeUndefined();
    await database`update workspaces set android_mode = 'both' where id = ${appId}`;
    // A node learns of it within a second: it remembers a workspace so long.
    const warning = await expect
      .poll(async () => (await send()).headers['x-svc-warning'], { timeout: 5_000, interval: 200 })
      .toBeDefined()
      .then(async () => (await send()).headers['x-svc-warning']);
    const fields = ['additionalActions', 'groupKey', 'summary', 'richContent', 'defaultAction'];
    expect(String(warning).split(', ')).toEqual(
      fields.map((field) => `payload.ANDROID.${field} is not shown in mode both while the app is in the background`),
    );
    await database`update workspaces set android_mode = 'data' where id = ${appId}`;
  });

  test('has appId and signature in the body in v2, and is the same command', async () => {
    const name = fresh();
    const answer = await bundle.sendV2(goodBody({ campaignName: name, campaignTags: ['a', 'b'] }));
    expect(answer.json()).toMatchObject({ status: 'Success', requestId: expect.stringMatching(uuid) });
    const [row] = await bundle.database`select tags, platforms from campaigns where id = ${answer.json().cid}`;
    expect(row).toEqual({ tags: ['a', 'b'], platforms: ['ANDROID'] });
  });

  test('never writes the signature of a v2 body to the API log', async () => {
    const name = fresh();
    await bundle.sendV2(goodBody({ campaignName: name }));
    const logged = bundle.calls.at(-1)!.requestBody!;
    expect(logged).toContain(name);
    expect(logged).not.toContain(bundle.sign(name));
  });

  test('never writes the signature of a request that is rejected before parsing to the API log', async () => {
    const post = (payload: string, headers: Record<string, string> = {}, url = '/v2/transaction/sendpush') =>
      bundle.server.inject({
        method: 'POST',
        url,
        headers: { 'content-type': 'application/json', ...headers },
        payload,
      });
    const name = fresh();
    const signature = bundle.sign(name);
    const body = { ...goodBody({ campaignName: name }), appId: bundle.appId, signature };
    const bearer = { authorization: 'Bearer nobody' };
    expect((await post(JSON.stringify(body), bearer)).statusCode).toBe(401);
    const misplaced = { ...body, signature: undefined, Signature: signature };
    for (const refused of [
      JSON.stringify(body).slice(0, -1),
      JSON.stringify([body]),
      JSON.stringify(misplaced),
      JSON.stringify(body)
        .replace('"signature"', String.raw`"sign\u0061ture"`)
        .replace(name, 'abc'),
    ])
      expect((await post(refused)).body).toContain('Fail');
    expect((await post(JSON.stringify(body), {}, '/v3/transaction/sendpush')).statusCode).toBe(404);
    expect(bundle.calls.slice(-6).map((call) => (call.requestBody ?? '').includes(signature))).toEqual(
      Array.from({ length: 6 }, () => false),
    );
  });

  test.each(['A|B name', 'Frühling 🌷 Aktion', 'e\u0301te\u0301!', '  padded name  ', 'שלום עולם'])(
    'verifies the name %s as it was sent',
    async (campaignName) => {
      expect((await bundle.send(goodBody({ campaignName }))).json()).toMatchObject({ status: 'Success' });
      expect(
        (await bundle.send(goodBody({ campaignName: ` ${campaignName}` }))).json(),
        'names compare after trimming (decision D33)',
      ).toMatchObject({
        Error_Message: 'Duplicate campaign name',
      });
    },
  );

  test('marks the signing key as used', async () => {
    await bundle.send(goodBody({ campaignName: fresh() }));
    const [key] =
      await bundle.database`select last_used_at from api_keys where kind = 'push' order by created_at limit 1`;
    expect(key!.last_used_at).toEqual(bundle.clock.now());
  });

  test('treats NFC and NFD spellings as different names (decision D35a)', async () => {
    expect((await bundle.send(goodBody({ campaignName: 'café menu' }))).json().status).toBe('Success');
    expect((await bundle.send(goodBody({ campaignName: 'cafe\u0301 menu' }))).json().status).toBe('Success');
  });

  test('ignores an unknown field at any depth with a warning (decision D5)', async () => {
    const answer = await bundle.send(
      goodBody({
        campaignName: fresh(),
        extra: 1,
        payload: { ANDROID: { title: 'T', message: 'M', ledColour: 'red' } },
      }),
    );
    expect(answer.json().status).toBe('Success');
    expect(answer.headers['x-svc-warning']).toBe('unknown field "payload.ANDROID.ledColour", unknown field "extra"');
    expect(bundle.calls.at(-1)!.facts.warnings).toHaveLength(1);
  });

  test('stores every content field of fact 3.3', async () => {
    const payload = {
      ANDROID: {
        title: 'T',
        message: 'M',
        Summary: 'S',
        channel_id: 'news',
        groupKey: 'Grüße & Küsse 42',
        collapseReplaceKey: 'k',
        richContent: [
          { type: 'image', value: 'https://e.com/i.png' },
          { type: 'sound', value: 'bell' },
        ],
        defaultAction: { type: 'deeplinking', value: 'app://x', kvPairs: { a: 'b' } },
        additionalActions: [
          { type: 'call', value: '+49', name: 'Call', iconURL: 'https://e.com/c.png' },
          { type: 'share', value: 'x', name: 'Share' },
        ],
        fallback: { title: 'F' },
      },
      IOS: {
        title: 'T',
        message: 'M',
        subtitle: 'Sub',
        enableIosBadge: 'true',
        groupKey: 'g',
        richContent: [{ type: 'gif', value: 'https://e.com/g.gif' }],
        additionalActions: [{ category: 'BUY' }],
        fallback: {},
      },
      WEB: {
        title: 'T',
        message: 'M',
        redirectURL: 'https://e.com',
        iconURL: 'https://e.com/i.png',
        imageURL: 'https://e.com/b.png',
        autoDismiss: true,
      },
    };
    const answer = await bundle.send(
      goodBody({ campaignName: fresh(), targetPlatform: ['WEB', 'ANDROID', 'IOS'], payload }),
    );
    const [row] = await bundle.database`select content, platforms from campaigns where id = ${answer.json().cid}`;
    expect(row!.platforms).toEqual(['ANDROID', 'IOS', 'WEB']);
    expect(row!.content).toMatchObject({
      ANDROID: {
        summary: 'S',
        channelId: 'news',
        groupKey: 'GreKsse42',
        collapseReplaceKey: 'k',
        defaultAction: { type: 'deeplinking', value: 'app://x', keyValuePairs: { a: 'b' } },
        additionalActions: [
          { type: 'call', name: 'Call', value: '+49', iconUrl: 'https://e.com/c.png' },
          { type: 'share' },
        ],
        fallback: { title: 'F', message: 'M', summary: 'S' },
      },
      IOS: { subtitle: 'Sub', enableBadge: true, additionalActions: [{ category: 'BUY' }] },
      WEB: {
        redirectUrl: 'https://e.com',
        iconUrl: 'https://e.com/i.png',
        imageUrl: 'https://e.com/b.png',
        autoDismiss: true,
      },
    });
    expect(row!.content.IOS.fallback).toBeUndefined();
  });

  test('stores advanced settings as they will be used', async () => {
    const advancedSettings = {
      ttl: { ANDROID: 60, WEB: 0 },
      notificationPrioritySettings: { Android: 'Low', iOS: 5 },
      ignoreFC: 'true',
      bypassDND: true,
      ignoreMinimumDelay: 'false',
      deliverWhenActive: 'false',
      'pushAmp+': false,
      preCacheSegment: false,
      countFC: false,
      useJinjaPersonalization: false,
      campaignThrottleRpm: 1_000,
      campaignThrottleTime: 30,
      inboxExpiry: 48,
      iOSTargetDevice: 'apns_device_non_provisional_push',
    };
    const answer = await bundle.send(
      goodBody({
        campaignName: fresh(),
        advancedSettings,
        payload: { ANDROID: { title: '{{ as is }}', message: 'M' } },
      }),
    );
    const [row] = await bundle.database`select settings from campaigns where id = ${answer.json().cid}`;
    expect(row!.settings).toEqual({
      ttlMinutes: { ANDROID: 60, IOS: 2160, WEB: 0 },
      androidPriority: 'NORMAL',
      iosPriority: 5,
      webUrgency: 'normal',
      devicesPerMinute: 1_000,
      spreadMinutes: 30,
      inboxExpiryHours: 48,
      iosDevices: 'NON_PROVISIONAL',
      templates: 'OFF',
      ignoresCap: true,
      countsForCap: false,
      bypassesQuietHours: true,
      ignoresMinimumDelay: false,
      ownDelayHours: null,
      isSilent: false,
    });
  });

  test('obeys caps and quiet hours by default, and counts (fact 3.4)', async () => {
    const answer = await bundle.send(goodBody({ campaignName: fresh(), advancedSettings: { countFC: false } }));
    const [row] = await bundle.database`select settings from campaigns where id = ${answer.json().cid}`;
    expect(row!.settings).toMatchObject({
      ...{ ignoresCap: false, countsForCap: true, bypassesQuietHours: false, ignoresMinimumDelay: true },
    });
  });

  test.each([
    [{}, ['HIGH', 10, 'normal']],
    [{ sendAtHighPriority: true }, ['HIGH', 10, 'high']],
    [{ sendAtHighPriority: 'false' }, ['NORMAL', 5, 'normal']],
    // A device that rests is left to rest: the providers keep the message until it is used.
    [{ deliverWhenActive: 'true' }, ['NORMAL', 5, 'low']],
    [{ deliverWhenActive: true, notificationPrioritySettings: { iOS: 1 } }, ['NORMAL', 1, 'low']],
    [{ sendAtHighPriority: false, notificationPrioritySettings: { Android: 'High' } }, ['HIGH', 5, 'normal']],
  ])('has the priorities of %j', async (advancedSettings, expected) => {
    const answer = await bundle.send(goodBody({ campaignName: fresh(), advancedSettings }));
    const [row] = await bundle.database`select settings from campaigns where id = ${answer.json().cid}`;
    const { androidPriority, iosPriority, webUrgency } = row!.settings;
    expect([androidPriority, iosPriority, webUrgency]).toEqual(expected);
  });
});

describe('a rejected push (interface 7, decision D30 to D36)', () => {
  const payload = (ANDROID: object) => ({ payload: { ANDROID: { title: 'T', message: 'M', ...ANDROID } } });
  const ios = (IOS: object) => ({ targetPlatform: ['IOS'], payload: { IOS: { title: 'T', message: 'M', ...IOS } } });
  const web = (WEB: object) => ({
    targetPlatform: ['WEB'],
    payload: { WEB: { title: 'T', message: 'M', redirectURL: 'https://e.com', iconURL: 'https://e.com', ...WEB } },
  });
  const goal = (attrs: object) => ({
    conversionGoals: [{ name: 'g', eventName: 'e', attrs: { name: 'price', ...attrs } }],
  });
  const settings = (advancedSettings: object) => ({ advancedSettings });
  const delivery = (campaignDelivery: object) => ({ campaignDelivery });
  const user = (attributes: object) => ({
    targetAudience: 'User',
    targetUserAttributes: {
      attribute: 'USER_ATTRIBUTE_UNIQUE_ID',
      comparisonParameter: 'is',
      attributeValue: 'ada',
      ...attributes,
    },
  });
  const notAllowed = (field: string) => `Key not of Type List or Value not allowed: ${field}`;
  const parsing = (text: string) => `Error parsing parameters: ${text}`;

  const rows: [what: string, change: PushBody, message: string][] = [
    ['another request type', { requestType: 'report' }, 'Invalid Request Type'],
    ['no name', { campaignName: undefined }, 'Campaign Name not found'],
    ['an empty name', { campaignName: '' }, 'Campaign Name not found'],
    ['a name of blanks', { campaignName: '      ' }, 'Campaign Name not found'],
    ['a name of four characters', { campaignName: 'Four' }, 'Campaign Name too short (must be >= 5 chars)'],
    ['a name of four emoji', { campaignName: '🌷🌷🌷🌷' }, 'Campaign Name too short (must be >= 5 chars)'],
    [
      'a name of 257 characters',
      { campaignName: 'x'.repeat(257) },
      parsing('campaignName: must have at most 256 characters'),
    ],
    ['targetPlatform as text', { targetPlatform: 'ANDROID' }, notAllowed('targetPlatform')],
    ['an unknown platform', { targetPlatform: ['ANDROID', 'TV'] }, notAllowed('targetPlatform')],
    ['no platform', { targetPlatform: [] }, parsing('targetPlatform: must name a platform')],
    ['no targetPlatform', { targetPlatform: undefined }, parsing('targetPlatform: is required')],
    ['an unknown audience', { targetAudience: 'Everybody' }, notAllowed('targetAudience')],
    ['campaignTags as text', { campaignTags: 'a' }, notAllowed('campaignTags')],
    ['a tag that is no text', { campaignTags: [1] }, parsing('campaignTags[0]: must be a text')],
    ['no payload', { payload: undefined }, parsing('payload: is required')],
    [
      'no payload for a platform',
      { targetPlatform: ['ANDROID', 'IOS'] },
      parsing('payload.IOS: is required for this platform'),
    ],
    ['no title', { payload: { ANDROID: { message: 'M' } } }, parsing('payload.ANDROID.title: is required')],
    ['an empty message', payload({ message: '' }), parsing('payload.ANDROID.message: is required')],
    ['a title that is a number', payload({ title: 5 }), parsing('payload.ANDROID.title: must be a text')],
    [
      'three actions',
      payload({ additionalActions: [1, 2, 3].map(() => ({ type: 'call', name: 'c', value: '1' })) }),
      parsing('payload.ANDROID.additionalActions: must have at most 2 items'),
    ],
    [
      'an unknown action',
      payload({ additionalActions: [{ type: 'fly' }] }),
      notAllowed('payload.ANDROID.additionalActions[0].type'),
    ],
    ['rich content as an object', payload({ richContent: {} }), notAllowed('payload.ANDROID.richContent')],
    [
      'rich content of another platform',
      payload({ richContent: [{ type: 'video', value: 'x' }] }),
      notAllowed('payload.ANDROID.richContent[0].type'),
    ],
    [
      'an unknown default action',
      payload({ defaultAction: { type: 'jump', value: 'x' } }),
      notAllowed('payload.ANDROID.defaultAction.type'),
    ],
    [
      'a pair that is no text',
      payload({ defaultAction: { type: 'navigation', value: 'x', kvPairs: { a: 1 } } }),
      parsing('payload.ANDROID.defaultAction.kvPairs.a: must be a text'),
    ],
    [
      'a broken fallback',
      payload({ fallback: { title: 3 } }),
      parsing('payload.ANDROID.fallback.title: must be a text'),
    ],
    [
      'image and video together',
      ios({
        richContent: [
          { type: 'image', value: 'a' },
          { type: 'video', value: 'b' },
        ],
      }),
      parsing('payload.IOS.richContent: may hold one of image, audio and video'),
    ],
    [
      'two categories',
      ios({ additionalActions: [{ category: 'A' }, { category: 'B' }] }),
      parsing('payload.IOS.additionalActions: must have at most 1 items'),
    ],
    [
      'a badge that is no flag',
      ios({ enableIosBadge: 'True' }),
      parsing('payload.IOS.enableIosBadge: must be true or false'),
    ],
    ['web without a title', web({ title: undefined }), parsing('payload.WEB.title: is required')],
    [
      'web with a script for an icon',
      web({ iconURL: 'javascript:alert(1)' }),
      parsing('payload.WEB.iconURL: must be a URL with https or http'),
    ],
    [
      'a web image without TLS',
      web({ imageURL: 'http://e.com/i.png' }),
      parsing('payload.WEB.imageURL: must be a URL with https'),
    ],
    ['no delivery', { campaignDelivery: undefined }, parsing('campaignDelivery: is required')],
    ['an unknown delivery', delivery({ type: 'whenever' }), notAllowed('campaignDelivery.type')],
    [
      'later without a date',
      delivery({ type: 'later', time: '09:00 AM' }),
      parsing('campaignDelivery.date: is required'),
    ],
    [
      'later on 30 February',
      delivery({ type: 'later', date: '02/30/2027', time: '09:00 AM' }),
      parsing('campaignDelivery.date: must be a day as MM/DD/YYYY'),
    ],
    [
      'later at 13 PM',
      delivery({ type: 'later', date: '03/01/2027', time: '13:00 PM' }),
      parsing('campaignDelivery.time: must be hh:mm AM/PM'),
    ],
    [
      'later in the past',
      delivery({ type: 'later', date: '02/28/2026', time: '09:00 AM' }),
      parsing('campaignDelivery.date: is in the past'),
    ],
    [
      'an unknown zone',
      delivery({ type: 'later', date: '03/01/2027', time: '09:00 AM', timezone: 'Mars/Olympus' }),
      parsing('campaignDelivery.timezone: is not a time-zone name'),
    ],
    [
      'an offset for a zone',
      delivery({ type: 'later', date: '03/01/2027', time: '09:00 AM', timezone: '+05:30' }),
      parsing('campaignDelivery.timezone: is not a time-zone name'),
    ],
    [
      'periodic without days',
      delivery({ type: 'periodic', endDate: '04/01/2026', time: '09:00 AM' }),
      parsing('campaignDelivery.repeatAfter: is required'),
    ],
    [
      'periodic every 366 days',
      delivery({ type: 'periodic', endDate: '04/01/2026', time: '09:00 AM', repeatAfter: '366' }),
      parsing('campaignDelivery.repeatAfter: must be a number of days from 1 to 365, as text'),
    ],
    [
      'periodic that has ended',
      delivery({ type: 'periodic', endDate: '02/01/2026', time: '09:00 AM', repeatAfter: '1' }),
      parsing('campaignDelivery.endDate: leaves nothing to send'),
    ],
    ['a segment without its name', { targetAudience: 'Custom Segment' }, parsing('customSegmentName: is required')],
    [
      'an unknown segment (decision D32)',
      { targetAudience: 'Custom Segment', customSegmentName: 'nobody knows' },
      parsing('customSegmentName: not found'),
    ],
    [
      'User without attributes',
      { targetAudience: 'User' },
      parsing('targetUserAttributes: is required for audience User'),
    ],
    [
      'User with an unknown operator',
      user({ comparisonParameter: 'contains' }),
      notAllowed('targetUserAttributes.comparisonParameter'),
    ],
    ['User in a text', user({ comparisonParameter: 'in' }), notAllowed('targetUserAttributes.attributeValue')],
    [
      'User in 51 values',
      user({ comparisonParameter: 'in', attributeValue: Array.from({ length: 51 }, String) }),
      parsing('targetUserAttributes.attributeValue: must have at most 50 items'),
    ],
    [
      'User by an attribute that is neither standard nor custom',
      user({ attribute: 'town' }),
      parsing('targetUserAttributes.attribute: is unknown; a custom attribute needs isCustom'),
    ],
    [
      'six goals',
      { conversionGoals: Array.from({ length: 6 }, () => ({ name: 'g', eventName: 'e' })) },
      parsing('conversionGoals: must have at most 5 items'),
    ],
    ['goals as an object', { conversionGoals: {} }, notAllowed('conversionGoals')],
    [
      'a goal without an event',
      { conversionGoals: [{ name: 'g' }] },
      parsing('conversionGoals[0].eventName: is required'),
    ],
    [
      'a goal attribute without a type',
      goal({ filter: 'is', value: 'x' }),
      parsing('conversionGoals[0].attrs.type: is required'),
    ],
    [
      'a numeric operator on a string',
      goal({ type: 'string', filter: 'is between', value: '1,2' }),
      notAllowed('conversionGoals[0].attrs.filter'),
    ],
    [
      'is between one number',
      goal({ type: 'numeric', filter: 'is between', value: '1' }),
      parsing('conversionGoals[0].attrs.value: must be two numbers separated by a comma'),
    ],
    [
      'exists with a value',
      goal({ type: 'string', filter: 'exists', value: 'x' }),
      parsing('conversionGoals[0].attrs.value: must be omitted for this filter'),
    ],
    [
      'in the following a text',
      goal({ type: 'string', filter: 'in the following', value: 'x' }),
      parsing('conversionGoals[0].attrs.value: must be a list of texts'),
    ],
    [
      'a greater-than that is no number',
      goal({ type: 'numeric', filter: 'is greater than', value: 'x' }),
      parsing('conversionGoals[0].attrs.value: must be a number'),
    ],
    [
      'a ttl of more than a week',
      settings({ ttl: { ANDROID: 10_081 } }),
      parsing('advancedSettings.ttl.ANDROID: must be a whole number from 0 to 10080'),
    ],
    [
      'an unknown priority',
      settings({ notificationPrioritySettings: { Android: 'Medium' } }),
      notAllowed('advancedSettings.notificationPrioritySettings.Android'),
    ],
    ['a flag that is none', settings({ ignoreFC: 'no' }), parsing('advancedSettings.ignoreFC: must be true or false')],
    [
      'a throttle that is none',
      settings({ campaignThrottleRpm: 0 }),
      parsing('advancedSettings.campaignThrottleRpm: must be a whole number from 1 to 10000000'),
    ],
    [
      'a choice of iOS devices that is none',
      settings({ iOSTargetDevice: 'apns_device_old_push' }),
      notAllowed('advancedSettings.iOSTargetDevice'),
    ],
    [
      'help of a service that does not exist here',
      settings({ 'pushAmp+': true }),
      parsing('advancedSettings.pushAmp+: this value is not available in this version'),
    ],
    [
      'a throttle beyond its range',
      settings({ campaignThrottleTime: 361 }),
      parsing('advancedSettings.campaignThrottleTime: must be a whole number from 1 to 360'),
    ],
    [
      'a template that is none (decision D39)',
      payload({ title: 'Hello\n{% if UserAttribute.vip %}' }),
      parsing('payload.ANDROID.title: is not a valid template: line 2: "endif" is missing'),
    ],
    [
      'a template with a name that nobody gives a value',
      payload({ summary: 'Hello {{ name }}' }),
      parsing(
        "payload.ANDROID.summary: is not a valid template: name is unknown; attributes of the user are written UserAttribute['name']",
      ),
    ],
    [
      'a template in the fallback that is none',
      payload({ fallback: { message: '{{ }}' } }),
      parsing('payload.ANDROID.fallback.message: is not a valid template: a value is expected, not the end'),
    ],
    [
      'values of a business event, which a push has none of',
      payload({ message: "{{ BusinessEventAttribute['team'] }}" }),
      parsing(
        'payload.ANDROID.message: is not a valid template: BusinessEventAttribute has values in campaigns that a business event starts',
      ),
    ],
    [
      'a template that names a channel',
      payload({ channel_id: '{{ UserAttribute.a }}' }),
      parsing('payload.ANDROID.channel_id: cannot be a template'),
    ],
    [
      'a template in a group key, which would lose its markers',
      payload({ groupKey: 'order{{ UserAttribute.a }}' }),
      parsing('payload.ANDROID.groupKey: cannot be a template'),
    ],
    [
      'a template in the name of a pair',
      payload({ defaultAction: { type: 'navigation', value: 'home', kvPairs: { '{{ UserAttribute.a }}': 'x' } } }),
      parsing('payload.ANDROID.defaultAction.kvPairs: cannot be a template'),
    ],
    [
      'a flag that is neither yes nor no',
      settings({ useJinjaPersonalization: 'yes' }),
      parsing('advancedSettings.useJinjaPersonalization: must be true or false'),
    ],
    ['settings as a list', { advancedSettings: [] }, parsing('advancedSettings: must be an object')],
    ['a requestId that is a number', { requestId: 7 }, parsing('requestId: must be a text')],
    [
      'a lone surrogate in a text',
      payload({ title: '\ud800' }),
      parsing('payload.ANDROID.title: must be well-formed Unicode'),
    ],
  ];
  test.each(rows)('reports %s', (_what, change, message) =>
    expectFail(goodBody({ campaignName: fresh(), ...change }), message),
  );

  test.each([
    ['no appId', { 'x-svc-appkey': '' }, 'appId not present'],
    ['an unknown appId', { 'x-svc-appkey': 'NOBODY' }, 'Invalid appId'],
    ['an appId that is none', { 'x-svc-appkey': "a' or 1=1" }, 'Invalid appId'],
    ['no signature', { 'x-svc-pushapi-signature': '' }, 'Signature not present'],
    ['a wrong signature', { 'x-svc-pushapi-signature': 'a'.repeat(64) }, 'Signature is not verified'],
    [
      'no query type (decision D34)',
      { 'x-svc-query-type': '' },
      'Error parsing parameters: X-SVC-Query-Type: differs from targetAudience',
    ],
    [
      'another query type (decision D34)',
      { 'x-svc-query-type': 'user' },
      'Error parsing parameters: X-SVC-Query-Type: differs from targetAudience',
    ],
  ])('reports %s', async (_what, headers, message) => {
    expect((await bundle.send(goodBody({ campaignName: fresh() }), { headers })).json()).toMatchObject({
      status: 'Fail',
      Error_Message: message,
    });
  });

  test('is not verified with a signature in capitals, or one character short or long (decision D35)', async () => {
    const name = fresh();
    const good = bundle.sign(name);
    for (const signature of [good.toUpperCase(), good.slice(1), `${good}0`, ` ${good}x`]) {
      const answer = await bundle.send(goodBody({ campaignName: name }), {
        headers: { 'x-svc-pushapi-signature': signature },
      });
      expect(answer.json().Error_Message).toBe('Signature is not verified');
    }
  });

  test('is not verified with a lone surrogate in the name, whatever its signature (decision D35a)', async () => {
    const answer = await bundle.server.inject({
      method: 'POST',
      url: '/v2/transaction/sendpush',
      headers: { 'content-type': 'application/json' },
      payload: JSON.stringify({
        ...goodBody(),
        appId: bundle.appId,
        signature: bundle.sign('Name \ufffd'),
        campaignName: 'X',
      }).replace('"X"', '"Name \\ud800"'),
    });
    expect(answer.json().Error_Message).toBe('Signature is not verified');
  });

  test('is not verified with a key of another workspace, an archived key or a key of another kind', async () => {
    const name = fresh();
    const { secret } = await createKey(bundle, bundle.database, {
      workspaceId: bundle.appId,
      kind: 'data',
      name: 'Data',
      at: start,
    });
    const { signPush } = await import('../../src/domain/crypto/signatures.ts');
    const answer = await bundle.send(goodBody({ campaignName: name }), {
      headers: { 'x-svc-pushapi-signature': signPush({ appId: bundle.appId, campaignName: name, key: secret }) },
    });
    expect(answer.json().Error_Message).toBe('Signature is not verified');
  });

  test('may repeat appId and signature of the headers in a v2.1 body, but not change them (decision D34)', async () => {
    const name = fresh();
    const body = goodBody({ campaignName: name });
    expect((await bundle.send({ ...body, appId: 'OTHER' })).json().Error_Message).toBe('Invalid appId');
    expect((await bundle.send({ ...body, signature: 'b'.repeat(64) })).json().Error_Message).toBe(
      'Signature is not verified',
    );
    expect((await bundle.send({ ...body, appId: bundle.appId, signature: bundle.sign(name) })).json().status).toBe(
      'Success',
    );
  });

  test('reports the first of several faults in the order of decision D31', async () => {
    const faults: PushBody = { requestType: 'report', campaignName: 'Four', targetPlatform: 'ANDROID', payload: 7 };
    const inject = (body: PushBody) =>
      bundle.server.inject({ method: 'POST', url: '/v2/transaction/sendpush', payload: body });
    const told = async (body: PushBody) => (await inject(body)).json().Error_Message as string;
    expect(await told(faults)).toBe('Invalid Request Type');
    expect(await told({ ...faults, requestType: 'push' })).toBe('appId not present');
    expect(await told({ ...faults, requestType: 'push', appId: 'x' })).toBe('Invalid appId');
    expect(await told({ ...faults, requestType: 'push', appId: bundle.appId })).toBe(
      'Campaign Name too short (must be >= 5 chars)',
    );
    const named = { ...faults, requestType: 'push', appId: bundle.appId, campaignName: 'Spring order' };
    expect(await told(named)).toBe('Signature not present');
    expect(await told({ ...named, signature: 'x' })).toBe('Signature is not verified');
    await bundle.sendV2(goodBody({ campaignName: 'Spring order' }));
    expect(await told({ ...named, signature: bundle.sign('Spring order') })).toBe('Duplicate campaign name');
    const other = { ...named, campaignName: 'Autumn order', signature: bundle.sign('Autumn order') };
    expect(await told(other)).toBe('Key not of Type List or Value not allowed: targetPlatform');
    expect(await told({ ...other, targetPlatform: ['ANDROID'] })).toBe(
      'Error parsing parameters: targetAudience: is required',
    );
  });
});

describe('audience User (decision D32, D33)', () => {
  const run = async (answer: { json(): { responseId: string } }) => {
    const [row] = await bundle.database`
      select runs.status, runs.target_users, runs.content, runs.lane, (select count(*) from chunks where run_id = runs.id) as chunks
      from push_requests join runs on runs.id = run_id where response_id = ${answer.json().responseId}`;
    return row!;
  };

  test.each([
    ['USER_ATTRIBUTE_UNIQUE_ID', 'ada', 1],
    ['USER_ATTRIBUTE_USER_EMAIL', 'ada@example.com', 1],
    ['USER_ATTRIBUTE_USER_MOBILE', '+4912345', 1],
    ['PUSH_ID', 'token-of-ada', 1],
    ['SVC_GAID', 'none', 0],
  ])('finds users by %s is %s: %i', async (attribute, attributeValue, users) => {
    const targetUserAttributes = { attribute, comparisonParameter: 'is', attributeValue };
    const answer = await bundle.send(userBody('x', { campaignName: fresh(), targetUserAttributes }));
    expect((await run(answer)).target_users).toHaveLength(users);
  });

  test('finds texts and numbers by a custom attribute, and several values with in', async () => {
    const custom = (attribute: string, attributeValue: unknown) => ({
      targetUserAttributes: {
        attribute,
        isCustom: true,
        comparisonParameter: Array.isArray(attributeValue) ? 'in' : 'is',
        attributeValue,
      },
    });
    expect(
      (await run(await bundle.send(userBody('x', { campaignName: fresh(), ...custom('level', '7') })))).target_users,
    ).toHaveLength(2);
    expect(
      (await run(await bundle.send(userBody('x', { campaignName: fresh(), ...custom('town', ['Köln', 'Bonn']) }))))
        .target_users,
    ).toHaveLength(1);
  });

  test('sends to a match immediately on the transactional lane; without a match, the run ends', async () => {
    expect(await run(await bundle.send(userBody('ada', { campaignName: fresh() })))).toMatchObject({
      status: 'SENDING',
      lane: 0,
      chunks: 1,
    });
    const nobody = await bundle.send(userBody('nobody', { campaignName: fresh() }));
    expect(nobody.json().status).toBe('Success');
    expect(await run(nobody)).toMatchObject({ status: 'SENT', target_users: [], chunks: 0 });
  });

  test('joins a campaign that ends at the same time', async () => {
    const campaignName = fresh();
    const { cid } = (await bundle.send(userBody('ada', { campaignName }))).json();
    const status = () => bundle.database`select status from campaigns where id = ${cid}`;
    const end = () => bundle.database`update campaigns set status = 'SENT' where id = ${cid}`;
    const joined = await inTransaction(bundle.database, (tx) => {
      let statements = 0;
      const between = new Proxy(tx, {
        // After the first statement, which met it sending, the worker ends it.
        apply: (target, self, given) => {
          const statement = Reflect.apply(target, self, given) as Promise<unknown>;
          return (statements += 1) === 1 ? statement.then(end) : statement;
        },
      });
      return joinCampaigns(between, { ids: [cid], endedIds: [cid], at: bundle.clock.now() });
    });
    expect(joined).toEqual([{ id: cid, status: 'SENDING', nextAt: null }]);
    expect(await status()).toEqual([{ status: 'SENDING' }]);
  });

  test('joins a campaign that ended after the lookup, which then sends again', async () => {
    const { cid } = (await bundle.send(userBody('ada', { campaignName: fresh() }))).json();
    await bundle.database`update campaigns set status = 'SENT' where id = ${cid}`;
    const asked = { ids: [cid], endedIds: [], at: bundle.clock.now() };
    const joined = await inTransaction(bundle.database, (tx) => joinCampaigns(tx, asked));
    expect(joined).toEqual([{ id: cid, status: 'SENDING', nextAt: null }]);
    expect(await bundle.database`select status from campaigns where id = ${cid}`).toEqual([{ status: 'SENDING' }]);
  });

  test('joins an existing name: stored data win, only payload and target come from the request', async () => {
    const campaignName = fresh();
    const first = await bundle.send(userBody('ada', { campaignName, campaignTags: ['first'] }));
    const second = await bundle.send(
      userBody('tim', {
        campaignName,
        campaignTags: ['second'],
        targetPlatform: ['IOS'],
        payload: { ANDROID: { title: 'Two', message: 'M' } },
      }),
    );
    expect(second.json().cid).toBe(first.json().cid);
    expect((await run(second)).content).toMatchObject({ ANDROID: { title: 'Two' } });
    expect((await run(first)).content).toBeNull();
    const [campaign] =
      await bundle.database`select tags, platforms, content from campaigns where id = ${first.json().cid}`;
    expect(campaign).toMatchObject({
      tags: ['first'],
      platforms: ['ANDROID'],
      content: { ANDROID: { title: 'Title' } },
    });
  });

  test('rejects the name of another audience as a duplicate, both ways', async () => {
    const [all, user] = [fresh(), fresh()];
    await bundle.send(goodBody({ campaignName: all }));
    await bundle.send(userBody('ada', { campaignName: user }));
    await expectFail(userBody('ada', { campaignName: all }), 'Duplicate campaign name');
    await expectFail(goodBody({ campaignName: user }), 'Duplicate campaign name');
  });

  test('accepts 100 matches and rejects 101', async () => {
    for (let number = 0; number < 101; number += 1)
      await bundle.addUser(`crowd-${number}`, { crowd: number < 100 ? 'hundred' : 'one more', all: 'yes' });
    const by = (attribute: string, attributeValue: string) => ({
      targetUserAttributes: { attribute, isCustom: true, comparisonParameter: 'is', attributeValue },
    });
    expect(
      (await run(await bundle.send(userBody('x', { campaignName: fresh(), ...by('crowd', 'hundred') })))).target_users,
    ).toHaveLength(100);
    await expectFail(
      userBody('x', { campaignName: fresh(), ...by('all', 'yes') }),
      'Error parsing parameters: targetUserAttributes: matches more than 100 users',
    );
  });
});

describe('a concurrent push', () => {
  test('creates one campaign for 200 equal requests', async () => {
    const campaignName = fresh();
    const answers = await Promise.all(Array.from({ length: 200 }, () => bundle.send(goodBody({ campaignName }))));
    const told = answers.map((answer) => answer.json().Error_Message ?? answer.json().status);
    expect(told.filter((text) => text === 'Success')).toHaveLength(1);
    expect(told.filter((text) => text === 'Duplicate campaign name')).toHaveLength(199);
  });

  test('creates one campaign for 100 User requests with a new name, and all join it', async () => {
    const campaignName = fresh();
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => bundle.send(userBody('ada', { campaignName }))),
    );
    expect(new Set(answers.map((answer) => answer.json().cid)).size).toBe(1);
    expect(new Set(answers.map((answer) => answer.json().responseId)).size).toBe(100);
  });

  test('returns one response for 100 requests with one Idempotency-Key, and rejects another body with it (decision D4)', async () => {
    const campaignName = fresh();
    const headers = { 'idempotency-key': 'key-1' };
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => bundle.send(goodBody({ campaignName }), { headers })),
    );
    expect(new Set(answers.map((answer) => answer.body)).size).toBe(1);
    expect(answers[0]!.json().status).toBe('Success');
    const other = await bundle.send(goodBody({ campaignName, campaignTags: ['x'] }), { headers });
    expect([other.statusCode, other.json().Error_Message]).toEqual([
      409,
      'Idempotency-Key reused with a different request body.',
    ]);
    bundle.clock.advance(25 * 3_600_000);
    expect((await bundle.send(goodBody({ campaignName }), { headers })).json().Error_Message).toBe(
      'Duplicate campaign name',
    );
  });
});

describe('a repeat under one Idempotency-Key', () => {
  test('returns the first response although the segment was archived since (decision D4)', async () => {
    const name = fresh();
    await bundle.database`
      insert into segments (id, workspace_id, name, kind, state, source, attribute_name, attribute_type, version,
        user_count, created_by, created_at, updated_at)
      values (${makeId(start)}, ${bundle.appId}, ${name}, 'FILE', 'READY', 'API', 'uid', 'string', 1, 0, 'test',
        ${start}, ${start})`;
    const body = goodBody({ campaignName: fresh(), targetAudience: 'Custom Segment', customSegmentName: name });
    const headers = { 'idempotency-key': 'key-of-a-segment' };
    const first = await bundle.send(body, { headers });
    expect(first.json().status).toBe('Success');
    await bundle.database`update segments set state = 'ARCHIVED', archived_at = ${start} where name = ${name}`;
    expect((await bundle.send(body, { headers })).body).toBe(first.body);
  });
});

describe('a request to the push API', () => {
  const post = (payload: string, headers: Record<string, string> = { 'content-type': 'application/json' }) =>
    bundle.server.inject({ method: 'POST', url: '/v2/transaction/sendpush', headers, payload });

  test.each([
    ['broken JSON', '{"a":', 400],
    ['a list', '[]', 400],
    ['null', 'null', 400],
    ['nothing', '', 400],
    ['a repeated member', '{"appId":"a","appId":"b"}', 400],
    ['__proto__', '{"__proto__":{}}', 400],
    ['33 levels', `${'['.repeat(33)}${']'.repeat(33)}`, 400],
    ['NUL', '{"appId":"\\u0000"}', 400],
    ['more than 256 KB', `{"a":"${'x'.repeat(300_000)}"}`, 413],
  ])('is rejected in the shape of the family with %s', async (_what, payload, status) => {
    const answer = await post(payload);
    expect(answer.statusCode).toBe(status);
    expect(answer.json()).toEqual({
      status: 'Fail',
      requestId: '',
      responseId: expect.stringMatching(uuid),
      Error_Message: expect.any(String),
    });
  });

  test('gets 415 for another media type, 405 for another method, 404 for another path', async () => {
    expect((await post('a=b', { 'content-type': 'application/x-www-form-urlencoded' })).statusCode).toBe(415);
    const get = await bundle.server.inject({ method: 'GET', url: '/v2/transaction/sendpush' });
    expect([get.statusCode, get.headers.allow]).toEqual([405, 'POST']);
    const unknown = await bundle.server.inject({ method: 'POST', url: '/v3/transaction/sendpush' });
    expect([unknown.statusCode, unknown.json()]).toEqual([
      404,
      { code: 404, status: 'error', reason: 'Page not found. Please recheck the URL' },
    ]);
  });

  test('may have a Bearer token, which must be valid and cover push (decision D16)', async () => {
    const body = goodBody({ campaignName: fresh() });
    const bad = await bundle.send(body, { headers: { authorization: 'Bearer nonsense' } });
    expect([bad.statusCode, bad.json().code]).toEqual([401, 'ER001']);
    const { secret } = await createKey(bundle, bundle.database, {
      workspaceId: bundle.appId,
      kind: 'oauth',
      name: 'O',
      scopes: ['data'],
      at: start,
    });
    const caller = { clientId: bundle.appId, address: '127.0.0.1', dataCenter: undefined };
    const { accessToken } = await generateToken(
      { ...bundle, wait: async () => {}, batches: makeTokenBatches(bundle) },
      {
        caller,
        clientSecret: secret,
        idempotencyKey: undefined,
        rawBody: '',
      },
    );
    const narrow = await bundle.send(body, { headers: { authorization: `Bearer ${accessToken}` } });
    expect([narrow.statusCode, narrow.json().code]).toEqual([403, 'ER007']);
  });

  test('gets a response of the documented shape and never an internal fault, whatever it contains', async () => {
    const values = fc.oneof(
      fc.string(),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(fc.string(), { maxLength: 3 }),
      fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 }),
      fc.jsonValue(),
    );
    const fields = Object.keys(goodBody()).concat([
      'requestType',
      'requestId',
      'targetUserAttributes',
      'customSegmentName',
      'campaignTags',
      'conversionGoals',
      'advancedSettings',
    ]);
    const mutation = fc.record({
      field: fc.constantFrom(...fields),
      value: values,
      audience: fc.constantFrom('All Users', 'User', 'Custom Segment'),
    });
    await fc.assert(
      fc.asyncProperty(mutation, async ({ field, value, audience }) => {
        const body = { ...userBody('ada', { campaignName: fresh(), targetAudience: audience }), [field]: value };
        const answer = await bundle.send(body, { headers: { 'x-svc-query-type': audience.toLowerCase() } });
        expect(answer.statusCode, answer.body).toBeLessThan(500);
        expect(['Success', 'Fail']).toContain(answer.json().status);
      }),
      { numRuns: propertyRuns(300) },
    );
  });
});

describe('the limit (interface 8, decision D31)', () => {
  test('counts every signed request on all nodes together, including failures, and resets after a minute', async () => {
    const small = await makePushBundle({ requestsPerMinute: 5 });
    try {
      const other = await small.makeServer();
      for (let number = 0; number < 5; number += 1) {
        const more = number === 0 ? { targetPlatform: ['FAX'] } : {};
        const answer = await small.send(goodBody({ campaignName: `Limited ${number}`, ...more }), {
          on: number % 2 ? other : small.server,
        });
        expect([answer.statusCode, answer.headers['x-ratelimit-remaining']]).toEqual([200, String(4 - number)]);
        small.clock.advance(1_000);
      }
      const over = await small.send(goodBody({ campaignName: 'Limited over' }), { on: other });
      expect([over.statusCode, over.json().Error_Message, over.headers['retry-after']]).toEqual([
        429,
        'Request limit exceeded',
        '55',
      ]);
      // The limit that is told is the contract's, whatever this test lets through.
      expect(over.headers).toMatchObject({
        'x-ratelimit-limit': '10000',
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': '55',
      });
      small.clock.advance(54_999);
      expect((await small.send(goodBody({ campaignName: 'Limited over' }))).statusCode).toBe(429);
      small.clock.advance(1);
      expect((await small.send(goodBody({ campaignName: 'Limited over' }))).json().status).toBe('Success');
      await other.close();
    } finally {
      await small.end();
    }
  });
});

describe('the state of the limit (fact 0.1, decision 0055)', () => {
  const told = ({ headers }: { headers: Record<string, unknown> }) =>
    ['limit', 'remaining', 'reset'].map((name) => headers[`x-ratelimit-${name}`] !== undefined);

  test('is in the response to every counted request, whatever its later error', async () => {
    const name = fresh();
    await bundle.send(goodBody({ campaignName: name }));
    const refused = await Promise.all([
      bundle.send(goodBody({ campaignName: name })),
      bundle.send(goodBody({ campaignName: fresh(), targetPlatform: ['FAX'] })),
    ]);
    expect(refused.map((answer) => [answer.json().Error_Message, ...told(answer)])).toEqual(
      ['Duplicate campaign name', 'Key not of Type List or Value not allowed: targetPlatform'].map((message) => [
        message,
        true,
        true,
        true,
      ]),
    );
  });

  test('is not in the response to an uncounted request', async () => {
    const answers = await Promise.all([
      bundle.send(goodBody({ campaignName: fresh() }), { headers: { 'x-svc-appkey': 'NOBODY' } }),
      bundle.send(goodBody({ campaignName: '' })),
      bundle.send(goodBody({ campaignName: fresh(), requestType: 'fax' })),
      bundle.send(goodBody({ campaignName: fresh() }), { headers: { 'x-svc-pushapi-signature': 'wrong' } }),
      bundle.send(goodBody({ campaignName: fresh() }), { headers: { 'x-svc-pushapi-signature': '' } }),
      bundle.send(goodBody({ campaignName: fresh() }), { headers: { 'x-svc-pushapi-signature-v2': 'v1,AAAA' } }),
    ]);
    expect(answers.map(told)).toEqual(answers.map(() => [false, false, false]));
  });
});

describe('the stronger signature (decision D35a)', () => {
  const sendV2Signed = async (body: PushBody, change: { timestamp?: string; id?: string; signature?: string } = {}) => {
    const rawBody = JSON.stringify(body);
    const signed = {
      id: change.id ?? `id-${fresh()}`,
      timestamp: change.timestamp ?? String(Math.floor(bundle.clock.now().getTime() / 1000)),
      rawBody,
    };
    return bundle.server.inject({
      method: 'POST',
      url: '/v2.1/transaction/sendpush',
      headers: {
        'content-type': 'application/json',
        'x-svc-appkey': bundle.appId,
        'x-svc-query-type': 'all users',
        'x-svc-pushapi-signature': bundle.sign(String(body.campaignName)),
        'webhook-id': signed.id,
        'webhook-timestamp': signed.timestamp,
        'x-svc-pushapi-signature-v2': change.signature ?? signPushV2(signed, bundle.key),
      },
      payload: rawBody,
    });
  };

  test('is accepted once, within five minutes, for exactly this body', async () => {
    expect((await sendV2Signed(goodBody({ campaignName: fresh() }), { id: 'once' })).json().status).toBe('Success');
    const refused = 'Signature is not verified';
    expect((await sendV2Signed(goodBody({ campaignName: fresh() }), { id: 'once' })).json().Error_Message).toBe(
      refused,
    );
    const old = String(Math.floor(bundle.clock.now().getTime() / 1000) - 301);
    expect((await sendV2Signed(goodBody({ campaignName: fresh() }), { timestamp: old })).json().Error_Message).toBe(
      refused,
    );
    expect(
      (await sendV2Signed(goodBody({ campaignName: fresh() }), { signature: 'v1,AAAA' })).json().Error_Message,
    ).toBe(refused);
  });

  test('can be required by a workspace', async () => {
    const strict = await makePushBundle();
    try {
      await strict.database`update workspaces set signature_v2_required = true`;
      expect((await strict.send(goodBody())).json().Error_Message).toBe('Signature is not verified');
    } finally {
      await strict.end();
    }
  });
});
