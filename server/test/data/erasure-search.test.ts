import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { signPush } from '../../src/domain/crypto/signatures.ts';
import { until } from '../carillon-bundle.ts';
import { runCommand, startMain } from '../rig/processes.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';

/** A user as senders know it. Each text is in many calls, and in no other text. */
const jane = {
  id: 'jane-4711-erased',
  merged: 'jane-anonymous-0815',
  email: 'jane.roe+4711@example.com',
  phone: '+436601234711',
  token: 'token:of-jane_4711-phone',
  second: 'token:of-jane_4711-tablet',
};

describe('everything that a node stores and writes about an erased user', () => {
  let bundle: TestDatabase;
  let folder: string;
  let node: Awaited<ReturnType<typeof startMain>>;
  let files: { origin: string; close(): void };
  beforeAll(async () => {
    bundle = await createTestDatabase();
    folder = await mkdtemp(join(tmpdir(), 'carillon-erasure-'));
    files = await serveFile(`${jane.email}\nother@example.com\n`);
    node = await startMain(environment(), ['--port', '0', '--seed', '7']);
  });
  afterAll(async () => {
    node.process.kill('SIGTERM');
    await node.exited;
    files.close();
    await bundle.drop();
    await rm(folder, { recursive: true, force: true });
  });

  test('names the user neither in a table nor in the log nor in a backup made afterwards', async () => {
    await doEverything();
    const before = await searchTables();
    for (const table of [
      'api_log',
      'users',
      'devices',
      'identifiers',
      'merged_users',
      'segments',
      'campaigns',
      'sandbox_messages',
    ])
      expect(Object.keys(before)).toContain(table);

    const isBackedUp = inject('workerUrls') === null;
    if (isBackedUp) expect((await backUp('before')).length).toBeGreaterThan(15);

    await data('/v1/customer/delete', { identity_type: 'customer_id', identity_value: jane.id });
    // The log stores a call half a second after it; the clock that is moved here gives it no minute.
    await until(async () => (await bundle.database`select 1 from api_log where path like '%delete%'`).length > 0);
    await post('/sandbox/clock', { advanceSeconds: 2 * 3_600 }, {});
    await until(async () => {
      const rows = await bundle.database`
        select 1 from erasures where state <> 'DONE' union all select 1 from log_erasures`;
      return rows.length === 0;
    });
    expect(await searchTables()).toEqual({});
    const [proof] = await bundle.database<
      { calls: number }[]
    >`select (counts ->> 'api_log')::int as calls from erasures`;
    expect(proof!.calls).toBeGreaterThan(15);

    if (isBackedUp) expect(await backUp('after')).toEqual([]);
    node.process.kill('SIGTERM');
    const { stderr } = await node.exited;
    expect(stderr.length).toBeGreaterThan(1_000);
    const lines = stderr.split('\n').filter((line) => Object.values(jane).some((text) => line.includes(text)));
    expect(lines).toEqual([]);
  });

  /** Makes a backup. @returns where it names the user; a cluster is backed up node by node */
  async function backUp(name: string): Promise<string[]> {
    await runCommand(environment(), ['backup', '--out', join(folder, name)]);
    return searchFolder(join(folder, name));
  }

  function environment(): Record<string, string> {
    return {
      PATH: process.env.PATH!,
      HOME: process.env.HOME!,
      DATABASE_URL: bundle.applicationUrl,
      CARILLON_DATA_DIR: folder,
      CARILLON_ALLOWED_NETWORKS: '127.0.0.0/8',
      CARILLON_ERASURE_DELAY_HOURS: '0',
      // The most that an operator can make it write.
      CARILLON_LOG_LEVEL: 'trace',
    };
  }

  async function post(path: string, body: unknown, headers: Record<string, string>) {
    const answer = await fetch(`${node.line.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    return { status: answer.status, json: (await answer.json()) as any };
  }

  function basic(secret: string) {
    const { workspaceId, dbName } = node.line;
    return {
      authorization: `Basic ${Buffer.from(`${workspaceId}:${secret}`).toString('base64')}`,
      'svc-appkey': workspaceId,
      'svc-dbname': dbName,
    };
  }

  function data(path: string, body: unknown) {
    return post(`${path}?app_id=${node.line.workspaceId}`, body, basic(node.line.keys!.data));
  }

  async function push(campaignName: string, more: Record<string, unknown>) {
    const { workspaceId, keys } = node.line;
    return post(
      '/v2.1/transaction/sendpush',
      {
        requestType: 'push',
        targetPlatform: ['ANDROID'],
        payload: {
          ANDROID: {
            message: 'Hello {{UserAttribute["name"]}}',
            title: 'News',
            defaultAction: { type: 'deeplinking', value: 'app://x' },
          },
        },
        campaignDelivery: { type: 'soon' },
        ...more,
        campaignName,
      },
      {
        'x-svc-appkey': workspaceId,
        'x-svc-pushapi-signature': signPush({ appId: workspaceId, campaignName, key: keys!.push }),
        'x-svc-query-type': String(more.targetAudience).toLowerCase(),
      },
    );
  }

  /** Each way in which a sender can name a user, right and wrong. */
  async function doEverything(): Promise<void> {
    const { id, merged, email, phone, token, second } = jane;
    const attributes = { name: 'Jane Roe', email, mobile: phone, city: 'Linz' };
    const expectAll = async (...answers: Promise<{ status: number; json: any }>[]) => {
      for (const { status, json } of await Promise.all(answers))
        if (![200, 201, 202].includes(status) || json.status === 'Fail') expect.fail(JSON.stringify(json));
    };
    await expectAll(data('/v1/customer', { type: 'customer', customer_id: id, attributes }));
    await expectAll(data('/v1/customer', { type: 'customer', customer_id: merged, attributes: { email } }));
    const device = (customer: string, deviceId: string, pushId: string) =>
      data('/v1/device', {
        type: 'device',
        customer_id: customer,
        device_id: deviceId,
        attributes: { platform: 'ANDROID', push_id: pushId },
      });
    await expectAll(device(id, 'jane-phone', token), device(merged, 'jane-tablet', second));
    await expectAll(
      data('/v1/event', { type: 'event', customer_id: id, actions: [{ action: 'Paid', attributes: { to: email } }] }),
    );
    await expectAll(
      data('/v1/transition', { type: 'transition', elements: [{ type: 'customer', customer_id: id, attributes }] }),
    );
    await expectAll(data('/v1/customer/merge', { merge_data: [{ merged_user: merged, retained_user: id }] }));
    await expectAll(
      data('/v1/customers/export', {
        type: 'export_users',
        data: { identifiers: [{ identifier_type: 'customer_id', identifier: id }] },
      }),
    );
    const manage = { user_identifier_type: 'customer_id', user_identifier_value: id };
    await expectAll(data('/v1/devices/manage', { ...manage, action_type: 'block', reason: 'stolen' }));
    await expectAll(data('/v1/devices/manage', { ...manage, action_type: 'unblock' }));
    const list = { name: 'Of a file', attribute_name: 'email', attribute_type: 'string', expiry_time: 30 };
    const reports = { callback_url: `${files.origin}/done`, emails: [] };
    const segments = basic(node.line.keys!.data);
    await expectAll(
      post('/v2/custom-segments/file-segment', { ...list, ...reports, file_url: `${files.origin}/a.csv` }, segments),
    );
    const isJane = { filter_type: 'user_attributes', name: 'u_em', data_type: 'string', operator: 'is', value: email };
    const filters = { filter_operator: 'and', filters: [isJane] };
    await expectAll(post('/v3/custom-segments', { name: 'By filter', included_filters: filters }, segments));
    const cohort = {
      action: 'add_members',
      partner: 'p',
      parameters: { cohort_name: 'C', cohort_id: '1', members: [{ uid: id }] },
    };
    await expectAll(post('/v1/integrations/cohortsync', cohort, segments));

    const one = {
      targetAudience: 'User',
      targetUserAttributes: { attribute: 'USER_ATTRIBUTE_UNIQUE_ID', comparisonParameter: 'is', attributeValue: id },
    };
    const byEmail = {
      targetAudience: 'User',
      targetUserAttributes: {
        attribute: 'USER_ATTRIBUTE_USER_EMAIL',
        comparisonParameter: 'is',
        attributeValue: email,
      },
    };
    const later = new Date(Date.now() + 86_400_000 * 20);
    const day = `${later.getUTCMonth() + 1}/${later.getUTCDate()}/${later.getUTCFullYear()}`;
    await expectAll(push('To one jane', one), push('By the address', byEmail));
    await expectAll(
      push('Tomorrow to one', { ...byEmail, campaignDelivery: { type: 'later', date: day, time: '10:00 AM' } }),
    );
    await until(async () => (await bundle.database`select 1 from sandbox_messages`).length >= 2);

    // Calls that are refused say why, with the values that were sent.
    await data('/v1/customer', { type: 'customer', customer_id: id, attributes: { time_zone: email } });
    await data('/v1/event', { type: 'event', customer_id: id, actions: [{ action: 'x', platform: email }] });
    await data('/v1/device', {
      type: 'device',
      customer_id: id,
      device_id: 'x',
      attributes: { platform: phone, push_id: token },
    });
    await data('/v1/customer/merge', { merge_data: [{ merged_user: email, retained_user: id }] });
    await data('/v1/transition', {
      type: 'transition',
      elements: [{ type: 'event', customer_id: id, actions: [] }, { type: email }],
    });
    await push('To one jane', {
      targetAudience: 'User',
      targetUserAttributes: { attribute: email, comparisonParameter: 'is', attributeValue: phone },
    });
    await post(
      `/v1/customer?app_id=${node.line.workspaceId}`,
      { type: 'customer', customer_id: id, attributes },
      basic('a wrong key'),
    );
    await post('/v1/customer?app_id=UNKNOWN', { type: 'customer', customer_id: id, attributes }, basic('a wrong key'));
    await post(`/v1/customer/${encodeURIComponent(email)}`, { type: 'customer', customer_id: id }, segments);
    await until(
      async () =>
        (await bundle.database`select 1 from segment_operations where state not in ('QUEUED', 'FILLING')`).length >= 1,
    );
  }

  async function searchTables(): Promise<Record<string, number>> {
    const tables = await bundle.database<{ name: string }[]>`
      select relname as name from pg_class join pg_namespace on pg_namespace.oid = relnamespace
      where nspname = 'public' and relkind = 'r' and relname <> 'spatial_ref_sys' order by 1`;
    const found: Record<string, number> = {};
    for (const { name } of tables) {
      const [row] = await bundle.database<{ rows: number }[]>`
        select count(*)::int as rows from ${bundle.database(name)} as given
        where exists (select 1 from unnest(${Object.values(jane)}::text[]) as wanted where position(wanted in given::text) > 0)`;
      if (row!.rows > 0) found[name] = row!.rows;
    }
    return found;
  }

  async function searchFolder(path: string): Promise<string[]> {
    const found: string[] = [];
    for (const entry of await readdir(path, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const { name } = entry;
      const bytes = await readFile(join(entry.parentPath, name));
      const text = (bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes).toString('latin1');
      for (const wanted of Object.values(jane)) if (text.includes(wanted)) found.push(`${name}: ${wanted}`);
    }
    return found;
  }
});

async function serveFile(text: string): Promise<{ origin: string; close(): void }> {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => response.writeHead(200, { 'content-type': 'text/csv' }).end(text));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { origin: `http://127.0.0.1:${port}`, close: () => server.close() };
}
