import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { maxReports } from '../../src/domain/limits/delivery.ts';
import { interactionsDays } from '../../src/domain/limits/retention.ts';
import { address, makeInteractionBundle, start } from './interaction-bundle.ts';
import type { InteractionBundle } from './interaction-bundle.ts';
import { listTimelineEntries } from '../../src/storage/users/user-records.ts';
import { propertyRuns } from '../property-runs.ts';
import { anyText } from '../any-text.ts';

let bundle: InteractionBundle;
let campaignId: string;
let runId: string;
beforeAll(async () => {
  bundle = await makeInteractionBundle();
});
beforeEach(async () => {
  campaignId = await bundle.addCampaign();
  runId = await bundle.addRun(campaignId);
});
afterAll(() => bundle.stop());

const clickToken = ({ token, clickProof }: { token: string; clickProof?: string }) => `${token}.${clickProof}`;
const problem = (code: string, status: number) => ({ code, status, type: `urn:carillon:error:${code}` });

describe('POST /v1/interactions', () => {
  test('counts what a device reports, per platform and kind', async () => {
    const { token } = bundle.pass(runId);
    for (const kind of ['impression', 'click', 'close'])
      expect((await bundle.post({ token, kind })).statusCode).toBe(204);
    const android = bundle.pass(runId, { device: 1, platform: 'ANDROID' }).token;
    expect((await bundle.post({ token: android, kind: 'click', action: 'buy', id: 'x' })).statusCode).toBe(204);
    expect(await bundle.figures(campaignId)).toEqual({
      'ANDROID CLICK': [1, 1],
      'WEB CLICK': [1, 1],
      'WEB CLOSE': [1, 1],
      'WEB IMPRESSION': [1, 1],
    });
    const rows = await bundle.database`
      select bucket, device_id, run_id, kind, action, count, first_at from device_interactions
      where campaign_id = ${campaignId} and platform = 'ANDROID'`;
    expect(rows).toEqual([
      {
        bucket: 1,
        device_id: '000000000000000000000001',
        run_id: runId,
        kind: 'CLICK',
        action: 'buy',
        count: 1,
        first_at: bundle.clock.now(),
      },
    ]);
  });

  test('takes what navigator.sendBeacon sends, from any page and without cookies', async () => {
    const { token } = bundle.pass(runId);
    const answer = await bundle.post(
      { token, kind: 'click' },
      { headers: { 'content-type': 'text/plain;charset=UTF-8', origin: 'https://shop.example' } },
    );
    expect(answer.statusCode).toBe(204);
    expect(answer.headers['access-control-allow-origin']).toBe('*');
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
    const asked = await bundle.server.inject({
      method: 'OPTIONS',
      url: '/v1/interactions',
      headers: { origin: 'https://shop.example', 'access-control-request-method': 'POST' },
    });
    expect(asked).toMatchObject({
      statusCode: 204,
      headers: {
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'POST',
        'access-control-allow-headers': 'content-type',
      },
    });
    expect(await bundle.figures(campaignId)).toEqual({ 'WEB CLICK': [1, 1] });
  });

  test('the same report counts once; another of the same device counts again, but as the same device', async () => {
    const { token } = bundle.pass(runId);
    for (const id of ['a', 'a', 'b', 'a', 'b']) await bundle.post({ token, kind: 'click', id });
    expect(await bundle.figures(campaignId)).toEqual({ 'WEB CLICK': [2, 1] });
    // Without a name a repeat cannot be told from another, so it counts as a repeat.
    for (let time = 0; time < 3; time += 1) await bundle.post({ token, kind: 'click' });
    expect(await bundle.figures(campaignId)).toEqual({ 'WEB CLICK': [3, 1] });
    // The same name under another kind, and in another run, is another report.
    await bundle.post({ token, kind: 'close', id: 'a' });
    const nextRun = await bundle.addRun(campaignId);
    await bundle.post({ token: bundle.pass(nextRun).token, kind: 'click', id: 'a' });
    expect(await bundle.figures(campaignId)).toEqual({ 'WEB CLICK': [4, 1], 'WEB CLOSE': [1, 1] });
  });

  test('50 concurrent reports through two nodes are counted exactly: repeats once, a device of two runs once', async () => {
    const nextRun = await bundle.addRun(campaignId);
    // 5 devices × 2 runs × 2 names, and every one of them again.
    const reports = [0, 1, 2, 3, 4].flatMap((device) =>
      [runId, nextRun].flatMap((run) =>
        ['a', 'b'].map((id) => ({ token: bundle.pass(run, { device }).token, kind: 'click', id })),
      ),
    );
    const all = [...reports, ...reports, ...reports.slice(0, 10)];
    expect(all).toHaveLength(50);
    const answers = await Promise.all(
      all.map((report, index) => bundle.post(report, index % 2 === 0 ? { second: true } : {})),
    );
    expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([204]));
    expect(await bundle.figures(campaignId)).toEqual({ 'WEB CLICK': [20, 5] });
    const [sum] = await bundle.database`
      select sum(count)::int as total, count(distinct (bucket, device_id))::int as devices
      from device_interactions where campaign_id = ${campaignId}`;
    expect(sum).toEqual({ total: 20, devices: 5 });
  });

  test('whatever the order and the batches, the figures are those of the distinct reports', async () => {
    const report = fc.record({
      device: fc.integer({ min: 0, max: 3 }),
      kind: fc.constantFrom('impression', 'click', 'close'),
      id: fc.constantFrom('a', 'b', 'c', undefined),
      platform: fc.constantFrom('ANDROID' as const, 'WEB' as const),
      second: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(report, { minLength: 1, maxLength: 40 }), async (reports) => {
        const campaign = await bundle.addCampaign();
        const run = await bundle.addRun(campaign);
        await Promise.all(
          reports.map(({ device, kind, id, platform, second }) => {
            // A device is of one platform.
            const number = device * 2 + (platform === 'WEB' ? 1 : 0);
            const { token } = bundle.pass(run, { device: number, platform });
            return bundle.post({ token, kind, ...(id && { id }) }, second ? { second: true } : {});
          }),
        );
        const expected: Record<string, [number, number]> = {};
        for (const platform of ['ANDROID', 'WEB']) {
          for (const kind of ['impression', 'click', 'close']) {
            const own = reports.filter((one) => one.platform === platform && one.kind === kind);
            const total = new Set(own.map(({ device, id }) => `${device} ${id}`)).size;
            const devices = new Set(own.map(({ device }) => device)).size;
            if (total > 0) expected[`${platform} ${kind.toUpperCase()}`] = [total, devices];
          }
        }
        expect(await bundle.figures(campaign)).toEqual(expected);
      }),
      { numRuns: propertyRuns(25) },
    );
  });

  test('one device cannot raise a figure for ever', async () => {
    const { token } = bundle.pass(runId);
    const post = (number: number) => bundle.post({ token, kind: 'click', id: `click ${number}` });
    await Promise.all(Array.from({ length: maxReports + 20 }, (_, number) => post(number)));
    expect(await post(9999)).toMatchObject({ statusCode: 204 });
    expect(await bundle.figures(campaignId)).toEqual({ 'WEB CLICK': [maxReports, 1] });
  });

  test('a token that is forged, cut, or of a run that is gone is unknown', async () => {
    const { token, clickProof } = bundle.pass(runId);
    const bad = [
      `${token.slice(0, -1)}${token.endsWith('A') ? 'Q' : 'A'}`,
      token.slice(0, -4),
      `${token}.${clickProof}`,
      clickProof,
      'x',
      bundle.pass('f'.repeat(24)).token,
    ];
    for (const candidate of bad) {
      const answer = await bundle.post({ token: candidate, kind: 'click' });
      expect(answer.statusCode).toBe(404);
      expect(answer.headers['content-type']).toContain('application/problem+json');
      expect(answer.headers['access-control-allow-origin']).toBe('*');
      expect(answer.json()).toMatchObject(problem('INTERACTION_TOKEN_UNKNOWN', 404));
    }
    expect(await bundle.figures(campaignId)).toEqual({});
  });

  test('a run that began before what is kept counts no report, so that none counts twice; its click still leads on', async () => {
    const pass = bundle.pass(runId);
    expect((await bundle.post({ token: pass.token, kind: 'click', id: 'one' })).statusCode).toBe(204);
    bundle.clock.advance(interactionsDays * 24 * 3_600_000 + 1_000);
    await bundle.database`delete from device_interactions`;
    const answer = await bundle.post({ token: pass.token, kind: 'click', id: 'one' });
    expect(answer.json()).toMatchObject(problem('INTERACTION_TOKEN_UNKNOWN', 404));
    expect((await bundle.click(clickToken(pass), address)).statusCode).toBe(302);
    expect(await bundle.figures(campaignId)).toEqual({ 'WEB CLICK': [1, 1] });
    bundle.clock.advance(-(interactionsDays * 24 * 3_600_000 + 1_000));
  });

  test('a token of one workspace never counts in another', async () => {
    const other = await bundle.addWorkspace();
    const otherCampaign = await bundle.addCampaign(other);
    const otherRun = await bundle.addRun(otherCampaign, other);
    // Signed by us, as no caller could: even then the run's own workspace decides.
    const mixed = bundle.pass(otherRun).token;
    expect((await bundle.post({ token: mixed, kind: 'click' })).statusCode).toBe(404);
    const own = bundle.pass(otherRun, { workspaceId: other }).token;
    expect((await bundle.post({ token: own, kind: 'click' })).statusCode).toBe(204);
    expect(await bundle.figures(otherCampaign, other)).toEqual({ 'WEB CLICK': [1, 1] });
    expect(await bundle.figures(otherCampaign)).toEqual({});
  });

  test('one report that cannot be counted does not take others of its batch with it', async () => {
    const gone = bundle.pass('e'.repeat(24)).token;
    const answers = await Promise.all(
      [gone, bundle.pass(runId).token, gone, bundle.pass(runId, { device: 1 }).token].map((token) =>
        bundle.post({ token, kind: 'impression' }),
      ),
    );
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([404, 204, 404, 204]);
    expect(await bundle.figures(campaignId)).toEqual({ 'WEB IMPRESSION': [2, 2] });
  });

  test.each([
    ['no JSON', 'BODY_MALFORMED', '{"token"'],
    ['nothing', 'BODY_EMPTY', ' '],
    ['a list', 'PARAMETER_INVALID', []],
    ['null', 'PARAMETER_INVALID', null],
    ['no token', 'PARAMETER_INVALID', { kind: 'click' }],
    ['a token that is no text', 'PARAMETER_INVALID', { token: 5, kind: 'click' }],
    ['no kind', 'PARAMETER_INVALID', { token: 'x' }],
    ['another kind', 'PARAMETER_INVALID', { token: 'x', kind: 'CLICK' }],
    ['an endless action', 'PARAMETER_INVALID', { token: 'x', kind: 'click', action: 'a'.repeat(65) }],
    ['an id that is no text', 'PARAMETER_INVALID', { token: 'x', kind: 'click', id: 7 }],
  ])('%s is refused with 400', async (_what, code, body) => {
    const answer = await bundle.post(body);
    expect(answer.json()).toMatchObject(problem(code, 400));
  });

  test('a field that is unknown is reported, a body that is too large or of another type refused', async () => {
    const { token } = bundle.pass(runId);
    const answer = await bundle.post({ token, kind: 'click', colour: 'red' });
    expect(answer.statusCode).toBe(204);
    expect(answer.headers['x-svc-warning']).toBe('unknown field "colour"');
    expect((await bundle.post({ token, kind: 'click', more: 'x'.repeat(5000) })).statusCode).toBe(413);
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await bundle.post('token=x', { headers: form })).statusCode).toBe(415);
    const get = await bundle.server.inject({ method: 'GET', url: '/v1/interactions' });
    expect(get.statusCode).toBe(405);
  });

  test('never answers a fault of ours, whatever is sent', async () => {
    const { token } = bundle.pass(runId);
    const value = fc.oneof(anyText(), fc.jsonValue(), fc.constant(token), fc.constant('click'));
    const body = fc.oneof(
      anyText(),
      fc.json(),
      fc
        .record({ token: value, kind: value, action: value, id: value }, { requiredKeys: [] })
        .map((any) => JSON.stringify(any)),
    );
    await fc.assert(
      fc.asyncProperty(body, fc.constantFrom('application/json', 'text/plain'), async (text, type) => {
        const answer = await bundle.post(text, { headers: { 'content-type': type } });
        expect([204, 400, 404, 413]).toContain(answer.statusCode);
      }),
      { numRuns: propertyRuns(300) },
    );
  });
});

describe('GET /v1/click', () => {
  test('goes to the address of the message and counts each visit of one device', async () => {
    const pass = bundle.pass(runId);
    for (let visit = 0; visit < 2; visit += 1) {
      const answer = await bundle.click(clickToken(pass), address);
      expect(answer.statusCode).toBe(302);
      expect(answer.headers.location).toBe('https://shop.example/%C3%BCn%C3%AFcode?a=1&b=2');
      expect(answer.headers['cache-control']).toBe('no-store');
      expect(answer.headers['referrer-policy']).toBe('no-referrer');
    }
    expect(await bundle.figures(campaignId)).toEqual({ 'WEB CLICK': [2, 1] });
  });

  test('redirects nowhere else, and then counts nothing', async () => {
    const pass = bundle.pass(runId);
    const attempts: [string, string][] = [
      [clickToken(pass), 'https://evil.example/'],
      [clickToken(pass), `${address}&c=3`],
      [clickToken(pass), 'javascript:alert(1)'],
      [clickToken(pass), '//evil.example'],
      [clickToken(pass), ''],
      [pass.token, address],
      [`${pass.token}.`, address],
      [`${bundle.pass(runId, { device: 1 }).token}.${pass.clickProof}`, address],
      ['x.y', address],
    ];
    for (const [token, to] of attempts) {
      const answer = await bundle.click(token, to);
      expect(answer.statusCode).toBe(404);
      expect(answer.headers.location).toBeUndefined();
      expect(answer.json()).toMatchObject(problem('INTERACTION_TOKEN_UNKNOWN', 404));
    }
    expect(await bundle.figures(campaignId)).toEqual({});
  });

  test('requires one address, and a HEAD request is no click', async () => {
    const url = `/v1/click/${clickToken(bundle.pass(runId))}`;
    const to = encodeURIComponent(address);
    const ask = (method: 'GET' | 'HEAD' | 'POST', query: string) => bundle.server.inject({ method, url: url + query });
    expect((await ask('GET', '')).statusCode).toBe(400);
    expect((await ask('GET', `?to=${to}&to=https://evil.example`)).statusCode).toBe(400);
    for (const method of ['HEAD', 'POST'] as const) {
      const { statusCode, headers } = await ask(method, `?to=${to}`);
      // RFC 9110 §15.5.6
      expect([statusCode, headers.allow]).toEqual([405, 'GET']);
    }
    expect(await bundle.figures(campaignId)).toEqual({});
    // None of all these calls went to the API log, which would keep the tokens of bodies and paths.
    expect(bundle.recorded).toEqual([]);
  });

  test('never leaves the addresses of messages, whatever is asked', async () => {
    const pass = bundle.pass(runId);
    const part = fc.oneof(fc.webUrl(), anyText(), fc.constant(address), fc.constant('https://e.x'));
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(clickToken(pass), pass.token, 'x'), part, async (token, to) => {
        const { statusCode, headers } = await bundle.click(token, to.isWellFormed() ? to : 'x');
        expect([302, 400, 404]).toContain(statusCode);
        if (statusCode === 302) expect(to).toBe(address);
        else expect(headers.location).toBeUndefined();
      }),
      { numRuns: propertyRuns(150) },
    );
  });
});

describe('an app that says what stands on its icon', () => {
  test('sets the count, whatever it was, and counts nothing of the message', async () => {
    const campaignId = await bundle.addCampaign();
    const runId = await bundle.addRun(campaignId);
    await bundle.database`
      insert into devices (workspace_id, bucket, id, user_id, device_id, platform, push_id, state, badge_count,
        registered_at, created_at, updated_at)
      values (${bundle.workspaceId}, 77, ${(77).toString(16).padStart(24, '0')}, ${'a'.repeat(24)}, 'd', 'WEB', 'p',
        'ACTIVE', 5, ${start}, ${start}, ${start})`;
    const { token } = bundle.pass(runId, { device: 77 });
    expect((await bundle.post({ token, kind: 'badge', value: 2, id: 'r' })).statusCode).toBe(204);
    const [device] = await bundle.database`select badge_count as count from devices where bucket = 77`;
    expect(device!.count).toBe(2);
    expect(await bundle.figures(campaignId)).toEqual({});
  });

  test.each([[undefined], [-1], [100_000], [1.5], ['two']])('is refused with the value %j', async (value) => {
    const { token } = bundle.pass(await bundle.addRun(await bundle.addCampaign()), { device: 77 });
    expect((await bundle.post({ token, kind: 'badge', value })).statusCode).toBe(400);
  });

  test.each([
    [{ kind: 'impression', value: 3 }, 'value'],
    [{ kind: 'click', action: 'open', value: 3 }, 'value'],
    [{ kind: 'badge', value: 3, action: 'open' }, 'action'],
  ])('is no other report: %j is refused for what it would be without effect', async (report, field) => {
    const campaignId = await bundle.addCampaign();
    const { token } = bundle.pass(await bundle.addRun(campaignId), { device: 77 });
    const answer = await bundle.post({ token, ...report });
    expect(answer.json()).toMatchObject({ ...problem('PARAMETER_INVALID', 400), field });
    expect(await bundle.figures(campaignId)).toEqual({});
  });

  test('needs the token of a message', async () => {
    expect((await bundle.post({ token: 'x', kind: 'badge', value: 0 })).statusCode).toBe(404);
  });
});

describe('that FCM lowered the priority of what was shown', () => {
  test('is kept of the device, and shown on the page of its user', async () => {
    const { database, workspaceId } = bundle;
    const [bucket, userId] = [78, 'b'.repeat(24)];
    await database`
      insert into devices (workspace_id, bucket, id, user_id, device_id, platform, push_id, state, registered_at,
        created_at, updated_at)
      values (${workspaceId}, ${bucket}, ${bucket.toString(16).padStart(24, '0')}, ${userId}, 'd', 'ANDROID', 'p',
        'ACTIVE', ${start}, ${start}, ${start})`;
    const details = async () => {
      const entries = await listTimelineEntries(database, { workspaceId, bucket, userId, after: undefined, limit: 10 });
      return entries.filter(({ kind }) => kind === 'IMPRESSION').map(({ detail }) => detail);
    };
    const { token } = bundle.pass(runId, { device: bucket, platform: 'ANDROID' });
    expect((await bundle.post({ token, kind: 'impression', lowered: false, id: '1' })).statusCode).toBe(204);
    expect(await details()).toEqual([{ count: 1 }]);
    expect((await bundle.post({ token, kind: 'impression', lowered: true, id: '2' })).statusCode).toBe(204);
    expect((await bundle.post({ token, kind: 'impression', id: '3' })).statusCode).toBe(204);
    expect(await details()).toEqual([{ count: 3, lowered: true }]);
  });

  test.each(['click', 'close', 'badge'])('is refused of a report of kind %s, which counts nothing', async (kind) => {
    const { token } = bundle.pass(runId);
    const answer = await bundle.post({ token, kind, lowered: true, value: 1 });
    expect(answer.json()).toMatchObject({ ...problem('PARAMETER_INVALID', 400), field: 'lowered' });
    expect(await bundle.figures(campaignId)).toEqual({});
  });
});
