import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { recordInteractions } from '../../src/app/interactions.ts';
import { makeInteractionTokens, reportDigest, selectNewReports } from '../../src/domain/events/interactions.ts';
import type { InteractionSubject, InteractionTokens } from '../../src/domain/events/interactions.ts';
import { maxReports } from '../../src/domain/limits/delivery.ts';
import { interactionsDays } from '../../src/domain/limits/retention.ts';
import { inTransaction } from '../../src/storage/database.ts';
import { addCampaignInteractions, addDeviceReports, holdReports } from '../../src/storage/ledger/interactions.ts';
import type { DeviceReport } from '../../src/storage/ledger/interactions.ts';
import { listTimelineEntries } from '../../src/storage/users/user-records.ts';
import { anyText } from '../any-text.ts';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { propertyRuns } from '../property-runs.ts';
import { address, makeInteractionBundle, start } from './interaction-bundle.ts';
import type { InteractionBundle } from './interaction-bundle.ts';

describe('interactions', () => {
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
      const ask = (method: 'GET' | 'HEAD' | 'POST', query: string) =>
        bundle.server.inject({ method, url: url + query });
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
        const entries = await listTimelineEntries(database, {
          workspaceId,
          bucket,
          userId,
          after: undefined,
          limit: 10,
        });
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
});

describe('concurrent reports', () => {
  let bundle: InteractionBundle;
  let campaignId: string;
  let runId: string;
  beforeAll(async () => {
    bundle = await makeInteractionBundle();
    campaignId = await bundle.addCampaign();
    runId = await bundle.addRun(campaignId);
  });
  afterAll(() => bundle.stop());

  const report = (bucket: number, id: string): DeviceReport => ({
    workspaceId: bundle.workspaceId,
    bucket,
    campaignId,
    deviceId: bucket.toString(16).padStart(24, '0'),
    kind: 'CLICK',
    runId,
    platform: 'WEB',
    variation: 0,
    locale: '',
    action: null,
    digest: reportDigest(id),
  });
  const received = (bucket: number, id: string) => ({
    subject: { ...report(bucket, id) },
    kind: 'click' as const,
    action: null,
    digest: reportDigest(id),
    at: bundle.clock.now(),
  });

  test('while a report is stored, those of devices in other buckets are counted, and those of its own wait and are counted after it', async () => {
    const { database } = bundle;
    let own: Promise<boolean[]> | undefined;
    await inTransaction(database, async (tx) => {
      const reports = [report(1, 'a')];
      await holdReports(tx, reports);
      await addDeviceReports(tx, { reports, at: bundle.clock.now() });
      await addCampaignInteractions(tx, selectNewReports({ reports, counted: [], most: 10 }).gains);
      // Waiting here for one that waits for this transaction would be waiting for ever.
      expect(await recordInteractions({ database, since: new Date(0) }, [received(2, 'b'), received(3, 'c')])).toEqual([
        true,
        true,
      ]);
      expect(await bundle.figures(campaignId)).toEqual({ 'WEB CLICK': [2, 2] });
      own = recordInteractions({ database, since: new Date(0) }, [received(1, 'a'), received(1, 'd')]);
    });
    await own;
    // The repeat of 'a' counts once, 'd' as another of the same device.
    expect(await bundle.figures(campaignId)).toEqual({ 'WEB CLICK': [4, 3] });
  });
});

describe('reports from devices', () => {
  let bundle: CarillonBundle;
  beforeAll(async () => {
    bundle = await startCarillonBundle();
  });
  afterAll(() => bundle.stop());

  const page = 'https://shop.example/offer?id=7';

  test('what arrives at a phone or browser is enough to report it and to build its link, on every platform', async () => {
    const action = { type: 'richlanding', value: page };
    const accepted = await bundle.push({
      campaignName: 'Reported by all',
      targetPlatform: ['ANDROID', 'IOS', 'WEB'],
      targetAudience: 'All Users',
      payload: {
        ANDROID: { title: 'T', message: 'M', defaultAction: action },
        IOS: { title: 'T', message: 'M', defaultAction: action },
        WEB: { title: 'T', message: 'M', redirectURL: page, iconURL: 'https://shop.example/i.png' },
      },
      campaignDelivery: { type: 'soon' },
    });
    const { cid } = accepted.json();
    const messages = await until(async () => {
      const found = await bundle.inbox();
      return found.length === 3 && found;
    });
    const passOf: Record<string, (payload: any) => { token: string; proof: string }> = {
      ANDROID: ({ data }) => ({ token: data.svc_report_token, proof: data.svc_click_proof }),
      IOS: ({ svc }) => ({ token: svc.report_token, proof: svc.click_proof }),
      WEB: ({ report_token: token, click_proof: proof }) => ({ token, proof }),
    };
    for (const { platform, payload } of messages) {
      const { token, proof } = passOf[platform]!(payload);
      const body = { token, kind: 'impression', id: 'first' };
      expect((await bundle.call('POST', '/v1/interactions', { body })).status).toBe(204);
      const link = `${bundle.url}/v1/click/${token}.${proof}?to=${encodeURIComponent(page)}`;
      const answer = await fetch(link, { redirect: 'manual' });
      expect([answer.status, answer.headers.get('location')]).toEqual([302, page]);
    }
    const rows = await bundle.database`
      select platform, kind, total, unique_devices from campaign_interactions where campaign_id = ${cid}
      order by platform, kind`;
    expect(rows.map((row) => Object.values(row))).toEqual(
      ['ANDROID', 'IOS', 'WEB'].flatMap((platform) => ['CLICK', 'IMPRESSION'].map((kind) => [platform, kind, 1, 1])),
    );
    // The calls of devices are no integrator's: they stay out of the API log, and their tokens with them.
    await bundle.call('GET', '/sandbox/clock');
    const logged = await until(async () => {
      const entries = await bundle.database`select route, path from api_log`;
      return entries.some(({ route }) => route === '/sandbox/clock') && entries;
    });
    expect(logged.filter(({ path }) => /interactions|click/.test(path))).toEqual([]);
  });
});

describe('the limit of reports, at the routes,', () => {
  let bundle: InteractionBundle;
  let runId: string;
  let campaignId: string;
  beforeAll(async () => {
    bundle = await makeInteractionBundle({
      token: { events: 3, seconds: 60 },
      address: { events: 6, seconds: 60 },
      unknownToken: { events: 6, seconds: 60 },
    });
    campaignId = await bundle.addCampaign();
    runId = await bundle.addRun(campaignId);
  });
  afterAll(() => bundle.stop());

  const impressions = async (device: number, from: string[]) => {
    const { token } = bundle.pass(runId, { device });
    const statuses: number[] = [];
    for (const [number, address] of from.entries())
      statuses.push((await bundle.post({ token, kind: 'impression', id: `${number}` }, { from: address })).statusCode);
    return statuses;
  };

  test('a token is limited wherever it is used from, others are not; refused reports are not counted', async () => {
    expect(await impressions(1, ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4'])).toEqual([204, 204, 204, 429]);
    expect(await impressions(2, ['10.0.0.5'])).toEqual([204]);
    expect(await bundle.figures(campaignId)).toEqual({ 'WEB IMPRESSION': [4, 2] });
    const { token, clickProof } = bundle.pass(runId, { device: 1 });
    const refused = await bundle.post({ token, kind: 'click' }, { from: '10.0.0.6' });
    expect(refused.json()).toMatchObject({ code: 'INTERACTION_RATE_LIMITED', status: 429 });
    expect(refused.headers['retry-after']).toBe('20');
    // A person who clicks goes on in any case.
    const click = await bundle.click(`${token}.${clickProof}`, address, '10.0.0.6');
    expect(click.statusCode).toBe(302);
    expect((await bundle.figures(campaignId))['WEB CLICK']).toBeUndefined();
    bundle.clock.advance(20_000);
    expect((await bundle.post({ token, kind: 'click' }, { from: '10.0.0.6' })).statusCode).toBe(204);
  });

  test('limits guesses at tokens of an address; a /64 of IPv6 is one address', async () => {
    const guess = (from: string) => bundle.post({ token: 'x', kind: 'click' }, { from });
    const statuses = [];
    for (let number = 1; number <= 7; number += 1) statuses.push((await guess(`2001:db8::${number}`)).statusCode);
    expect(statuses).toEqual([404, 404, 404, 404, 404, 404, 429]);
    expect((await guess('2001:db8:0:1::1')).statusCode).toBe(404);
    const click = await bundle.click('x.y', address, '2001:db8::9');
    expect(click.statusCode).toBe(429);
  });

  test('accepts genuine reports and clicks from an address whose guesses are refused, up to their own limit', async () => {
    const from = '10.1.0.1';
    const guess = () => bundle.post({ token: 'x', kind: 'click' }, { from });
    for (let number = 1; number <= 7; number += 1) await guess();
    expect((await guess()).statusCode).toBe(429);
    const clicked = async () => (await bundle.figures(campaignId))['WEB CLICK']?.[0] ?? 0;
    const before = await clicked();
    const { token, clickProof } = bundle.pass(runId, { device: 30 });
    expect((await bundle.click(`${token}.${clickProof}`, address, from)).statusCode).toBe(302);
    expect(await clicked()).toBe(before + 1);
    const statuses = [];
    for (let device = 31; device <= 36; device += 1) statuses.push(...(await impressions(device, [from])));
    expect(statuses).toEqual([204, 204, 204, 204, 204, 429]);
  });

  test('leads a person on whose click is beyond the limit of the address, and leaves the click uncounted', async () => {
    const from = '10.1.0.2';
    for (let device = 41; device <= 46; device += 1) await impressions(device, [from]);
    const before = await bundle.figures(campaignId);
    const { token, clickProof } = bundle.pass(runId, { device: 47 });
    expect((await bundle.click(`${token}.${clickProof}`, address, from)).statusCode).toBe(302);
    expect(await bundle.figures(campaignId)).toEqual(before);
  });
});

describe('interaction tokens', () => {
  const key = Buffer.from(Array.from({ length: 32 }, (_, index) => index));
  let tokens: InteractionTokens;
  beforeEach(() => {
    tokens = makeInteractionTokens(key);
  });
  const subject: InteractionSubject = {
    workspaceId: 'DEMOWORKSPACE0123456789AB',
    runId: '0199aabbccdd010203040506',
    bucket: 0xab,
    deviceId: '0188aabbccdd0a0b0c0d0e0f',
    platform: 'WEB',
  };
  const address = 'https://example.com/a?b=1&c=ü';
  // Computed by Python's hmac and base64 from the description in interaction-token.ts.
  const vector = {
    token: 'AQKrAZmqu8zdAQIDBAUGAYiqu8zdCgsMDQ4PREVNT1dPUktTUEFDRTAxMjM0NTY3ODlBQqerZ8dpK0aRJ9CVr_ed8sI',
    clickProof: 'D8qokPhI3kpfbgjze7IDEw',
  };

  const anySubject = fc.record({
    workspaceId: fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/),
    runId: fc.stringMatching(/^[0-9a-f]{24}$/),
    bucket: fc.integer({ min: 0, max: 255 }),
    deviceId: fc.stringMatching(/^[0-9a-f]{24}$/),
    platform: fc.constantFrom('ANDROID' as const, 'IOS' as const, 'WEB' as const),
  });

  describe('a report token', () => {
    test('is the vector, the same every time, and short', () => {
      expect(tokens.issue(subject, address)).toEqual(vector);
      expect(tokens.issue(subject)).toEqual({ token: vector.token });
      expect(tokens.issue({ ...subject, workspaceId: 'A'.repeat(24) }).token).toHaveLength(90);
    });

    test('says which variation and locale its message was, and is another for another', () => {
      const variant = { variation: 9, locale: 51 };
      const own = { ...subject, variant };
      const { token, clickProof } = tokens.issue(own, address);
      expect(tokens.open(token)).toEqual(own);
      expect(tokens.openClick(`${token}.${clickProof}`, address)).toEqual(own);
      const others = [
        subject,
        { ...own, variant: { ...variant, variation: 8 } },
        { ...own, variant: { ...variant, locale: 0 } },
      ];
      expect(new Set([token, ...others.map((other) => tokens.issue(other).token)]).size).toBe(4);
    });

    test('names its message to who holds the key, and nothing to others', () => {
      expect(tokens.open(vector.token)).toEqual(subject);
      expect(makeInteractionTokens(Buffer.alloc(32)).open(vector.token)).toBeUndefined();
      fc.assert(
        fc.property(anySubject, (any) => {
          expect(tokens.open(tokens.issue(any).token)).toEqual(any);
        }),
        { numRuns: propertyRuns(100) },
      );
    });

    test('of another workspace, run, device, bucket or platform is another, and their parts do not combine', () => {
      const others = [
        { workspaceId: 'DEMOWORKSPACE0123456789AC' },
        { runId: '0199aabbccdd010203040507' },
        { deviceId: '0188aabbccdd0a0b0c0d0e0e' },
        { bucket: 0xaa },
        { platform: 'IOS' as const },
      ].map((change) => Buffer.from(tokens.issue({ ...subject, ...change }).token, 'base64url'));
      const own = Buffer.from(vector.token, 'base64url');
      for (const other of others) {
        const mixed = Buffer.concat([other.subarray(0, -16), own.subarray(-16)]);
        expect(tokens.open(mixed.toString('base64url'))).toBeUndefined();
      }
    });

    test('with any bit changed, cut or lengthened is rejected', () => {
      const own = Buffer.from(vector.token, 'base64url');
      for (let bit = 0; bit < own.length * 8; bit += 1) {
        const changed = Buffer.from(own);
        changed[bit >> 3]! ^= 1 << (bit & 7);
        expect(tokens.open(changed.toString('base64url'))).toBeUndefined();
      }
      for (let length = 0; length < vector.token.length; length += 1)
        expect(tokens.open(vector.token.slice(0, length))).toBeUndefined();
      for (const more of ['A', '=', ' ', '\n', '.', 'AAAA']) expect(tokens.open(vector.token + more)).toBeUndefined();
    });

    test('has one spelling, so that a limit cannot be passed by another', () => {
      // The last character carries bits that no byte takes up.
      const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
      const spelled = [...alphabet].map((last) => vector.token.slice(0, -1) + last);
      expect(spelled.filter((token) => tokens.open(token))).toEqual([vector.token]);
      const padded = Buffer.from(vector.token, 'base64url').toString('base64');
      expect(tokens.open(padded)).toBeUndefined();
    });

    test('is rejected for any other text', () => {
      fc.assert(
        fc.property(anyText(), (text) => {
          expect(tokens.open(text)).toBeUndefined();
        }),
        { numRuns: propertyRuns(100) },
      );
      fc.assert(
        fc.property(fc.uint8Array({ minLength: 44, maxLength: 120 }), (bytes) => {
          expect(tokens.open(Buffer.from(bytes).toString('base64url'))).toBeUndefined();
        }),
        { numRuns: propertyRuns(100) },
      );
    });

    test('is refused for what no message can have', () => {
      for (const change of [{ runId: 'x' }, { deviceId: '' }, { workspaceId: '' }, { workspaceId: 'A'.repeat(65) }])
        expect(() => tokens.issue({ ...subject, ...change })).toThrow(RangeError);
      expect(() => tokens.issue({ ...subject, runId: 'x' })).toThrow(`run x, device ${subject.deviceId}`);
      const largest = { ...subject, workspaceId: 'A'.repeat(64) };
      expect(tokens.open(tokens.issue(largest).token)).toEqual(largest);
    });
  });

  describe('the proof of a click', () => {
    const click = `${vector.token}.${vector.clickProof}`;

    test('holds for the address of the message and no other', () => {
      expect(tokens.openClick(click, address)).toEqual(subject);
      for (const other of ['https://example.com/', `${address}#x`, address.toUpperCase(), 'https://evil.example', ''])
        expect(tokens.openClick(click, other)).toBeUndefined();
    });

    test('is not a report token, nor the reverse', () => {
      const tokenProof = Buffer.from(vector.token, 'base64url').subarray(-16).toString('base64url');
      expect(tokens.openClick(vector.token, address)).toBeUndefined();
      expect(tokens.openClick(`${vector.token}.`, address)).toBeUndefined();
      expect(tokens.openClick(`${vector.token}.${tokenProof}`, address)).toBeUndefined();
      expect(tokens.openClick(`${click}.${vector.clickProof}`, address)).toBeUndefined();
      expect(tokens.open(click)).toBeUndefined();
      const named = Buffer.from(vector.token, 'base64url').subarray(0, -16);
      const swapped = Buffer.concat([named, Buffer.from(vector.clickProof, 'base64url')]).toString('base64url');
      expect(tokens.open(swapped)).toBeUndefined();
    });

    test('of one device does not serve for another', () => {
      const other = tokens.issue({ ...subject, deviceId: 'f'.repeat(24) }, address);
      expect(tokens.openClick(`${other.token}.${vector.clickProof}`, address)).toBeUndefined();
      expect(tokens.openClick(`${other.token}.${other.clickProof}`, address)).toMatchObject({
        deviceId: 'f'.repeat(24),
      });
    });

    test('follows the address: what was asked for before decides nothing', () => {
      const other = 'https://example.com/other';
      const asked = [address, other, 'app://open', address, undefined, other].map((one) => tokens.issue(subject, one));
      expect(
        asked.map(({ clickProof }) => clickProof && tokens.openClick(`${vector.token}.${clickProof}`, address)),
      ).toEqual([...[subject, undefined, undefined, subject, undefined, undefined]]);
      expect(tokens.openClick(`${vector.token}.${asked[5]!.clickProof}`, other)).toEqual(subject);
    });

    test('holds for an address of many bytes', () => {
      const long = `https://example.com/${'ü€'.repeat(300)}`;
      const { token, clickProof } = tokens.issue(subject, long);
      expect(token).toBe(vector.token);
      expect(tokens.openClick(`${token}.${clickProof}`, long)).toEqual(subject);
    });

    test.each(['http://example.com/', 'HTTPS://EXAMPLE.COM/'])('is made for %s', (other) => {
      const { token, clickProof } = tokens.issue(subject, other);
      expect(tokens.openClick(`${token}.${clickProof}`, other)).toEqual(subject);
    });

    test.each([
      'javascript:alert(1)',
      'javascript:"https://example.com"',
      'app://open',
      'mailto:a@b.c',
      '//example.com',
      '/path',
      'https://',
      'data:,x',
      '',
    ])('is not made for %j, which is no web address', (other) =>
      expect(tokens.issue(subject, other)).toEqual({ token: vector.token }),
    );
  });
});
