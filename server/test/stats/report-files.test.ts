import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fullTest } from '../full-test.ts';
import { makeWriteReportFiles } from '../../src/engine/report-files.ts';
import type { ReadReport } from '../../src/engine/report-files.ts';
import { makeDropOldRecords } from '../../src/engine/housekeeping/old-records.ts';
import { makeLog } from '../../src/log.ts';
import { makeReadReport } from '../../src/start/node/engine.ts';
import { makeStatsBundle } from './stats-bundle.ts';
import type { StatsBundle } from './stats-bundle.ts';

const asked = {
  ...{ request_id: 'r1', start_date: '2026-02-01', end_date: '2026-05-02' },
  ...{ attribution_type: 'TOTAL_CONVERSIONS', metric_type: 'TOTAL' },
};
const day = 86_400_000;
const sign = (text: string) => createHash('sha256').update(text).digest('hex');

const log = makeLog({ level: 'silent', pretty: false });
let bundle: StatsBundle;
beforeAll(async () => {
  bundle = await makeStatsBundle();
  await bundle.addUser('ann');
  await bundle.addUser('bob');
});
afterAll(() => bundle.end());

const headers = () => ({
  ...{ authorization: bundle.basic(bundle.secret), 'svc-appkey': bundle.workspaceId },
  'content-type': 'application/json',
});

async function request(body: Record<string, unknown> = {}, more: Record<string, string> = {}) {
  const payload = JSON.stringify({ ...asked, ...body });
  const reply = await bundle.server.inject({
    ...{ method: 'POST', url: '/v1/campaign-reports', payload },
    headers: { ...headers(), ...more },
  });
  return { status: reply.statusCode, body: reply.json() };
}

async function list(): Promise<any[]> {
  const { 'content-type': _, ...rest } = headers();
  const reply = await bundle.server.inject({ method: 'GET', url: '/v1/campaign-reports', headers: rest });
  return reply.json().report_files;
}

const read = (url: string, signature?: string) =>
  bundle.server.inject({ method: 'GET', url, headers: signature === undefined ? {} : { signature } });

/** Asked for and made. */
async function made(body: Record<string, unknown> = {}) {
  const asking = (await request(body)).body;
  expect(await bundle.reportJob.runOnce(bundle.clock.now())).toBe(1);
  return asking as { file_name: string; path: string; signature: string };
}

const linesOf = (bytes: Buffer) =>
  gunzipSync(bytes)
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

describe('a report file (fact 7)', () => {
  let campaigns: string[];
  beforeAll(async () => {
    campaigns = [];
    for (let count = 0; count < 23; count += 1) {
      const id = await bundle.addCampaign([{ name: 'Bought', eventName: 'Bought' }]);
      const run = await bundle.addRun(id, [{ customerId: 'ann' }, { customerId: 'bob', outcome: 'GONE', code: 'X' }]);
      if (count % 2 === 0) await bundle.report(run, { nth: 0, kind: 'click' });
      campaigns.push(id);
    }
  });

  test('has a line for each campaign with its statistics, and is readable with the documented signature', async () => {
    const file = await made();
    expect(file).toMatchObject({
      ...{ response_id: 'r1', path: `/campaign_reports/rest_api/${bundle.workspaceId}/${file.file_name}` },
      signature: sign(`${bundle.workspaceId}|${file.file_name}|${bundle.secret}`),
    });
    const reply = await read(file.path, file.signature);
    expect([reply.statusCode, reply.headers['content-type']]).toEqual([200, 'application/gzip']);
    expect(Number(reply.headers['content-length'])).toBe(reply.rawPayload.length);
    const lines = linesOf(reply.rawPayload);
    expect(lines.map(({ campaign_id }) => campaign_id)).toEqual(campaigns.toSorted().toReversed());
    const answers = [0, 10, 20].map((offset) => bundle.ask({ offset }));
    const said = Object.assign({}, ...(await Promise.all(answers)).map(({ body }) => body.data));
    for (const { campaign_id: id, campaign_name: name, campaign_delivery_type: type, ...figures } of lines) {
      expect([name, type]).toEqual([id, 'ONE_TIME']);
      expect(figures).toEqual(said[id][0]);
    }
    const [listed] = await list();
    expect(listed).toMatchObject({
      ...{ file_name: file.file_name, state: 'READY', campaigns: 23, size_bytes: reply.rawPayload.length },
      ...{ start_date: '2026-02-01', end_date: '2026-05-02', attribution_type: 'TOTAL_CONVERSIONS' },
    });
  });

  test('contains the named campaigns, with the requested attribution and metric', async () => {
    const file = await made({ campaign_ids: [campaigns[3]], attribution_type: 'CLICK_THROUGH', metric_type: 'UNIQUE' });
    const lines = linesOf((await read(file.path, file.signature)).rawPayload);
    expect(lines.map(({ campaign_id }) => campaign_id)).toEqual([campaigns[3]]);
    const { body } = await bundle.ask({
      ...{ campaign_ids: [campaigns[3]], attribution_type: 'CLICK_THROUGH', metric_type: 'UNIQUE' },
    });
    expect(lines[0].platforms).toEqual(body.data[campaigns[3]!]![0].platforms);
  });

  test('is not readable with another signature, or before it is created', async () => {
    const { file_name: name, path, signature } = (await request()).body;
    const told = (reply: { statusCode: number; body: string }) => [reply.statusCode, reply.body];
    const waiting = await read(path, signature);
    expect([waiting.statusCode, waiting.json().error]).toEqual([
      400,
      {
        ...{ attribute: 'FILENAME', message: 'is not made yet', type: 'BAD REQUEST' },
        request_id: expect.stringMatching(/^[a-z]{8}$/),
      },
    ]);
    await bundle.reportJob.runOnce(bundle.clock.now());
    expect((await read(path, signature)).statusCode).toBe(200);
    const wrong = [
      undefined,
      '',
      sign(`${bundle.workspaceId}|${name}|wrong`),
      sign(`${bundle.workspaceId}|other|${bundle.secret}`),
      signature.toUpperCase(),
    ];
    for (const one of wrong) expect(told(await read(path, one))).toEqual([401, '']);
    const elsewhere = await read(path.replace(bundle.workspaceId, 'OTHER'), signature);
    expect([elsewhere.statusCode, elsewhere.json().error.attribute]).toEqual([400, 'FILENAME']);
    expect((await read(`${path}x`, signature)).statusCode).toBe(400);
    const posted = await bundle.server.inject({ method: 'POST', url: path });
    expect([posted.statusCode, posted.headers.allow]).toEqual([405, 'GET']);
  });

  test('returns every other error on its address in its own shape', async () => {
    const url = `/campaign_reports/rest_api/${bundle.workspaceId}/unknown`;
    const reply = await bundle.server.inject({ method: 'DELETE', url });
    expect([reply.statusCode, reply.headers.allow, reply.json()]).toEqual([
      405,
      'GET',
      {
        error: {
          attribute: 'REQUEST',
          message: expect.any(String),
          type: 'METHOD NOT ALLOWED',
          request_id: expect.any(String),
        },
      },
    ]);
  });

  test('is no longer readable after its key was rotated or archived', async () => {
    const file = await made();
    const read200 = async () => (await read(file.path, file.signature)).statusCode;
    expect(await read200()).toBe(200);
    const change = (set: any) => bundle.database`update api_keys set ${set} where kind = 'campaigns'`;
    await change(bundle.database`generation = generation + 1`);
    expect(await read200()).toBe(401);
    await change(bundle.database`generation = generation - 1, archived_at = now()`);
    expect(await read200()).toBe(401);
    await change(bundle.database`archived_at = null`);
    expect(await read200()).toBe(200);
  });

  test('is created once for a repeated request, and covers at most 90 days', async () => {
    const before = (await list()).length;
    const once = { 'idempotency-key': 'once' };
    const [first, second] = [await request({}, once), await request({}, once)];
    expect([first.status, second.body]).toEqual([202, first.body]);
    expect((await list()).length).toBe(before + 1);
    const { status, body } = await request({ end_date: '2026-05-03' });
    expect([status, body.description]).toEqual([400, 'end_date: must be at most 90 days after start_date']);
    await bundle.reportJob.runOnce(bundle.clock.now());
  });

  test('is removed after seven days, with its bytes', async () => {
    const file = await made();
    bundle.clock.advance(7 * day - 1);
    expect((await read(file.path, file.signature)).statusCode).toBe(200);
    bundle.clock.advance(1);
    expect((await read(file.path, file.signature)).statusCode).toBe(400);
    expect(await list()).toEqual([]);
    await makeDropOldRecords({ database: bundle.database, clock: bundle.clock, inboxMessages: 100 }).runOnce(
      bundle.clock.now(),
    );
    const [left] = await bundle.database`
      select (select count(*) from report_files) as files, (select count(*) from report_file_pieces) as pieces`;
    expect(left).toEqual({ files: 0, pieces: 0 });
  });

  test('is limited to fifty per workspace', async () => {
    bundle.clock.advance(60_000);
    for (let count = 0; count < 50; count += 1) expect((await request()).status).toBe(202);
    const { status, body } = await request();
    expect([status, body.title, body.description]).toEqual([
      ...[409, 'Conflict'],
      'A workspace has at most 50 report files that are not gone.',
    ]);
    await bundle.database`delete from report_files`;
  });
});

describe('the creation of a report file', () => {
  const job = (readReport: ReadReport) =>
    makeWriteReportFiles({ database: bundle.database, clock: bundle.clock, log, readReport });

  test('starts again on another worker if one dies, whose late pieces are rejected', async () => {
    const { path, signature } = (await request()).body;
    let go = (): void => {};
    const held = new Promise<void>((resolve) => {
      go = resolve;
    });
    const slow = job(async function* () {
      // Incompressible, so that a piece is stored before the worker stands still.
      for (let count = 0; count < 20_000; count += 1) yield `${sign(String(count))}\n`;
      await held;
      yield 'late\n';
    });
    const dying = slow.runOnce(bundle.clock.now());
    const pieces = async () =>
      (await bundle.database<{ count: number }[]>`select count(*) as count from report_file_pieces`)[0]!.count;
    while ((await pieces()) === 0);
    const quick = job(makeReadReport(bundle.database));
    expect(await quick.runOnce(bundle.clock.now())).toBe(0);
    bundle.clock.advance(300_001);
    expect(await quick.runOnce(bundle.clock.now())).toBe(1);
    go();
    await dying;
    const lines = linesOf((await read(path, signature)).rawPayload);
    expect(lines.length).toBe(23);
    expect(await pieces()).toBe(1);
  });

  test('is retried five times after failures, and then given up with the reason', async () => {
    const { path, signature } = (await request()).body;
    const failing = job(async function* () {
      yield 'a\n';
      throw new Error('the database is away');
    });
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      expect(await failing.runOnce(bundle.clock.now())).toBe(1);
      expect(await failing.runOnce(bundle.clock.now())).toBe(0);
      bundle.clock.advance(60_000);
    }
    expect((await list())[0]).toMatchObject({ state: 'FAILED', reason: 'a fault of the service' });
    const reply = await read(path, signature);
    expect([reply.statusCode, reply.json().error.message]).toEqual([400, 'could not be made: a fault of the service']);
  });

  fullTest(
    'is stored while it is created, with at most two pieces of a hundred thousand lines in memory (FULL=1)',
    async () => {
      const { path, signature } = (await request()).body;
      const pieces = async () =>
        (await bundle.database<{ count: number }[]>`select count(*) as count from report_file_pieces`)[0]!.count;
      const before = await pieces();
      let stored = 0;
      const long = job(async function* () {
        for (let count = 0; count < 100_000; count += 1) yield `${sign(String(count))}\n`;
        stored = (await pieces()) - before;
      });
      await long.runOnce(bundle.clock.now());
      const reply = await read(path, signature);
      expect(gunzipSync(reply.rawPayload).length).toBe(100_000 * 65);
      expect(stored).toBeGreaterThan(8);
      expect((await pieces()) - before - stored).toBeLessThanOrEqual(2);
    },
  );
});
