import { expect } from 'vitest';
import type { PublicClient } from './client-node.ts';
import { toUser } from './client-node.ts';

/** Clients that send users, devices and events: destinations of customer data platforms, loaders, wrappers. */
export const dataClients: readonly PublicClient[] = [
  {
    kind: 'CDP destination: identify',
    breaksOn: 'traits that arrive as custom attributes: pushes by e-mail reach no user',
    async replay(node) {
      const attributes = {
        ...{ name: 'Ida Rhodes', first_name: 'Ida', last_name: 'Rhodes', email: 'ida@example.com', mobile: '+1555' },
        ...{ gender: 'female', age: 93, source: 'web', created_time: '2026-01-02T03:04:05.678Z', transactions: 3 },
        ...{ revenue: 12.5, svc_unsubscribe: false, plan: { name: 'gold' } },
      };
      const body = { type: 'customer', customer_id: 'cdp-ida', attributes };
      expect((await node.data(`/v1/customer/${node.workspaceId}`, body)).status).toBe(200);
      await node.addPhone('cdp-ida');
      const push = {
        ...node.signed('CDP by e-mail'),
        ...toUser('ida@example.com', 'USER_ATTRIBUTE_USER_EMAIL'),
        payload: { ANDROID: { title: "CDP says hello {{UserAttribute['First Name']}}", message: 'M' } },
      };
      expect((await node.send('POST /v2/transaction/sendpush', push)).json.status).toBe('Success');
      await node.shows('CDP says hello Ida');
    },
  },
  {
    kind: 'CDP destination: track',
    breaksOn: 'clocks of phones that are ahead, and platforms in lower case: 400, and the event is lost',
    async replay(node) {
      const ahead = new Date(Date.now() + 2_000).toISOString();
      const action = (platform: string) => ({
        ...{ action: `Order from ${platform}`, platform, app_version: '1.2.3', current_time: ahead },
        ...{ attributes: { total: 15.98, products: [{ sku: 'a' }] }, user_timezone_offset: 19_800 },
      });
      for (const platform of ['ios', 'android', 'web', 'iOS', 'ANDROID']) {
        const body = { type: 'event', customer_id: 'cdp-tracked', device_id: 'd-1', actions: [action(platform)] };
        const answer = await node.data(`/v1/event/${node.workspaceId}`, body);
        expect([answer.status, answer.json.status]).toEqual([200, 'success']);
      }
      const [row] = await node.database`select count(*)::int as events from events where name like 'Order from %'`;
      expect(row!.events).toBe(5);
    },
  },
  {
    kind: 'CDP destination: batch of a router',
    breaksOn: 'elements that are dropped behind a 200',
    async replay(node) {
      const identify = (customer_id: unknown, attributes: object) => ({ type: 'customer', customer_id, attributes });
      const elements = [
        identify('router-1', { email: 'r1@example.com' }),
        identify(90210, { mobile: '+1556' }),
        { type: 'event', customer_id: 90210, actions: [{ action: 'Routed', platform: 'ANDROID' }] },
        {
          ...{ type: 'device', customer_id: 'router-1', device_id: 'r-phone' },
          attributes: { platform: 'android', push_id: 'router-token' },
        },
      ];
      const answer = await node.data(`/v1/transition/${node.workspaceId}`, { type: 'transition', elements });
      expect([answer.status, answer.json.status, answer.headers.get('x-svc-warning')]).toEqual([200, 'success', null]);
      expect(await node.attributesOf('90210')).toEqual({ u_mb: '+1556' });
    },
  },
  {
    kind: 'Reverse ETL loader with numeric keys',
    breaksOn: 'rows that are rejected without saying which',
    async replay(node) {
      const rows = Array.from({ length: 50 }, (_, index) => ({
        ...{
          type: 'customer',
          customer_id: 70_000 + index,
          attributes: { score: index, email: `u${index}@example.com` },
        },
      }));
      const bad = { type: 'customer', customer_id: 'null', attributes: {} };
      const body = { type: 'transition', elements: [...rows, bad] };
      const answer = await node.data(`/v1/transition/${node.workspaceId}`, body);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('x-svc-warning')).toMatch(/^elements\[50\]: /);
      expect(await node.attributesOf('70049')).toEqual({ score: 49, u_em: 'u49@example.com' });
    },
  },
  {
    kind: 'ETL tool with the workspace in the query',
    breaksOn: '404, because the workspace is not in the path',
    async replay(node) {
      const body = {
        type: 'customer',
        customer_id: 'etl-1',
        attributes: { city: 'Rome' },
        platforms: [{ platform: 'IOS' }],
      };
      expect((await node.data(`/v1/customer?app_id=${node.workspaceId}`, body)).status).toBe(200);
      expect(await node.attributesOf('etl-1')).toEqual({ city: 'Rome' });
    },
  },
  {
    kind: 'Webhook relay that compresses',
    breaksOn: '400 for a body with gzip',
    async replay(node) {
      const body = { type: 'customer', customer_id: 'relayed', attributes: { text: 'ä'.repeat(2_000) } };
      expect((await node.data(`/v1/customer/${node.workspaceId}`, body, { gzip: true })).status).toBe(200);
      expect((await node.attributesOf('relayed')).text).toHaveLength(2_000);
    },
  },
  {
    kind: 'Wrapper in .NET whose encoder writes a byte order mark',
    breaksOn: '400, Malformed JSON',
    async replay(node) {
      const body = { type: 'customer', customer_id: 'dot-net', attributes: { birthday: '1990-02-03' } };
      expect((await node.data(`/v1/customer/${node.workspaceId}/`, body, { mark: true })).status).toBe(200);
      expect(await node.attributesOf('dot-net')).toEqual({ u_bd: '1990-02-03' });
    },
  },
  {
    kind: 'Wrapper in Python: user, then event',
    breaksOn: 'seconds with a fraction, and a user that exists only by the event',
    async replay(node) {
      const attributes = { name: 'Py', mobile: '+49170', email: 'py@example.com' };
      await node.data(`/v1/customer/${node.workspaceId}`, { type: 'customer', customer_id: 'py', attributes });
      const actions = [{ action: 'Paid', attributes: { amount: 5 }, user_time: Date.now() / 1000 + 1 }];
      const answer = await node.data(`/v1/event/${node.workspaceId}`, { type: 'event', customer_id: 'py', actions });
      expect(answer.json.status).toBe('success');
      expect(await node.attributesOf('py')).toEqual({ u_n: 'Py', u_mb: '+49170', u_em: 'py@example.com' });
    },
  },
  {
    kind: 'Preference centre: subscriptions and unset attributes',
    breaksOn: 'the whole user is refused, or the attribute stays',
    async replay(node) {
      const url = `/v1/customer/${node.workspaceId}`;
      const set = {
        svc_wa_subscription: true,
        svc_em_unsub_categories: ['news'],
        svc_hard_bounce: false,
        old_offer: 'x',
      };
      expect((await node.data(url, { type: 'customer', customer_id: 'prefers', attributes: set })).status).toBe(200);
      const unset_attributes = [{ type: 'equals', attr: 'old_offer', case_sensitive: false }];
      const body = {
        type: 'customer',
        customer_id: 'prefers',
        attributes: { svc_unsubscribe: true },
        unset_attributes,
      };
      expect((await node.data(url, body)).status).toBe(200);
      expect(Object.keys(await node.attributesOf('prefers')).sort()).toEqual([
        ...['svc_em_unsub_categories', 'svc_hard_bounce', 'svc_unsubscribe', 'svc_wa_subscription'],
      ]);
    },
  },
  {
    kind: 'Export tool with the id type of the vendor',
    breaksOn: '400 for its id type',
    async replay(node) {
      await node.addPhone('exported', { email: 'ex@example.com' });
      const [row] = await node.database`select id from users where customer_id = 'exported'`;
      for (const identifier_type of ['id', 'svc_id', 'svcengage_id']) {
        const identifiers = [{ identifier_type, identifier: row!.id }];
        const data = { identifiers, user_fields_to_export: ['email'] };
        const answer = await node.data(`/v1/customers/export?app_id=${node.workspaceId}`, {
          type: 'export_users',
          data,
        });
        expect(answer.json.data.users).toEqual([
          { user_attributes: { customer_id: 'exported', email: 'ex@example.com' } },
        ]);
      }
    },
  },
  {
    kind: 'Privacy tool: deletion',
    breaksOn: 'ids as numbers',
    async replay(node) {
      await node.addPhone('60606');
      const body = { identity_type: 'customer_id', identity_value: 60_606 };
      const answer = await node.data(`/v1/customer/delete?app_id=${node.workspaceId}`, body);
      expect([answer.status, answer.json.status]).toEqual([200, 'success']);
    },
  },
  {
    kind: 'Partner that checks the connection',
    breaksOn: 'a 401 that names no cause',
    async replay(node) {
      const body = { app_id: node.workspaceId, app_secret: node.keys.data, source: 'partner', region: 'dc_01' };
      const answer = await node.data('/v1/integrations/authentication', body);
      expect([answer.status, answer.json.status]).toEqual([200, 'success']);
    },
  },
];
