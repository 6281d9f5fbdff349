import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { goodBody, makePushBundle, userBody } from './push-bundle.ts';
import type { PushBody, PushBundle } from './push-bundle.ts';

let bundle: PushBundle;
let strict: PushBundle;
let names = 0;
beforeAll(async () => {
  [bundle, strict] = await Promise.all([makePushBundle({ pushBodies: 'lenient' }), makePushBundle()]);
  for (const each of [bundle, strict]) await each.addUser('ada', { u_em: 'ada@example.com' });
});
afterAll(() => Promise.all([bundle.end(), strict.end()]));

const fresh = () => `What clients send ${(names += 1)}`;

async function accept(body: PushBody, on = bundle) {
  const answer = await on.send(body);
  expect(answer.json()).toMatchObject({ status: 'Success' });
  const [campaign] = await on.database`select content, timing from campaigns where id = ${answer.json().cid}`;
  return { content: campaign!.content, timing: campaign!.timing, warning: answer.headers['x-svc-warning'] };
}

const faultOf = async (body: PushBody, on = bundle) => (await on.send(body)).json().Error_Message;

describe('a request that joins a campaign (field B5, decision D33)', () => {
  const later = { type: 'later', date: '03/01/2026', time: '01:00 PM', timezone: 'UTC' };

  test.each<[string, PushBody]>([
    ['a date that has passed', { campaignDelivery: { type: 'later', date: '01/01/2020', time: '09:00 AM' } }],
    ['a delivery of no known type', { campaignDelivery: { type: 'whenever' } }],
    ['no delivery', { campaignDelivery: undefined }],
    ['a platform of no known name', { targetPlatform: ['FRIDGE'] }],
    ['no platform', { targetPlatform: undefined }],
    ['tags that are no list', { campaignTags: 'spring' }],
    ['goals that are incomplete', { conversionGoals: [{ name: 'g' }] }],
    ['settings out of range', { advancedSettings: { ttl: { ANDROID: -5 } } }],
    ['a request id of another type', { requestId: 7 }],
  ])('is not judged by %s', async (_what, ignored) => {
    for (const on of [bundle, strict]) {
      const campaignName = fresh();
      await accept(userBody('ada', { campaignName }), on);
      await accept(userBody('ada', { campaignName, ...ignored }), on);
    }
  });

  test('is judged by its payload and its target', async () => {
    const campaignName = fresh();
    await accept(userBody('ada', { campaignName }));
    expect(await faultOf(userBody('ada', { campaignName, payload: {} }))).toMatch(/payload/);
    expect(await faultOf(userBody('', { campaignName }))).toMatch(/attributeValue/);
  });

  test('names the members that would have changed what is sent', async () => {
    const campaignName = fresh();
    await accept(userBody('ada', { campaignName }));
    expect((await accept(userBody('ada', { campaignName, campaignTags: ['other'] }))).warning).toBeUndefined();
    const other = {
      targetPlatform: ['IOS'],
      campaignDelivery: later,
      advancedSettings: { ttl: { ANDROID: 5 } },
    };
    const ignored = Object.keys(other).map((name) => `${name} is ignored: the campaign of this name has its own`);
    expect((await accept(userBody('ada', { campaignName, ...other }))).warning).toBe(ignored.join(', '));
  });

  test('does not name members that are as stored', async () => {
    const campaignName = fresh();
    const body = userBody('ada', { campaignName, campaignDelivery: later, advancedSettings: { ttl: { ANDROID: 5 } } });
    await accept(body);
    expect((await accept(body)).warning).toBeUndefined();
  });

  test('is sent now if the stored date has passed, and then if it has not', async () => {
    const campaignName = fresh();
    const first = await bundle.send(userBody('ada', { campaignName, campaignDelivery: later }));
    const { cid } = first.json();
    const second = await bundle.send(userBody('ada', { campaignName }));
    expect(second.headers['x-svc-next-sends']).toBe('2026-03-01T13:00:00.000Z');
    await bundle.database`update campaigns set status = 'SENT', next_at = null where id = ${cid}`;
    const third = await bundle.send(userBody('ada', { campaignName, campaignDelivery: later }));
    expect([third.json().status, third.headers['x-svc-next-sends']]).toEqual(['Success', undefined]);
    const [campaign] = await bundle.database`select status from campaigns where id = ${cid}`;
    expect(campaign!.status).toBe('SENDING');
  });
});

describe('web content (field B8, interface 2.8)', () => {
  const web = (more: PushBody) => ({
    targetPlatform: ['WEB'],
    payload: { WEB: { title: 'Title', message: 'Text', ...more } },
  });

  test('needs only a title and a message', async () => {
    for (const on of [bundle, strict]) {
      const { content } = await accept(goodBody({ campaignName: fresh(), ...web({}) }), on);
      expect(content.WEB).toMatchObject({ redirectUrl: '', iconUrl: '' });
    }
  });

  test('may have empty addresses', async () => {
    const { content } = await accept(goodBody({ campaignName: fresh(), ...web({ iconURL: '', redirectURL: '' }) }));
    expect(content.WEB).toMatchObject({ redirectUrl: '', iconUrl: '' });
  });
});

describe('rich content of an unknown type (field B12)', () => {
  const payload = {
    ANDROID: {
      ...{ title: 'Title', message: 'Text' },
      richContent: [
        { type: 'gif', value: 'https://shop.example/a.gif' },
        { type: 'image', value: 'https://shop.example/a.png' },
      ],
    },
  };

  test('is left out with a warning', async () => {
    const { content, warning } = await accept(goodBody({ campaignName: fresh(), payload }));
    expect(content.ANDROID.richContent).toEqual([{ type: 'image', value: 'https://shop.example/a.png' }]);
    expect(warning).toBe('payload.ANDROID.richContent[0].type is unknown, so the item is left out');
  });

  test('is rejected in a strict workspace', async () => {
    expect(await faultOf(goodBody({ campaignName: fresh(), payload }), strict)).toMatch(/not allowed/);
  });
});

describe('the path for priority (field B12)', () => {
  test.each(['v2', 'v2.1'])('is the same as the plain one of %s', async (version) => {
    const campaignName = fresh();
    const identity = { appId: bundle.appId, signature: bundle.sign(campaignName) };
    const headers = {
      ...{ 'x-svc-appkey': identity.appId, 'x-svc-pushapi-signature': identity.signature },
      'x-svc-query-type': 'user',
    };
    const answer = await bundle.server.inject({
      ...{ method: 'POST', url: `/${version}/transaction/sendpush/priority` },
      ...(version === 'v2' ? {} : { headers }),
      payload: userBody('ada', { campaignName, ...(version === 'v2' ? identity : {}) }),
    });
    expect(answer.json()).toMatchObject({ status: 'Success' });
  });
});

describe('dates and times (field B14)', () => {
  const deliver = (more: PushBody) => ({
    campaignDelivery: { type: 'later', date: '03/05/2027', time: '09:30 AM', timezone: 'UTC', ...more },
  });

  test.each<[string, PushBody]>([
    ['without leading zeros', { date: '3/5/2027' }],
    ['with spaces around them', { date: ' 03/05/2027 ', time: ' 09:30 AM ' }],
    ['with a narrow no-break space before AM', { time: '9:30\u202fAM' }],
    ['with a no-break space before am', { time: '09:30\u00a0am' }],
  ])('are read %s', async (_how, more) => {
    const { timing } = await accept(goodBody({ campaignName: fresh(), ...deliver(more) }));
    expect(timing).toMatchObject({ kind: 'later', date: '2027-03-05', time: '09:30' });
  });

  test('are read as documented alone in a strict workspace', async () => {
    for (const more of [{ date: '3/5/2027' }, { time: '9:30\u202fAM' }])
      expect(await faultOf(goodBody({ campaignName: fresh(), ...deliver(more) }), strict)).toMatch(/campaignDelivery/);
  });
});

describe('an attribute by its name in the API (field B1)', () => {
  test('finds the user by email', async () => {
    for (const named of [{ attribute: 'USER_ATTRIBUTE_USER_EMAIL' }, { attribute: 'email', isCustom: true }]) {
      const targetUserAttributes = { ...named, comparisonParameter: 'is', attributeValue: 'ada@example.com' };
      const answer = await bundle.send(userBody('x', { campaignName: fresh(), targetUserAttributes }));
      const [run] = await bundle.database`select target_users from runs where campaign_id = ${answer.json().cid}`;
      expect(run!.target_users).toHaveLength(1);
    }
  });
});
