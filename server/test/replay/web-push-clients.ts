import { expect } from 'vitest';
import { accept, soon } from './client-node.ts';
import type { ClientNode, PublicClient } from './client-node.ts';

/** A user of the demo who allowed messages in a browser. */
async function findBrowserUser(node: ClientNode): Promise<string> {
  const [row] = await node.database`
    select customer_id from users join devices on devices.bucket = users.bucket and devices.user_id = users.id
    where platform = 'WEB' and devices.state = 'ACTIVE' order by customer_id limit 1`;
  return row!.customer_id as string;
}

const toBrowserOf = (attributeValue: unknown) => ({
  ...{ targetPlatform: ['WEB'], targetAudience: 'User', campaignDelivery: soon },
  targetUserAttributes: { attribute: 'USER_ATTRIBUTE_UNIQUE_ID', comparisonParameter: 'is', attributeValue },
});

/** Backends that send to browsers, and the scheduler of a video platform. */
export const webPushClients: readonly PublicClient[] = [
  {
    kind: 'Web push backend in PHP: a campaign for each subscriber and second',
    breaksOn: 'Success, and no browser shows anything',
    differs: {
      answer: /^Success, and no user is reached$/,
      because:
        'the client sends `isCustom: true` with the name of a standard attribute, which is then taken for a custom one (fact 3.2)',
    },
    async replay(node) {
      const subscriber = await findBrowserUser(node);
      const target = toBrowserOf(subscriber);
      const body = {
        ...{ ...node.signed(`Site_${subscriber}_1770000000`), ...target, requestType: 'push' },
        targetUserAttributes: { ...target.targetUserAttributes, isCustom: true },
        payload: {
          WEB: {
            ...{ message: 'Price fell', title: 'PHP to a browser', redirectURL: 'https://shop.example/p?a=1&b=2' },
            ...{ image: 'https://shop.example/i.jpg', iconURL: 'https://shop.example/i.jpg', fallback: [] },
          },
        },
        ...{ advancedSettings: { ttl: { ANDROID: 12, WEB: 24 } }, ignoreFC: 'false', sendAtHighPriority: 'true' },
      };
      const { cid } = accept(await node.send('POST /v2/transaction/sendpush', body));
      if ((await node.countAudience(cid)) === 0) throw new Error('Success, and no user is reached');
      await node.shows('PHP to a browser');
    },
  },
  {
    kind: 'Web push backend in PHP: no icon, message as typed',
    breaksOn: 'Fail for an empty icon',
    async replay(node) {
      const body = {
        ...{ ...node.signed('Feed_12_1770000001'), ...toBrowserOf(await findBrowserUser(node)) },
        payload: {
          WEB: {
            ...{ message: '  Täglich <b>neu</b> – "für dich" 🎁\n', title: 'PHP without an icon', iconURL: '' },
            ...{ redirectURL: 'https://blog.example/täglich', fallback: [] },
          },
        },
      };
      accept(await node.send('POST /v2/transaction/sendpush', body));
      await node.shows('PHP without an icon');
    },
  },
  {
    kind: 'Web push form in Go: one name for every message',
    breaksOn: 'Fail, Duplicate campaign name, from the second message on',
    async replay(node) {
      const subscriber = await findBrowserUser(node);
      for (const title of ['Go form 1', 'Go form 2']) {
        const body = {
          ...{ ...node.signed('aaaaaaa'), ...toBrowserOf(subscriber), requestType: 'push', campaignTags: null },
          payload: {
            WEB: { message: 'M', title, redirectURL: 'https://go.example', iconURL: 'https://go.example/i.png' },
          },
          ...{ advancedSettings: {}, conversionGoals: null },
        };
        accept(await node.send('POST /v2/transaction/sendpush', body));
        await node.shows(title);
      }
    },
  },
  {
    kind: 'Web push form in Go: one name, everybody',
    breaksOn: 'the second message is refused',
    differs: {
      answer: /^200 .*"Duplicate campaign name"/,
      because: 'names are unique for `All Users` and `Custom Segment` (interface 2.8)',
    },
    async replay(node) {
      for (const title of ['Go all 1', 'Go all 2'])
        accept(
          await node.send('POST /v2/transaction/sendpush', {
            ...{
              ...node.signed('bbbbbbb'),
              targetPlatform: ['WEB'],
              targetAudience: 'All Users',
              campaignDelivery: soon,
            },
            payload: {
              WEB: { message: 'M', title, redirectURL: 'https://go.example', iconURL: 'https://go.example/i' },
            },
          }),
        );
    },
  },
  {
    kind: 'Scheduler of live classes in Node',
    breaksOn: 'it tries again six times on anything but Success, and finds its own name taken',
    async replay(node) {
      await node.addPhone('pupil', { class: 'c-51' });
      const filter = {
        filter_type: 'user_attributes',
        name: 'class',
        data_type: 'string',
        operator: 'is',
        value: 'c-51',
      };
      const included_filters = { filter_operator: 'and', filters: [filter] };
      accept(await node.segments('POST /v3/custom-segments', { name: 'CSV-51-pupils', included_filters }));
      const name = '51-CSV-51-pupils-2099-01-01T10:00';
      const attrs = { filter: 'is', name: 'QuestionId', value: '51', type: 'string' };
      const reply = await node.send('POST /v2/transaction/sendpush/priority', {
        ...{ requestId: '0b6f0f9e-0000-4000-8000-000000000051', ...node.signed(name), requestType: 'push' },
        ...{ targetPlatform: ['ANDROID'], targetAudience: 'Custom Segment', customSegmentName: 'CSV-51-pupils' },
        payload: {
          ANDROID: {
            ...{ message: 'Class begins', title: 'Class 51' },
            richContent: [
              { type: 'image', value: 'https://class.example/51.png' },
              { type: 'vendor_image_url', value: 'https://class.example/52.png' },
            ],
            defaultAction: { type: 'deeplinking', value: 'classes://live?id=51&page=NOTE' },
          },
        },
        campaignDelivery: { type: 'later', date: '01/02/2099', time: '09:05 AM' },
        advancedSettings: {
          ...{ ttl: { ANDROID: 5 }, ignoreFC: 'false', countFC: 'true', sendAtHighPriority: 'true' },
          ...{ preCacheSegment: 'true', 'pushAmp+': 'true' },
        },
        conversionGoals: ['Watch', 'Page'].map((goal) => ({ name: goal, eventName: `${goal} opened`, attrs })),
      });
      expect(accept(reply)).toMatchObject({ status: 'Success', requestId: '0b6f0f9e-0000-4000-8000-000000000051' });
      expect(reply.headers.get('x-svc-next-sends')).toBe('2099-01-02T09:05:00.000Z');
    },
  },
];
