import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ConsoleClient } from '../../../console/src/api/console-client.ts';
import type { CampaignProgress } from '../../../console/src/api/generated/campaign-answers.ts';
import { viewedScreens } from '../../src/domain/access/accounts.ts';
import { adviseOnFailure } from '../../src/domain/delivery/failures.ts';
import {
  maxListedAudienceRuns,
  maxListedRuns,
  readListedFigures,
} from '../../src/storage/campaigns/campaign-search.ts';
import { inTransaction } from '../../src/storage/database.ts';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { countWaiting } from '../is-anybody-waiting.ts';
import { insertTestWorkspace } from '../test-workspace.ts';
import { openSignedInClient } from './signed-in-client.ts';

describe('console campaigns', () => {
  let bundle: CarillonBundle;
  let client: ConsoleClient;
  let workspaceId: string;
  beforeAll(async () => {
    bundle = await startCarillonBundle();
    ({ workspaceId } = bundle);
    ({ client } = await openSignedInClient(bundle));
  });
  afterAll(() => bundle?.stop());

  const send = async (campaignName: string, more: Record<string, unknown> = {}): Promise<string> => {
    const answer = await bundle.push({
      campaignName,
      targetPlatform: ['ANDROID', 'IOS', 'WEB'],
      targetAudience: 'All Users',
      payload: Object.fromEntries(
        ['ANDROID', 'IOS', 'WEB'].map((platform) => [
          platform,
          {
            title: 'Hello',
            message: 'There',
            ...(platform === 'WEB'
              ? { redirectURL: 'https://example.com/', iconURL: 'https://example.com/icon.png' }
              : {}),
          },
        ]),
      ),
      campaignDelivery: { type: 'soon' },
      ...more,
    });
    expect(answer.json()).toEqual(expect.objectContaining({ status: 'Success' }));
    return answer.json().cid as string;
  };
  const later = { campaignDelivery: { type: 'later', date: '01/01/2099', time: '10:00 AM' } };
  const waitForEnd = (id: string) =>
    until(async () => {
      const progress = await client.campaigns.readProgress({ workspaceId, id });
      return progress.status === 'SENT' && progress;
    });
  const lastAudit = async () => (await client.accounts.listAudit({ workspaceId }))[0]!;

  describe('the campaign search', () => {
    test('finds the same campaigns as the V5 search for the same body, in its order', async () => {
      await send('Search one', { campaignTags: ['spring'] });
      await send('Search two', { ...later, campaignTags: ['spring', 'sale'] });
      await send('Other');
      for (const fields of [
        {},
        { name: 'SEARCH' },
        { tags: ['sale'] },
        { status: ['SCHEDULED'] },
        { created_date: { from_date: '2000-01-01', to_date: '2000-01-02' } },
      ]) {
        const body = { limit: 15, page: 1, campaign_fields: fields };
        const headers = bundle.basic(bundle.keys.campaigns);
        const api = (await bundle.call('POST', '/v5/campaigns/search', { headers, body })).json();
        const shown = await client.campaigns.search(workspaceId, body);
        expect(shown.map(({ id }) => id)).toEqual(api.data.campaigns.map(({ id }: { id: string }) => id));
      }
      const [two] = await client.campaigns.search(workspaceId, {
        limit: 1,
        page: 1,
        campaign_fields: { name: 'search two' },
      });
      expect(two).toMatchObject({ name: 'Search two', status: 'SCHEDULED', tags: ['spring', 'sale'], sentAt: null });
    });

    test('lists the executions of a recurring campaign as separate rows on request', async () => {
      const id = await send('Every other day', {
        campaignDelivery: {
          type: 'periodic',
          endDate: '12/31/2098',
          time: '10:00 AM',
          timezone: 'Asia/Kolkata',
          repeatAfter: '2',
        },
      });
      await bundle.database`update campaigns set next_at = created_at where id = ${id}`;
      const body = { limit: 15, page: 1, include_child_campaigns: true, campaign_fields: { name: 'every other' } };
      const found = await until(async () => {
        const rows = await client.campaigns.search(workspaceId, body);
        return rows.length === 2 && rows;
      });
      const child = found.find(({ isExecution }) => isExecution)!;
      expect(child).toMatchObject({ campaignId: id, name: 'Every other day' });
      const { runs } = await client.campaigns.listRuns({ workspaceId, id, page: 1 });
      expect(runs.map((run) => run.id)).toEqual([child.id]);
    });

    test('lists users who clicked with names, page by page without a gap, for one platform if requested', async () => {
      const id = await send('Clicked by many');
      await waitForEnd(id);
      const { database } = bundle;
      const [ada] = await database`
        select devices.id, devices.bucket from devices
        join users on users.bucket = devices.bucket and users.id = devices.user_id
        where customer_id = 'ada'`;
      const report = (bucket: number, deviceRowId: string, platform: string) => database`
        insert into device_interactions (workspace_id, bucket, campaign_id, device_id, kind, run_id, platform, report_digests,
          count, first_at)
        values (${workspaceId}, ${bucket}, ${id}, ${deviceRowId}, 'CLICK', ${id}, ${platform}, array['\\x00'::bytea], 1, now())`;
      await report(ada!.bucket, ada!.id, 'ANDROID');
      for (let number = 0; number < 70; number += 1)
        await report(number < 60 ? 7 : number * 3, String(number).padStart(24, '0'), 'IOS');
      const asked = { workspaceId, id, kind: 'CLICK' as const };
      const first = await client.deliveries.listReports(asked);
      expect(first.devices).toHaveLength(50);
      const second = await client.deliveries.listReports({ ...asked, after: first.next! });
      expect(second.next).toBeNull();
      const listed = [...first.devices, ...second.devices];
      expect(new Set(listed.map(({ deviceRowId }) => deviceRowId)).size).toBe(71);
      expect(listed).toHaveLength(71);
      const onAndroid = await client.deliveries.listReports({ ...asked, platform: 'ANDROID' });
      expect(onAndroid.devices).toMatchObject([
        { customerId: 'ada', deviceId: 'ada-device', times: 1, platform: 'ANDROID' },
      ]);
      expect((await client.deliveries.listReports({ ...asked, kind: 'IMPRESSION' })).devices).toEqual([]);
      await expect(client.deliveries.listReports({ ...asked, id: 'f'.repeat(24) })).rejects.toMatchObject({
        status: 404,
      });
    });

    test('includes results with their shares in each row, for a child those of its run, and none for a future one', async () => {
      const id = await send('Counted in a list');
      const { reachableDevices } = await waitForEnd(id);
      await bundle.database`
        insert into run_interactions (run_id, workspace_id, bucket, platform, kind, total, messages)
        select id, workspace_id, 0, 'ANDROID', kind, 9, 2 from runs, unnest(array['IMPRESSION', 'CLICK']) as kind
        where campaign_id = ${id}
        on conflict (run_id, bucket, platform, kind, variation, locale) do update set total = 9, messages = 2`;
      await send('Counted in a list later', later);
      const found = await client.campaigns.search(workspaceId, {
        ...{ limit: 15, page: 1 },
        campaign_fields: { name: 'counted in a list' },
      });
      const percent = Math.round((2 / reachableDevices!) * 10_000) / 100;
      expect(found.map(({ runs, figures }) => ({ runs, figures }))).toEqual([
        { runs: 0, figures: null },
        {
          runs: 1,
          figures: {
            ...{ attempted: reachableDevices, accepted: reachableDevices, shown: 2, clicked: 2 },
            ...{ acceptedPercent: 100, shownPercent: percent, clickedPercent: percent, hasMoreRuns: false },
          },
        },
      ]);
      const [child] = await readListedFigures(bundle.database, [
        { kind: 'EXECUTION', id: (await client.campaigns.listRuns({ workspaceId, id, page: 1 })).runs[0]!.id },
      ]);
      expect(child).toMatchObject({ runs: 1, accepted: reachableDevices, shown: 2, clicked: 2 });
    });

    test('returns the same list in reverse, oldest first', async () => {
      const body = { limit: 15, page: 1 };
      const newest = await client.campaigns.search(workspaceId, body);
      const oldest = await client.campaigns.search(workspaceId, body, 'oldest');
      expect(newest.length).toBeLessThan(15);
      expect(oldest.map(({ id }) => id)).toEqual(newest.map(({ id }) => id).toReversed());
    });

    test('counts the newest runs of a campaign with too many runs, and says so', async () => {
      const id = await send('Joined again and again', later);
      const audienceRuns = maxListedAudienceRuns + 1;
      await bundle.database`
        insert into runs (id, workspace_id, campaign_id, lane, status, day, send_until, created_at, started_at, ended_at)
        select 'joined' || lpad(number::text, 18, '0'), ${workspaceId}, ${id}, case when number <= ${audienceRuns} then 1 else 0 end,
          'SENT', '2026-03-01', '2026-03-01', '2026-03-01'::timestamptz + number * interval '1 second', '2026-03-01', '2026-03-01'
        from generate_series(1, ${maxListedRuns}) as number`;
      await bundle.database`
        insert into run_counts (run_id, workspace_id, bucket, platform, outcome, devices)
        select id, workspace_id, 0, 'ANDROID', 'ACCEPTED', 1 from runs where campaign_id = ${id}`;
      const [figures] = await readListedFigures(bundle.database, [{ kind: 'CAMPAIGN', id }]);
      // Of those to an audience the oldest is left out.
      expect(figures).toMatchObject({ runs: maxListedRuns - 1, accepted: maxListedRuns - 1, hasMoreRuns: true });
      await bundle.database`delete from run_counts where run_id like 'joined%'`;
      await bundle.database`delete from runs where campaign_id = ${id}`;
    });

    test('rejects a body that V5 rejects, with the field', async () => {
      const refused = client.campaigns.search(workspaceId, { limit: 16, page: 1 });
      await expect(refused).rejects.toMatchObject({ status: 400, field: 'limit' });
    });
  });

  describe('the report', () => {
    test('counts from the audience to the devices that accepted the message; the platforms add up to the total', async () => {
      const id = await send('Ladder of numbers');
      const progress = await waitForEnd(id);
      const [{ users, devices }] = (await bundle.database`
        select (select count(*) from users where workspace_id = ${workspaceId}) as users,
          (select count(*) from devices where workspace_id = ${workspaceId} and state = 'ACTIVE') as devices`) as any;
      expect(progress).toMatchObject({
        audienceUsers: users,
        reachableDevices: devices,
        runs: 1,
        openRuns: 0,
        actions: [],
      });
      expect(progress.outcomes.reduce((sum, row) => sum + row.devices, 0)).toBe(devices);
      const timeline = await client.campaigns.readTimeline({ workspaceId, id });
      expect(timeline.steps.reduce((sum, step) => sum + step.accepted + step.notDelivered, 0)).toBe(devices);
      const { runs, total } = await client.campaigns.listRuns({ workspaceId, id, page: 1 });
      expect([total, runs[0]!.status, runs[0]!.accepted]).toEqual([1, 'SENT', devices]);
      const report = await client.campaigns.read({ workspaceId, id });
      expect(report.campaign).toMatchObject({ id, name: 'Ladder of numbers', audience: 'ALL_USERS' });
      expect(report.record).toMatchObject({ id, channel: 'PUSH' });
      expect(report.versions).toEqual([]);
    });

    test('groups failures by the code of the provider, with advice', async () => {
      // A token that the simulated FCM answers as dead.
      await bundle.call('POST', `/v1/device/${workspaceId}`, {
        headers: bundle.basic(),
        body: {
          type: 'device',
          customer_id: 'ada',
          device_id: 'dead-phone',
          attributes: { platform: 'ANDROID', push_id: 'magic-gone-phone-of-ada' },
        },
      });
      const [{ id: deviceId }] = (await bundle.database`select id from devices where device_id = 'dead-phone'`) as any;
      const id = await send('With a dead phone');
      await waitForEnd(id);
      const { failures } = await client.campaigns.readResults({ workspaceId, id });
      expect(failures).toEqual([
        expect.objectContaining({
          platform: 'ANDROID',
          outcome: 'GONE',
          code: 'UNREGISTERED',
          devices: 1,
          sampleDeviceId: deviceId,
          advice: expect.stringContaining('comes back when the app registers again'),
        }),
      ]);
    });

    test('counts named users as the audience, and the devices tried as reachable', async () => {
      const id = await send('To Ada alone', {
        targetAudience: 'User',
        targetUserAttributes: {
          attribute: 'USER_ATTRIBUTE_UNIQUE_ID',
          comparisonParameter: 'is',
          attributeValue: 'ada',
        },
      });
      const progress = await waitForEnd(id);
      expect(progress.audienceUsers).toBe(1);
      expect(progress.reachableDevices).toBe(progress.outcomes.reduce((sum, row) => sum + row.devices, 0));
      expect(progress.reachableDevices).toBeGreaterThan(0);
    });

    test('streams each change as it happens, and ends with the campaign', async () => {
      const id = await send('Followed', later);
      const seen: CampaignProgress[] = [];
      const leaving = new AbortController();
      const following = client.campaigns.follow(
        { workspaceId, id },
        { onProgress: (progress) => seen.push(progress), signal: leaving.signal },
      );
      await until(async () => seen.length === 1);
      expect(seen[0]).toMatchObject({ status: 'SCHEDULED', actions: ['pause', 'stop'] });
      await client.campaigns.change({ workspaceId, id, action: 'pause' });
      await until(async () => seen.at(-1)!.status === 'PAUSED');
      await client.campaigns.change({ workspaceId, id, action: 'stop' });
      await following;
      expect(seen.map(({ status }) => status)).toEqual(['SCHEDULED', 'PAUSED', 'STOPPED']);
    });

    test('has the security headers of the pages on the stream, and is not cached', async () => {
      const id = await send('Headers of a stream', later);
      const cookie = { cookie: await openCookie() };
      const leaving = new AbortController();
      const answer = await fetch(
        `${bundle.url}/console/api/campaigns/${id}/progress/events?workspaceId=${workspaceId}`,
        {
          headers: cookie,
          signal: leaving.signal,
        },
      );
      expect(answer.headers.get('content-type')).toMatch(/^text\/event-stream/);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
      leaving.abort();
    });

    test('finds no campaign of another workspace', async () => {
      const id = await send('Only here', later);
      const key = { workspaceId: await insertTestWorkspace(bundle.database, new Date('2026-01-01T00:00:00Z')), id };
      const { campaigns } = client;
      for (const asked of [
        () => campaigns.read(key),
        () => campaigns.readProgress(key),
        () => campaigns.readResults(key),
        () => campaigns.readTimeline(key),
        () => campaigns.listRuns({ ...key, page: 1 }),
        () => campaigns.change({ ...key, action: 'stop' }),
        () => campaigns.clone(key),
      ])
        await expect(asked()).rejects.toMatchObject({ status: 404 });
    });
  });

  describe('campaign changes', () => {
    test('pause, resume and stop a campaign together with a line in the audit log, in one transaction', async () => {
      const id = await send('Moved about', later);
      for (const [action, from, to] of [
        ['pause', 'SCHEDULED', 'PAUSED'],
        ['resume', 'PAUSED', 'SCHEDULED'],
        ['stop', 'SCHEDULED', 'STOPPED'],
      ] as const) {
        expect((await client.campaigns.change({ workspaceId, id, action })).status).toBe(to);
        expect(await lastAudit()).toMatchObject({
          action: `campaign.${action}`,
          actorName: 'Console',
          objectId: id,
          objectName: 'Moved about',
          detail: { from, to },
        });
      }
      const refused = client.campaigns.change({ workspaceId, id, action: 'resume' });
      await expect(refused).rejects.toMatchObject({ status: 409, code: 'CAMPAIGN_ACTION_INVALID' });
      expect(await lastAudit()).toMatchObject({ action: 'campaign.stop' });
    });

    test('send the winner to the rest, record who chose it, and undo the choice', async () => {
      const push = { push: { android: { basic_details: { title: 'Hello', message: 'There' } } } };
      const body = {
        ...{ channel: 'PUSH', campaign_delivery_type: 'ONE_TIME', created_by: 'ada' },
        basic_details: { name: 'Said in two ways', platforms: ['ANDROID'] },
        campaign_content: {
          variation_details: {
            ...{ no_of_variations: 2, distribution_type: 'MANUAL' },
            manual_distribution_percentage: { variation_1: 50, variation_2: 50 },
          },
          content: { default: { variation_1: push, variation_2: push } },
        },
        segmentation_details: { is_all_user_campaign: true },
        scheduling_details: { delivery_type: 'AT_FIXED_TIME', start_time: '2099-01-01T10:00:00', timezone: 'UTC' },
      };
      const headers = bundle.basic(bundle.keys.campaigns);
      const { id } = (await bundle.call('POST', '/v5/campaigns', { headers, body })).json().data;
      const publish = { headers, body: { action: 'PUBLISH' } };
      expect((await bundle.call('PATCH', `/v5/campaigns/${id}/status`, publish)).status).toBe(200);
      const winner = async () =>
        (await client.campaigns.readFigures({ workspaceId, id, attribution: 'TOTAL_CONVERSIONS' })).winner;
      expect(await client.campaigns.nameWinner({ workspaceId, id, variation: 2 })).toEqual({ variation: 2 });
      expect(await winner()).toMatchObject({ variation: 2, namedBy: 'Console', isLearned: false });
      expect(await lastAudit()).toMatchObject({
        action: 'campaign.winner',
        objectId: id,
        detail: { variation: 'variation_2' },
      });
      const unknown = client.campaigns.nameWinner({ workspaceId, id, variation: 3 });
      await expect(unknown).rejects.toMatchObject({ status: 400 });
      expect(await client.campaigns.nameWinner({ workspaceId, id, variation: null })).toEqual({ variation: null });
      expect(await winner()).toMatchObject({ variation: null, namedBy: null });
      const plain = client.campaigns.nameWinner({ workspaceId, id: await send('In one way', later), variation: 1 });
      await expect(plain).rejects.toMatchObject({ status: 409, code: 'CAMPAIGN_ACTION_INVALID' });
      // A minute has five new campaigns, of all tests together.
      await bundle.call('POST', '/sandbox/clock', { body: { advanceSeconds: 61 } });
    });

    test('clone a push into a draft that V5 can publish, with the same content and tags', async () => {
      const of = await send('To be cloned', { campaignTags: ['spring'] });
      const { id } = await client.campaigns.clone({ workspaceId, id: of });
      const [original, copy] = await Promise.all([
        client.campaigns.read({ workspaceId, id: of }),
        client.campaigns.read({ workspaceId, id }),
      ]);
      expect(copy.campaign).toMatchObject({ name: 'To be cloned (copy)', status: 'DRAFT', tags: ['spring'] });
      expect(copy.record.campaign_content).toEqual(original.record.campaign_content);
      expect(await lastAudit()).toMatchObject({ action: 'campaign.clone', objectId: id, detail: { of } });
      const headers = bundle.basic(bundle.keys.campaigns);
      const checked = (await bundle.call('POST', `/v5/campaigns/${id}/validate`, { headers })).json();
      expect(checked.data).toEqual({ valid: true, errors: [] });
    });

    test.each([
      ['later', later.campaignDelivery],
      [
        'periodic',
        { type: 'periodic', endDate: '12/31/2098', time: '10:00 AM', timezone: 'Asia/Kolkata', repeatAfter: '2' },
      ],
    ])('clone a push that is sent %s', async (type, campaignDelivery) => {
      const of = await send(`Cloned ${type}`, { campaignDelivery });
      const { id } = await client.campaigns.clone({ workspaceId, id: of });
      expect((await client.campaigns.read({ workspaceId, id })).campaign.name).toBe(`Cloned ${type} (copy)`);
      // It would be sent at the same moments, whatever the zone of the workspace.
      const headers = bundle.basic(bundle.keys.campaigns);
      const patch = (body: unknown) => bundle.call('PATCH', `/v5/campaigns/${id}/status`, { headers, body });
      await bundle.database`update workspaces set time_zone = 'America/New_York' where id = ${workspaceId}`;
      expect((await patch({ action: 'PUBLISH' })).status).toBe(200);
      await bundle.database`update workspaces set time_zone = 'UTC' where id = ${workspaceId}`;
      const occurrences = await bundle.database`select next_at from campaigns where id in (${of}, ${id})`;
      expect(occurrences[0]!.next_at).toEqual(occurrences[1]!.next_at);
      // The request that is shown makes the same draft through the API.
      const { request } = await client.campaigns.read({ workspaceId, id: of });
      expect((await bundle.call('POST', '/v5/campaigns', { headers, body: request })).status).toBe(201);
    });
  });

  test('has advice for every reason that the providers report, and a place to look for unknown ones', () => {
    expect(adviseOnFailure({ platform: 'IOS', outcome: 'GONE', code: 'BadDeviceToken' })).toContain('sandbox');
    expect(adviseOnFailure({ platform: 'WEB', outcome: 'REJECTED', code: '403' })).toContain('VAPID');
    expect(adviseOnFailure({ platform: 'ANDROID', outcome: 'REJECTED', code: 'SENDER_ID_MISMATCH' })).toContain(
      'Firebase',
    );
    expect(adviseOnFailure({ platform: 'ANDROID', outcome: 'EXPIRED', code: 'STOPPED' })).toContain('stopped');
    expect(adviseOnFailure({ platform: 'IOS', outcome: 'FAILED', code: 'TEMPLATE_MISSING' })).toContain('fallback');
    expect(adviseOnFailure({ platform: 'IOS', outcome: 'REJECTED', code: 'SomethingNew' })).toContain('delivery log');
  });

  describe('a provider that accepts nothing', () => {
    test('is red on the overview even without failures, and the report says what waits and why', async () => {
      // What was accepted before is longer ago than a total refusal takes to show.
      await bundle.call('POST', '/sandbox/clock', { body: { advanceSeconds: 60 } });
      await bundle.call('POST', '/sandbox/faults', {
        body: { fcm: { status: 503, headers: { 'retry-after': '600' } } },
      });
      const [user] = await bundle.database`
        select customer_id as "customerId" from users join devices on devices.user_id = users.id and devices.bucket = users.bucket
        where devices.platform = 'ANDROID' and devices.workspace_id = ${workspaceId} limit 1`;
      const targetUserAttributes = {
        ...{
          attribute: 'USER_ATTRIBUTE_UNIQUE_ID',
          comparisonParameter: 'is',
          attributeValue: user!.customerId as string,
        },
      };
      const id = await send('To one of them', {
        ...{ targetPlatform: ['ANDROID'], targetAudience: 'User', targetUserAttributes },
        payload: { ANDROID: { title: 'Hello', message: 'There' } },
      });
      const { verdict } = await until(async () => {
        const overview = await client.overview.read(workspaceId);
        return overview.verdict.findings.some(({ what }) => what.startsWith('FCM (Android) is accepting')) && overview;
      });
      expect(verdict).toMatchObject({
        level: 'trouble',
        findings: [
          { what: 'FCM (Android) is accepting no messages: 1 message is waiting for a retry, FCM responded with 503.' },
        ],
      });
      const results = await client.campaigns.readResults({ workspaceId, id });
      expect(results).toMatchObject({
        ...{ accepted: 0, failures: [] },
        waiting: [{ platform: 'ANDROID', code: 'FCM_503', devices: 1, attempts: 1, cause: 'FCM responded with 503' }],
      });
      await bundle.call('POST', '/sandbox/faults', { body: {} });
      await bundle.call('POST', '/sandbox/clock', { body: { advanceSeconds: 700 } });
      const after = await until(async () => {
        const overview = await client.overview.read(workspaceId);
        return overview.verdict.level === 'well' && overview;
      });
      expect(after.verdict.headline).toBe('All is well');
      expect(await client.campaigns.readResults({ workspaceId, id })).toMatchObject({ accepted: 1, waiting: [] });
    });

    test('is not assumed for a campaign without any attempt', async () => {
      const id = await send('Of another century', later);
      const results = await client.campaigns.readResults({ workspaceId, id });
      expect(results).toMatchObject({ accepted: 0, waiting: [], failures: [] });
    });
  });

  async function openCookie(): Promise<string> {
    const code = (await bundle.carillon.createConsoleLink()).split('#sign-in=')[1]!;
    const answer = await bundle.call('POST', '/console/api/session', { body: { code } });
    return answer.headers.get('set-cookie')!.split(';')[0]!;
  }
});

describe('campaign templates', () => {
  let bundle: CarillonBundle;
  let client: ConsoleClient;
  let workspaceId: string;
  let otherId: string;
  beforeAll(async () => {
    bundle = await startCarillonBundle();
    ({ workspaceId } = bundle);
    ({ client } = await openSignedInClient(bundle));
    otherId = await insertTestWorkspace(bundle.database, new Date('2026-01-01T00:00:00Z'));
  });
  afterAll(() => bundle?.stop());

  const send = async (campaignName: string): Promise<string> => {
    const answer = await bundle.push({
      campaignName,
      targetPlatform: ['ANDROID'],
      targetAudience: 'All Users',
      payload: { ANDROID: { title: 'Hello', message: 'There' } },
      campaignDelivery: { type: 'later', date: '01/01/2099', time: '10:00 AM' },
    });
    return answer.json().cid as string;
  };
  const lastAudit = async () => (await client.accounts.listAudit({ workspaceId }))[0]!;

  test('keep the parts of a campaign, and create drafts with their name', async () => {
    const of = await send('Kept for later');
    const { id } = await client.templates.create({ workspaceId, id: of, name: ' Monthly ' });
    expect(await lastAudit()).toMatchObject({
      action: 'template.create',
      objectId: id,
      objectName: 'Monthly',
      detail: { of },
    });
    const { request } = await client.campaigns.read({ workspaceId, id: of });
    const { created_by: _by, ...parts } = request;
    expect(await client.templates.list(workspaceId)).toEqual([
      expect.objectContaining({ id, name: 'Monthly', request: parts, createdBy: 'Console' }),
    ]);
    const draft = await client.templates.use({ workspaceId, id });
    expect(await lastAudit()).toMatchObject({
      action: 'campaign.create',
      objectId: draft.id,
      detail: { template: id },
    });
    const made = await client.campaigns.read({ workspaceId, id: draft.id });
    expect(made.campaign).toMatchObject({ name: 'Monthly', status: 'DRAFT', mayEdit: true });
    expect(made.record.campaign_content).toEqual(
      (await client.campaigns.read({ workspaceId, id: of })).record.campaign_content,
    );

    await client.templates.rename({ workspaceId, id, name: 'Every month' });
    expect(await lastAudit()).toMatchObject({
      action: 'template.rename',
      objectName: 'Every month',
      detail: { from: 'Monthly' },
    });
    await client.templates.remove({ workspaceId, id });
    expect(await lastAudit()).toMatchObject({ action: 'template.delete', objectName: 'Every month' });
    expect(await client.templates.list(workspaceId)).toEqual([]);
    // What was made of it stays.
    expect((await client.campaigns.read({ workspaceId, id: draft.id })).campaign.status).toBe('DRAFT');
  });

  test('have unique names within a workspace', async () => {
    const of = await send('Of two templates');
    const [one, two] = [
      await client.templates.create({ workspaceId, id: of, name: 'One' }),
      await client.templates.create({ workspaceId, id: of, name: 'Two' }),
    ];
    const taken = { status: 400, field: 'name' };
    await expect(client.templates.create({ workspaceId, id: of, name: 'One' })).rejects.toMatchObject(taken);
    await expect(client.templates.rename({ workspaceId, id: two.id, name: 'One' })).rejects.toMatchObject(taken);
    await expect(client.templates.create({ workspaceId, id: of, name: '  ' })).rejects.toMatchObject(taken);
    await client.templates.rename({ workspaceId, id: one.id, name: 'One' });
    expect((await client.templates.list(workspaceId)).map(({ name }) => name)).toEqual(['One', 'Two']);
  });

  test('reject one of two concurrent renames to the same name', async () => {
    const of = await send('Of two at once');
    const ids = [
      (await client.templates.create({ workspaceId, id: of, name: 'First at once' })).id,
      (await client.templates.create({ workspaceId, id: of, name: 'Second at once' })).id,
    ];
    const outcomes = await inTransaction(bundle.database, async (tx) => {
      await tx`select from campaign_templates where id = any(${ids}) for update`;
      const renamed = Promise.allSettled(
        ids.map((id) => client.templates.rename({ workspaceId, id, name: 'At once' })),
      );
      await expect.poll(() => countWaiting(bundle.database)).toBe(2);
      return () => renamed;
    }).then((settle) => settle());
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    const refused = outcomes.find(({ status }) => status === 'rejected');
    expect(refused).toMatchObject({ reason: { status: 400, field: 'name' } });
    expect((await client.templates.list(workspaceId)).filter(({ name }) => name === 'At once')).toHaveLength(1);
  });

  test('are not found in another workspace', async () => {
    const { id } = await client.templates.create({ workspaceId, id: await send('Only here'), name: 'Only here' });
    const key = { workspaceId: otherId, id };
    expect(await client.templates.list(otherId)).toEqual([]);
    for (const asked of [
      () => client.templates.rename({ ...key, name: 'Mine' }),
      () => client.templates.remove(key),
      () => client.templates.use(key),
      () => client.templates.create({ workspaceId: otherId, id, name: 'Mine' }),
    ])
      await expect(asked()).rejects.toMatchObject({ status: 404 });
  });

  test('keep views per owner, workspace and list, and replace a view of the same name', async () => {
    const { views } = client;
    const campaigns = { workspaceId, screen: 'campaigns' } as const;
    const elsewhere = { workspaceId: otherId, screen: 'campaigns' } as const;
    const saved = await views.save({ ...campaigns, name: 'Spring', search: 'tag=spring' });
    const again = await views.save({ ...campaigns, name: 'Spring', search: 'tag=spring&order=oldest' });
    expect(again).toEqual({ id: saved.id, name: 'Spring', search: 'tag=spring&order=oldest' });
    expect(await views.list(campaigns)).toEqual([again]);
    expect(await views.list(elsewhere)).toEqual([]);
    for (const screen of viewedScreens.filter((one) => one !== 'campaigns')) {
      const there = { workspaceId, screen };
      expect(await views.list(there)).toEqual([]);
      const own = await views.save({ ...there, name: 'Spring', search: 'a=b' });
      expect(await views.list(there)).toEqual([own]);
      await expect(views.remove({ ...campaigns, id: own.id })).rejects.toMatchObject({ status: 404 });
    }
    await expect(views.list({ workspaceId, screen: 'keys' as 'audit' })).rejects.toMatchObject({ status: 400 });
    await bundle.database`
      insert into accounts (id, email, name, role, created_at)
      values (${'9'.repeat(24)}, 'olga@example.com', 'Olga', 'analyst', '2026-01-01')`;
    await bundle.database`
      insert into saved_views (id, workspace_id, account_id, screen, name, search, created_at)
      values (${'8'.repeat(24)}, ${workspaceId}, ${'9'.repeat(24)}, 'campaigns', 'Spring', 'view=drafts', '2026-01-01')`;
    expect(await views.list(campaigns)).toEqual([again]);
    await expect(views.remove({ ...campaigns, id: '8'.repeat(24) })).rejects.toMatchObject({ status: 404 });
    await views.remove({ ...campaigns, id: saved.id });
    expect(await views.list(campaigns)).toEqual([]);
    await expect(views.save({ ...campaigns, name: '  ', search: '' })).rejects.toMatchObject({
      status: 400,
      field: 'name',
    });
  });

  test('limit views to the number that a list can show', async () => {
    const elsewhere = { workspaceId: otherId, screen: 'campaigns' } as const;
    for (let number = 0; number < 50; number += 1)
      await client.views.save({ ...elsewhere, name: `View ${number}`, search: '' });
    const oneMore = client.views.save({ ...elsewhere, name: 'One more', search: '' });
    await expect(oneMore).rejects.toMatchObject({ status: 400, field: 'name' });
    await client.views.save({ ...elsewhere, name: 'View 7', search: 'view=drafts' });
    expect(await client.views.list(elsewhere)).toHaveLength(50);
  });
});
