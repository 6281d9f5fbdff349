import { expect } from 'vitest';
import { accept } from './client-node.ts';
import type { PublicClient } from './client-node.ts';

const oneToTwoHundred = Array.from({ length: 200 }, (_, index) => index + 1);

/** Loaders of warehouses, spreadsheets and CRM systems, reverse ETL, and scripts that send what a backend has. */
export const loaderClients: readonly PublicClient[] = [
  {
    kind: 'Warehouse loader A: 200 users a request',
    breaksOn: 'a body with status fail behind 200, or 413 for 200 rows',
    async replay(node) {
      const elements = oneToTwoHundred.map((index) => ({
        ...{ type: 'customer', customer_id: `wh-${index}` },
        attributes: {
          ...{
            u_id: `wh-${index}`,
            u_mb: `+8490${index}`,
            u_n: `Name ${index}`,
            u_em: null,
            user_name: `name ${index}`,
          },
          ...{ dob: '1990-01-02T00:00:00.000Z', loyalty_point: index * 1.5, is_customer: index % 2 === 0 },
        },
      }));
      const reply = await node.bare(`/v1/transition/${node.workspaceId}`, { type: 'transition', elements });
      expect([accept(reply).status, reply.headers.get('x-svc-warning')]).toEqual(['success', null]);
      expect(await node.countUsers('wh-')).toBe(200);
      expect(await node.attributesOf('wh-7')).toMatchObject({ u_mb: '+84907', u_bd: '1990-01-02T00:00:00.000Z' });
    },
  },
  {
    kind: 'Warehouse loader A: rows with attributes that the service itself tracks',
    breaksOn: '200, and no user of the load exists',
    differs: {
      answer: /no user of the load exists: elements\[0\]: ValueError: 'svc_cr_from' is a reserved name/,
      because:
        'names with the abbreviation are reserved (fact 5); the whole element is refused, and named in `X-SVC-Warning`',
    },
    async replay(node) {
      const elements = oneToTwoHundred.map((index) => ({
        ...{ type: 'customer', customer_id: `tracked-${index}` },
        attributes: { u_mb: `+8491${index}`, svc_cr_from: 'web', svc_ip_city: 'Hanoi' },
      }));
      const reply = await node.bare(`/v1/transition/${node.workspaceId}`, { type: 'transition', elements });
      expect(accept(reply).status).toBe('success');
      const stored = await node.countUsers('tracked-');
      if (stored === 0) throw new Error(`no user of the load exists: ${reply.headers.get('x-svc-warning')}`);
      expect(stored).toBe(200);
    },
  },
  {
    kind: 'Warehouse loader A: rows of purchases as events',
    breaksOn: 'events of users that the load has not created yet',
    async replay(node) {
      const elements = [1, 2, 3].map((index) => ({
        ...{ type: 'event', customer_id: `buyer-${index}` },
        actions: [
          {
            ...{
              action: 'purchase',
              platform: 'unknown',
              current_time: '2026-02-03T04:05:06Z',
              user_time: 1_770_091_506,
            },
            attributes: { order: `o-${index}`, amount: index * 1_000, items: [{ sku: 'a', quantity: 1 }], note: null },
          },
        ],
      }));
      const reply = await node.bare(`/v1/transition/${node.workspaceId}`, { type: 'transition', elements });
      expect([accept(reply).status, reply.headers.get('x-svc-warning')]).toEqual(['success', null]);
      expect(await node.eventsOf('buyer-3')).toMatchObject([{ name: 'purchase', attributes: { amount: 3_000 } }]);
    },
  },
  {
    kind: 'Bulk importer in Java, from spreadsheets',
    breaksOn: 'an exception for a status, which it takes for the state of the whole file',
    async replay(node) {
      const attributes = {
        ...{ name: 'LOAN HOLDER', first_name: 'LOAN', last_name: 'HOLDER', email: 'loan@example.com', mobile: '090' },
        ...{
          gender: 'M',
          age: '1980-05-06',
          customer_id_number: 12_345,
          due_date: '2026-03-01 00:00:00.0',
          branch: '',
        },
      };
      const elements = [{ type: 'customer', customer_id: '12345', attributes }];
      accept(await node.bare(`/v1/transition/${node.workspaceId}`, { type: 'transition', elements }));
      expect(await node.attributesOf('12345')).toMatchObject({ u_em: 'loan@example.com', customer_id_number: 12_345 });
    },
  },
  {
    kind: 'Script over a CSV file, a request for each row',
    breaksOn: '400 for the text nan, which its reader writes into empty cells',
    async replay(node) {
      const rows = [
        ['csv-1', 'csv@example.com', '999999999'],
        ['csv-2', 'nan', 'nan'],
      ];
      for (const [customer_id, u_em, u_mb] of rows)
        accept(
          await node.bare(`/v1/customer/${node.workspaceId}`, {
            type: 'customer',
            customer_id,
            attributes: { u_em, u_mb },
          }),
        );
      expect(await node.countUsers('csv-')).toBe(2);
    },
  },
  {
    kind: 'Uploader of a sheet: workspace in path and query, 20 at once',
    breaksOn: 'it tries each row three times, and writes "Upload Failed" beside it',
    async replay(node) {
      const upload = (index: number) =>
        node.bare(`/v1/customer/${node.workspaceId}?app_id=${node.workspaceId}`, {
          ...{ type: 'customer', customer_id: `+9199${index}` },
          attributes: {
            ...{
              first_name: `F${index}`,
              last_name: '',
              mobile: `+9199${index}`,
              email: '',
              city: 'Pune',
              month: '3-2026',
            },
            ...{ upload_time: 1_770_000_000 + index, upload_time_readable: '2026-02-02 03:04:05' },
          },
        });
      for (const reply of await Promise.all(oneToTwoHundred.slice(0, 20).map(upload))) accept(reply);
      expect(await node.countUsers('+9199')).toBe(20);
    },
  },
  {
    kind: 'CRM sync: a lead, with an event that has no actions yet',
    breaksOn: 'the empty event takes the user with it',
    async replay(node) {
      const attributes = {
        ...{ leadid: 'l-1', u_em: 'lead@example.com', u_mb: null, 'Company Name': 'ACME & Sons', Owner: null },
        ...{ 'Created On': '2026-01-02T03:04:05Z', new_utm_source: 'x' },
      };
      const elements = [
        { type: 'customer', customer_id: 'lead@example.com', attributes },
        { type: 'event', customer_id: 'lead@example.com', device_id: 'd-lead', actions: [] },
      ];
      const reply = await node.data(`/v1/transition/${node.workspaceId}`, { type: 'transition', elements });
      expect([reply.status, accept(reply).status]).toEqual([200, 'success']);
      expect(reply.headers.get('x-svc-warning')).toMatch(/^elements\[1\]: /);
      expect(await node.attributesOf('lead@example.com')).toMatchObject({ 'Company Name': 'ACME & Sons' });
    },
  },
  {
    kind: 'Worker of a marketplace: one event for many vendors',
    breaksOn: 'ids that are numbers in one table and texts in another',
    async replay(node) {
      const action = {
        action: 'Brand updated',
        attributes: { brand: 'B', views: 3 },
        current_time: Math.floor(Date.now() / 1000),
      };
      const elements = [81_001, '81002', 81_003].map((customer_id) => ({
        customer_id,
        type: 'event',
        actions: [action],
      }));
      const reply = await node.bare(`/v1/transition/${node.workspaceId}`, { type: 'transition', elements });
      expect([accept(reply).status, reply.headers.get('x-svc-warning')]).toEqual(['success', null]);
      for (const customerId of ['81001', '81002', '81003']) expect(await node.eventsOf(customerId)).toHaveLength(1);
    },
  },
  {
    kind: 'Event script in Node: the clock in milliseconds, as text',
    breaksOn: 'it logs the answer and goes on: every event is lost',
    differs: {
      answer: /^400 .*actions\[0\]\.current_time.*looks like milliseconds/,
      because: 'times are seconds or ISO texts (fact 5); the error says that the number looks like milliseconds',
    },
    async replay(node) {
      const actions = [{ action: 'SUBSCRIPTION_RENEWED', attributes: {}, current_time: Date.now().toString() }];
      const body = { type: 'event', customer_id: 'renewed', actions };
      accept(await node.bare(`/v1/event/${node.workspaceId}?app_id=${node.workspaceId}`, body));
    },
  },
  {
    kind: 'Form of a site, sent by an edge function',
    breaksOn: 'the visitor sees the error of the server',
    differs: {
      answer: /^400 .*'update_existing_only' must be true or false/,
      because: 'the client sends the text "false"; fact 5 describes a Boolean',
    },
    async replay(node) {
      const body = {
        ...{ type: 'customer', customer_id: 'form@example.com', update_existing_only: 'false' },
        attributes: {
          first_name: 'F',
          last_name: 'O',
          email: 'form@example.com',
          country: 'Switzerland',
          answer: 'yes',
        },
      };
      accept(await node.bare(`/v1/customer?app_id=${node.workspaceId}`, body));
      expect(await node.attributesOf('form@example.com')).toMatchObject({ u_em: 'form@example.com' });
    },
  },
  {
    kind: 'Reverse ETL B: changed rows only, updates of known users',
    breaksOn: 'users of the warehouse that never used the app appear',
    async replay(node) {
      await node.addPhone('retl-known', { city: 'Bern' });
      for (const customer_id of ['retl-known', 'retl-stranger']) {
        const body = {
          type: 'customer',
          customer_id,
          attributes: { city: 'Basel', score: 0.25 },
          update_existing_only: true,
        };
        accept(await node.data(`/v1/customer/${node.workspaceId}`, body));
      }
      expect(await node.attributesOf('retl-known')).toMatchObject({ city: 'Basel', score: 0.25 });
      expect(await node.countUsers('retl-stranger')).toBe(0);
    },
  },
  {
    kind: 'Check of a connection: an empty bulk request',
    breaksOn: 'it takes any status but 200 and 400 for a wrong key',
    async replay(node) {
      const path = `/v1/transition/${node.workspaceId}`;
      expect([200, 400]).toContain((await node.data(path, { type: 'transition', elements: [] })).status);
      const wrong = await node.data(path, { type: 'transition', elements: [] }, { headers: node.basic('wrong') });
      expect([wrong.status, wrong.json.error.type]).toEqual([401, 'Authentication required']);
    },
  },
  {
    kind: 'Assistant that reads one user before it answers',
    breaksOn: '400 for a body without type',
    async replay(node) {
      const attributes = { email: 'read@example.com', plan: 'gold' };
      accept(
        await node.data(`/v1/customer/${node.workspaceId}`, { type: 'customer', customer_id: 'read-me', attributes }),
      );
      const data = { identifiers: [{ identifier_type: 'customer_id', identifier: 'read-me' }] };
      const answer = accept(await node.bare(`/v1/customers/export?app_id=${node.workspaceId}`, { data }));
      expect(answer.data.users[0].user_attributes.plan).toBe('gold');
      const missing = { identifiers: [{ identifier_type: 'customer_id', identifier: 'nobody-here' }] };
      const { data: found } = accept(
        await node.bare(`/v1/customers/export?app_id=${node.workspaceId}`, { data: missing }),
      );
      expect(found.users).toEqual([]);
    },
  },
];
