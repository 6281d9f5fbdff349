import { expect } from 'vitest';
import type { PublicClient } from './client-node.ts';
import { soon, toUser } from './client-node.ts';

const android = (title: string) => ({ ANDROID: { title, message: 'M' } });

/** Clients that send pushes: wrappers in several languages, workers, web push backends. */
export const pushClients: readonly PublicClient[] = [
  {
    kind: 'Wrapper in PHP: v2 with empty arrays for objects',
    breaksOn: 'Fail for [] where an object is meant',
    async replay(node) {
      await node.addPhone('php');
      const body = {
        ...{ ...node.signed('PHP push'), ...toUser('php'), requestType: 'push', payload: android('From PHP') },
        ...{ advancedSettings: [], conversionGoals: [], campaignTags: [] },
      };
      const answer = await node.send('POST /v2/transaction/sendpush', body);
      expect([answer.status, answer.json.status]).toEqual([200, 'Success']);
      expect(answer.json.cid).not.toBe('');
      await node.shows('From PHP');
    },
  },
  {
    kind: 'Wrapper in Java: dates of its formatter',
    breaksOn: 'Fail for a date without zeros, or for the space that CLDR writes',
    async replay(node) {
      const body = {
        ...{ campaignName: 'Java later', targetPlatform: ['ANDROID'], targetAudience: 'All Users' },
        payload: android('From Java'),
        campaignDelivery: { type: 'later', date: '2/3/2099', time: '9:30\u202fAM', timezone: 'Asia/Kolkata' },
      };
      const headers = node.signedHeaders('Java later', 'all users');
      const answer = await node.send('POST /v2.1/transaction/sendpush', body, { headers });
      expect(answer.json.status).toBe('Success');
      expect(answer.headers.get('x-svc-next-sends')).toBe('2099-02-03T04:00:00.000Z');
    },
  },
  {
    kind: 'Worker in Ruby: numbers as values of pairs, mobile number as target',
    breaksOn: 'Success, and nobody is reached',
    async replay(node) {
      await node.addPhone('ruby', { mobile: '+33612' });
      const defaultAction = { type: 'navigation', value: 'HomeActivity', kvPairs: { order: 17, paid: true } };
      const body = {
        ...{ campaignName: 'Ruby order', ...toUser('+33612', 'USER_ATTRIBUTE_USER_MOBILE') },
        payload: { ANDROID: { title: 'From Ruby', message: 'M', defaultAction } },
      };
      const headers = node.signedHeaders('Ruby order', 'user');
      const answer = await node.send('POST /v2.1/transaction/sendpush', body, { headers });
      expect(answer.json.status).toBe('Success');
      await node.shows('From Ruby');
    },
  },
  {
    kind: 'One-time passwords in Go: the priority path, one name for all',
    breaksOn: '404 for the path; Fail once a stored date has passed',
    async replay(node) {
      await node.addPhone('go');
      for (const [round, delivery] of [soon, { type: 'later', date: '01/01/2020', time: '09:00 AM' }].entries()) {
        const body = {
          ...{ ...node.signed('Go codes'), ...toUser('go'), campaignDelivery: delivery },
          payload: android(`Code of Go ${round}`),
        };
        const answer = await node.send('POST /v2/transaction/sendpush/priority', body);
        expect(answer.json.status).toBe('Success');
        await node.shows(`Code of Go ${round}`);
      }
    },
  },
  {
    kind: 'Queue worker in Node: the same template with other settings each time',
    breaksOn: 'Fail on a repeated name with other tags or platforms',
    async replay(node) {
      await node.addPhone('queue');
      for (const [round, more] of [{}, { campaignTags: ['b'], targetPlatform: ['ANDROID', 'IOS'] }].entries()) {
        const body = {
          campaignName: 'Queue template',
          ...toUser('queue'),
          payload: android(`Queue ${round}`),
          ...more,
        };
        const headers = node.signedHeaders('Queue template', 'user');
        const answer = await node.send('POST /v2.1/transaction/sendpush', body, { headers });
        expect(answer.json.status).toBe('Success');
        await node.shows(`Queue ${round}`);
      }
    },
  },
  {
    kind: 'Web push backend with a title and a text alone',
    breaksOn: 'Fail without redirectURL and iconURL',
    async replay(node) {
      const body = {
        ...{ campaignName: 'Web alone', targetPlatform: ['WEB'], targetAudience: 'All Users', campaignDelivery: soon },
        payload: { WEB: { title: 'Web alone shown', message: 'M', iconURL: '', redirectURL: '' } },
      };
      const headers = node.signedHeaders('Web alone', 'all users');
      const answer = await node.send('POST /v2.1/transaction/sendpush', body, { headers });
      expect(answer.json.status).toBe('Success');
      await node.shows('Web alone shown');
    },
  },
  {
    kind: 'Marketing script with media of every platform',
    breaksOn: 'Fail for one kind of media that the server does not have',
    async replay(node) {
      await node.addPhone('media');
      const richContent = [
        { type: 'carousel', value: 'x' },
        { type: 'image', value: 'https://shop.example/a.png' },
      ];
      const body = {
        ...{ campaignName: 'Media push', ...toUser('media') },
        payload: { ANDROID: { title: 'With media', message: 'M', richContent } },
      };
      const headers = node.signedHeaders('Media push', 'user');
      const answer = await node.send('POST /v2.1/transaction/sendpush', body, { headers });
      expect(answer.json.status).toBe('Success');
      expect(answer.headers.get('x-svc-warning')).toMatch(/richContent\[0\]\.type/);
      await node.shows('With media');
    },
  },
];
