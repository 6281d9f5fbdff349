import { expect } from 'vitest';
import { accept, toUser } from './client-node.ts';
import type { ClientNode, PublicClient } from './client-node.ts';

/** The body of a partner that changes the members of its cohort. */
const cohort = (cohort_name: string, [action, uids]: ['add_members' | 'remove_members', readonly string[]]) => ({
  ...{ partner: 'partner', action },
  parameters: {
    ...{ cohort_name, cohort_id: `id of ${cohort_name}`, cohort_description: '' },
    members: uids.map((uid) => ({ uid })),
  },
});

const pushTo = (node: ClientNode, customerId: string, title: string) =>
  node.send('POST /v2/transaction/sendpush', {
    ...{ ...node.signed(`To ${customerId}`), ...toUser(customerId) },
    payload: { ANDROID: { title, message: 'M' } },
  });

/** Destinations of customer data platforms, server-side tag managers and product analytics. */
export const cdpClients: readonly PublicClient[] = [
  {
    kind: 'CDP destination A: identify with flattened traits',
    breaksOn: 'dotted names, texts for dates and empty texts: 400, and the event is aborted',
    async replay(node) {
      const attributes = {
        ...{ name: 'Grace H', email: 'grace@example.com', first_name: 'Grace', age: 85, gender: 'F', mobile: '+1444' },
        ...{ created_time: 'Thu Mar 24 2016 17:46:45 GMT+0000 (UTC)', last_seen: '2026-01-02T03:04:05.678+05:30' },
        ...{ 'company.id': 'c-1', 'address.city': 'Arlington', 'tags[0]': 'navy', plan: '', svc_unsubscribe: false },
      };
      const body = { customer_id: 'flat-grace', type: 'customer', attributes };
      accept(await node.data(`/v1/customer/${node.workspaceId}`, body));
      expect(await node.attributesOf('flat-grace')).toMatchObject({
        ...{ u_n: 'Grace H', u_em: 'grace@example.com', u_fn: 'Grace', u_gd: 'F', u_mb: '+1444', age: 85 },
        ...{ 'company.id': 'c-1', 'address.city': 'Arlington', 'tags[0]': 'navy', plan: '' },
      });
    },
  },
  {
    kind: 'CDP destination A: identify with traits as objects',
    breaksOn: 'objects, lists and null: 400',
    async replay(node) {
      const attributes = {
        ...{ name: 'Katherine', company: { id: 'c-2', tags: ['a', 'b'] }, visits: [{ place: 'x' }], empty: {} },
        nothing: null,
      };
      const body = { customer_id: 'objects-kat', type: 'customer', attributes };
      accept(await node.data(`/v1/customer/${node.workspaceId}`, body));
      expect((await node.attributesOf('objects-kat')).company).toEqual({ id: 'c-2', tags: ['a', 'b'] });
    },
  },
  {
    kind: 'CDP destination A: token of the phone after identify',
    breaksOn: 'no phone of the platform is ever reached',
    differs: {
      answer: /^400 .*'device_id' is not found in payload/,
      because:
        'the client sends a device without `device_id`, which is required here; fact 5 lists the member and does not say so',
    },
    async replay(node) {
      accept(
        await node.data(`/v1/customer/${node.workspaceId}`, {
          ...{ customer_id: 'no-device-id', type: 'customer', attributes: { name: 'No id' } },
        }),
      );
      const attributes = {
        ...{ platform: 'Android', push_id: 'token-without-id', model: 'AOSP', app_version: '1.1.6', os_version: '9' },
        ...{ push_preference: true, active: true, theme: 'dark' },
      };
      const body = { customer_id: 'no-device-id', type: 'device', attributes };
      accept(await node.data(`/v1/device/${node.workspaceId}`, body));
      accept(await pushTo(node, 'no-device-id', 'Phone without an id'));
      await node.shows('Phone without an id');
    },
  },
  {
    kind: 'CDP destination A: track of an order, years later',
    breaksOn: 'an old time, names with brackets, empty texts: 400',
    async replay(node) {
      const attributes = {
        ...{
          checkout_id: 'c 1',
          revenue: 31.98,
          'products[0].brand': '',
          'products[0].price': 3,
          'products[1].sku': 's',
        },
      };
      const action = {
        ...{ action: 'Order Completed', attributes, platform: 'web', app_version: '1.1.6' },
        ...{ current_time: '2020-10-16T13:40:12.791+05:30', user_timezone_offset: 32_400 },
      };
      const body = { customer_id: 'cdp-order', type: 'event', actions: [action] };
      accept(await node.data(`/v1/event/${node.workspaceId}`, body));
      expect(await node.eventsOf('cdp-order')).toEqual([
        { name: 'Order Completed', attributes, at: '2020-10-16T08:10:12.791Z', platform: 'WEB' },
      ]);
    },
  },
  {
    kind: 'CDP destination A: track with the id of a thing',
    breaksOn: 'an event whose properties have the name id: 400, and the event is lost',
    differs: {
      answer: /^400 .*'id' is a reserved name/,
      because: '`id` is a reserved name (fact 5); the whole event is refused',
    },
    async replay(node) {
      const body = {
        ...{ customer_id: 'cdp-thing', type: 'event' },
        actions: [{ action: 'Product Viewed', attributes: { id: 'p-1', price: 3 }, platform: 'web' }],
      };
      accept(await node.data(`/v1/event/${node.workspaceId}`, body));
      expect(await node.eventsOf('cdp-thing')).toMatchObject([{ attributes: { price: 3 } }]);
    },
  },
  {
    kind: 'CDP destination A: channel of the source as platform',
    breaksOn: 'events of servers and of mobile sources are lost',
    differs: {
      answer: /^400 .*'platform' is not a valid platform\./,
      because: 'fact 5 lists the platforms, and this text for others',
    },
    async replay(node) {
      for (const platform of ['web', 'mobile', 'server']) {
        const body = { customer_id: 'cdp-channel', type: 'event', actions: [{ action: `On ${platform}`, platform }] };
        accept(await node.data(`/v1/event/${node.workspaceId}`, body));
      }
      expect(await node.eventsOf('cdp-channel')).toHaveLength(3);
    },
  },
  {
    kind: 'CDP destination A: alias of two known users',
    breaksOn: '401 without the header of the workspace; the phone stays with the old user',
    async replay(node) {
      await node.addPhone('alias-anonymous');
      const body = { customer_id: 'alias-known', type: 'customer', attributes: { email: 'alias@example.com' } };
      accept(await node.data(`/v1/customer/${node.workspaceId}`, body));
      const merge_data = [{ retained_user: 'alias-known', merged_user: 'alias-anonymous' }];
      const answer = accept(await node.bare(`/v1/customer/merge?app_id=${node.workspaceId}`, { merge_data }));
      expect(answer.status).toBe('success');
      accept(await pushTo(node, 'alias-known', 'After the alias'));
      await node.shows('After the alias');
    },
  },
  {
    kind: 'CDP destination A: alias before the first identify',
    breaksOn: 'the anonymous user and the new one stay two',
    differs: {
      answer: /^400 .*'merge_data\[0\]\.retained_user' must exist/,
      because: 'both users must exist; fact 5 does not say what a merge into an unknown user does',
    },
    async replay(node) {
      await node.addPhone('alias-early');
      const merge_data = [{ retained_user: 'alias-later', merged_user: 'alias-early' }];
      accept(await node.bare(`/v1/customer/merge?app_id=${node.workspaceId}`, { merge_data }));
    },
  },
  {
    kind: 'CDP destination B: identify and track on a route of its own',
    breaksOn: 'the connection test fails, and the destination cannot be enabled',
    differs: { answer: /^404 .*Page not found/, because: 'the interface has no route for a single partner' },
    async replay(node) {
      const body = {
        ...{ type: 'identify', user_id: 'own-route', traits: { email: 'own@example.com' }, anonymous_id: 'a-1' },
        ...{ context: { app: {}, os: { name: 'iOS' }, library: {} }, timestamp: '2026-02-01T00:00:00.000Z' },
        update_existing_only: false,
      };
      accept(await node.bare(`/v1/integrations/partner-a?appId=${node.workspaceId}`, body));
    },
  },
  {
    kind: 'Tag manager A: user and event, one by one',
    breaksOn: 'platforms of the user in the casing of the page: 400',
    async replay(node) {
      const attributes = {
        ...{ name: 'Tag A', first_name: 'Tag', last_name: 'A', email: 'tag@example.com', mobile: '918888444411' },
        ...{ age: 30, gender: 'female', created_time: '2019-05-21T03:47:35Z', last_seen: '2020-05-01T03:52:35Z' },
        ...{ source: 'ads', transactions: 3, revenue: 12.5, svc_unsubscribe: true },
      };
      const body = {
        ...{ type: 'customer', customer_id: 'tag-1', attributes },
        platforms: [
          { platform: 'iOS', active: 'true' },
          { platform: 'web', active: 'false' },
        ],
      };
      accept(await node.data(`/v1/customer/${node.workspaceId}`, body));
      const actions = [
        {
          ...{ action: 'Page viewed', attributes: { path: '/a', tags: ['x'] }, platform: 'iOS', app_version: '2.0' },
          ...{
            user_time: new Date().toISOString(),
            current_time: new Date().toISOString(),
            user_timezone_offset: -18_000,
          },
        },
      ];
      const event = { type: 'event', customer_id: 'tag-1', device_id: 'd-tag', actions };
      accept(await node.data(`/v1/event/${node.workspaceId}`, event));
      expect(await node.attributesOf('tag-1')).toMatchObject({ u_em: 'tag@example.com', u_mb: '918888444411' });
      expect(await node.eventsOf('tag-1')).toMatchObject([{ name: 'Page viewed', platform: 'IOS' }]);
    },
  },
  {
    kind: 'Tag manager A: users and events in batches',
    breaksOn: 'one visitor without an id: the whole batch is lost',
    async replay(node) {
      const visitor = (customer_id: unknown) => [
        { type: 'customer', customer_id, attributes: { email: `${customer_id}@example.com` } },
        { type: 'event', customer_id, actions: [{ action: 'Visited', platform: 'web' }] },
      ];
      const elements = ['tagged-1', '', 'tagged-2'].flatMap(visitor);
      const reply = await node.data(`/v1/transition/${node.workspaceId}`, { type: 'transition', elements });
      expect(accept(reply).status).toBe('success');
      expect(reply.headers.get('x-svc-warning')).toMatch(/^elements\[2\]: .*elements\[3\]: /);
      expect(await node.countUsers('tagged-')).toBe(2);
      expect(await node.eventsOf('tagged-2')).toMatchObject([{ name: 'Visited' }]);
    },
  },
  {
    kind: 'Tag manager A: visitor joins and leaves an audience',
    breaksOn: 'a visitor that left stays in the segment',
    async replay(node) {
      await node.addPhone('audience-1');
      const joined = cohort('Cart leavers', ['add_members', ['audience-1']]);
      accept(await node.segments('POST /v1/integrations/cohortsync', joined));
      expect(await node.countMembers('Cart leavers')).toBe(1);
      const left = cohort('Cart leavers', ['remove_members', ['audience-1']]);
      accept(await node.segments('POST /v1/integrations/cohortsync', left));
      expect(await node.countMembers('Cart leavers')).toBe(0);
    },
  },
  {
    kind: 'Product analytics A: cohort with brackets in its name',
    breaksOn: '"invalid characters", and the sync stops',
    async replay(node) {
      await node.addPhone('bracket-1');
      const name = '[Analytics][Buyers (7 days)]';
      const added = cohort(name, ['add_members', ['bracket-1', 'bracket-unknown']]);
      accept(await node.segments('POST /v1/integrations/cohortsync', added));
      expect(await node.countMembers(name)).toBe(1);
      const push = {
        ...{
          ...node.signed('To the cohort'),
          ...toUser(''),
          targetAudience: 'Custom Segment',
          customSegmentName: name,
        },
        payload: { ANDROID: { title: 'For buyers', message: 'M' } },
      };
      accept(await node.send('POST /v2/transaction/sendpush', push));
      await node.shows('For buyers');
    },
  },
  {
    kind: 'Product analytics B: cohort in parts, workspace in one header',
    breaksOn: '400 without the header of the database',
    async replay(node) {
      for (const uid of ['part-1', 'part-2', 'part-3']) await node.addPhone(uid);
      for (const uids of [['part-1', 'part-2'], ['part-3'], []])
        accept(await node.data('/v1/integrations/cohortsync', cohort('In parts', ['add_members', uids])));
      expect(await node.countMembers('In parts')).toBe(3);
    },
  },
];
