import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { CampaignBody } from '../../../client/src/carillon-campaigns.ts';
import { makeCarillonClient } from '../../../client/src/carillon-client.ts';
import type { ConsoleClient } from '../../../console/src/api/console-client.ts';
import type { InboxMessage } from '../../../console/src/api/generated/overview.ts';
import {
  audienceKind,
  excludedSegments,
  includedOperator,
  includedSegments,
  namedUsers,
  ofEveryone,
  ofSegments,
  ofUsers,
  withoutSegments,
} from '../../../console/src/composer/audience/audience.ts';
import { mergePatchOf, platformPath, readAt, sentBody, writeAt } from '../../../console/src/composer/campaign-body.ts';
import { attributeNames, markerOf, standardNames } from '../../../console/src/composer/content/attribute-marker.ts';
import {
  addLanguage,
  addVariation,
  allContents,
  equalShares,
  localesOf,
  ofShares,
  removeLanguage,
  removeVariation,
  sharesOf,
} from '../../../console/src/composer/content/variants.ts';
import { fieldName } from '../../../console/src/composer/field-names.ts';
import { previewedContent } from '../../../console/src/composer/previewed-content.ts';
import { goalOperators } from '../../../console/src/composer/schedule/goal-operators.ts';
import { soonIn } from '../../../console/src/composer/schedule/timing.ts';
import { messageOfContent, messageOfInbox } from '../../../console/src/parts/phone/phone-message.ts';
import { mergeParts } from '../../src/domain/campaign-document/changes.ts';
import { goalOperators as goalOperatorsOfServer } from '../../src/domain/campaigns/conversions.ts';
import { makeId } from '../../src/domain/ids.ts';
import { makePersonaliser, userSource } from '../../src/domain/template/personalise.ts';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { openSignedInClient } from './signed-in-client.ts';

describe('console composer', () => {
  let bundle: CarillonBundle;
  let client: ConsoleClient;
  let workspaceId: string;
  beforeAll(async () => {
    bundle = await startCarillonBundle();
    ({ workspaceId } = bundle);
    ({ client } = await openSignedInClient(bundle));
  });
  // None of these is about how many campaigns may be made in a minute.
  beforeEach(() => bundle.database`delete from limit_windows where operation = 'campaign-create'`);
  afterAll(() => bundle?.stop());

  const campaign = (more: CampaignBody = {}): CampaignBody => ({
    channel: 'PUSH',
    campaign_delivery_type: 'ONE_TIME',
    basic_details: { name: 'Composed', platforms: ['ANDROID'] },
    campaign_content: { content: { push: { android: { basic_details: { title: 'Hello', message: 'There' } } } } },
    segmentation_details: { is_all_user_campaign: true },
    scheduling_details: { delivery_type: 'ASAP' },
    ...more,
  });
  const changed = (body: CampaignBody, changes: Record<string, unknown>) =>
    Object.entries(changes).reduce((next, [path, value]) => writeAt(next, path, value), body);
  const later = {
    scheduling_details: {
      delivery_type: 'AT_FIXED_TIME' as const,
      start_time: '2098-03-30T02:30',
      timezone: 'Europe/Berlin',
    },
  };
  const android = (details: object, more: object = {}) => ({
    campaign_content: { content: { push: { android: { basic_details: { message: 'There', ...details }, ...more } } } },
  });
  const statusOf = async (id: string) => (await client.campaigns.readProgress({ workspaceId, id })).status;
  const lastAudit = async () => (await client.accounts.listAudit({ workspaceId }))[0]!;

  test('accepts variations and languages as they are composed', async () => {
    const { campaign_content: one } = campaign();
    const first: CampaignBody = { campaign_content: one! };
    const two = changed(first, addVariation(first));
    const four = changed(two, addLanguage(two, 'pt'));
    const check = await client.composer.check({ workspaceId, campaign: campaign(four) });
    expect(check.faults).toEqual([]);
    const learned = changed(four, ofShares({ learnedFrom: 'CLICKS' }));
    expect((await client.composer.check({ workspaceId, campaign: campaign(learned) })).faults).toEqual([]);
    const half = changed(four, ofShares([50, 40]));
    expect((await client.composer.check({ workspaceId, campaign: campaign(half) })).faults).toMatchObject([
      { field: 'campaign_content.variation_details.manual_distribution_percentage' },
    ]);
  });

  test.each<[string, object, string[]]>([
    ['an empty one', {}, []],
    ['a broken template', { basic_details: { title: 'Hi {{ x', message: 'M' } }, ['basic_details.title']],
    [
      'a button without its number',
      { basic_details: { title: 'T', message: 'M' }, buttons: [{ btn_name: 'B', click_action_type: 'call' }] },
      ['buttons[0].click_action_value'],
    ],
    [
      'an address that is not one',
      { basic_details: { title: 'T', message: 'M', image_url: 'http' } },
      ['basic_details.image_url'],
    ],
  ])('renders a content while it is written: %s', async (_name, content, faulty) => {
    const body: CampaignBody = { channel: 'PUSH', basic_details: { platforms: ['ANDROID'] } };
    const campaign_content = {
      content: { push: { android: previewedContent(content, { platform: 'ANDROID', faulty }).content } },
    };
    const shown = await client.composer.preview({ workspaceId, campaign: sentBody({ ...body, campaign_content }) });
    expect(shown.platforms.android).toMatchObject({ outcome: 'RENDERED' });
    // The check names exactly the members that are left out.
    const check = await client.composer.check({
      workspaceId,
      campaign: campaign({ campaign_content: { content: { push: { android: content } } } } as CampaignBody),
    });
    const at = 'campaign_content.content.push.android.';
    const found = check.faults.filter(({ field }) => field.startsWith(at)).map(({ field }) => field.slice(at.length));
    expect(found).toEqual(expect.arrayContaining(faulty));
  });

  describe('the check during composition', () => {
    test('returns the same faults as validate for the same parts as a draft', async () => {
      const parts = campaign({ ...later, basic_details: { name: 'Checked' } });
      const { id } = await client.composer.create({ workspaceId, campaign: parts });
      const headers = bundle.basic(bundle.keys.campaigns);
      const validated = (await bundle.call('POST', `/v5/campaigns/${id}/validate`, { headers })).json().data;
      const { faults } = await client.composer.check({ workspaceId, campaign: parts });
      expect(faults).toEqual(validated.errors);
      expect(faults).toContainEqual({ field: 'basic_details.platforms', issue: 'is required' });
    });

    test('returns the occurrences in UTC and local time, even if much is still missing', async () => {
      const { schedule, faults, warnings } = await client.composer.check({
        workspaceId,
        campaign: { channel: 'PUSH', campaign_delivery_type: 'ONE_TIME', ...later },
      });
      expect(schedule).toEqual({
        kind: 'later',
        // Berlin's clock skips this half hour on the last Sunday of March.
        occurrences: [
          {
            at: '2098-03-30T01:30:00.000Z',
            local: { date: '2098-03-30', time: '03:30' },
            timeZone: 'Europe/Berlin',
            offset: '+02:00',
            clockChange: { kind: 'skipped', asked: '02:30' },
            everyZone: null,
          },
        ],
      });
      expect(faults.length).toBeGreaterThan(2);
      expect(warnings).toEqual([]);
    });

    test('returns the faults of schedule and audience together with missing parts', async () => {
      const { faults } = await client.composer.check({
        workspaceId,
        campaign: {
          channel: 'PUSH',
          campaign_delivery_type: 'ONE_TIME',
          scheduling_details: { delivery_type: 'AT_FIXED_TIME' as const, start_time: '2020-01-01T10:00' },
          segmentation_details: {
            included_filters: {
              filter_operator: 'or',
              filters: [{ filter_type: 'custom_segments', id: '0'.repeat(24) }],
            },
          },
        },
      });
      expect(faults).toContainEqual({ field: 'scheduling_details.start_time', issue: 'is in the past' });
      expect(faults).toContainEqual({
        field: 'segmentation_details.included_filters',
        issue: 'names a segment that does not exist',
      });
    });

    test('warns of a template that does not fit every user, and of the simulators', async () => {
      const { warnings } = await client.composer.check({
        workspaceId,
        campaign: campaign(android({ title: 'Hi {{ UserAttribute.nickname }}' })),
      });
      expect(warnings.map(({ code }) => code)).toEqual(['SIMULATED', 'TEMPLATE_CAN_FAIL']);
    });
  });

  describe('the audience', () => {
    test('is counted as the later run reaches it', async () => {
      const parts = campaign({ basic_details: { name: 'Counted', platforms: ['ANDROID'] } });
      const counted = await client.composer.countAudience({ workspaceId, campaign: parts });
      if (counted.state !== 'COUNTED') throw new Error(counted.state);
      const users = counted.users.reduce((sum, row) => sum + row.users, 0);
      const reachable = counted.devices.find(({ platform, state }) => platform === 'ANDROID' && state === 'ACTIVE');
      const { id } = await client.composer.create({ workspaceId, campaign: parts });
      await client.composer.publish({ workspaceId, id });
      await until(async () => (await statusOf(id)) === 'SENT');
      const progress = await client.campaigns.readProgress({ workspaceId, id });
      expect([users, reachable!.devices]).toEqual([progress.audienceUsers, progress.reachableDevices]);
    });

    test('is counted for named users, for no user, and reported as unreadable for an invalid filter', async () => {
      const ask = async (segmentation_details: object) =>
        client.composer.countAudience({ workspaceId, campaign: campaign({ segmentation_details } as CampaignBody) });
      const named = (value: string[]) => ({
        included_filters: {
          filter_operator: 'and',
          filters: [
            {
              filter_type: 'user_attributes',
              name: 'uid',
              data_type: 'string',
              operator: 'in',
              case_sensitive: true,
              value,
            },
          ],
        },
      });
      expect(await ask(named(['ada']))).toMatchObject({ state: 'COUNTED', users: [{ reach: 'REACHED', users: 1 }] });
      expect(await ask(named(['nobody at all']))).toMatchObject({ state: 'COUNTED', users: [], devices: [] });
      expect(await ask({ included_filters: { filter_operator: 'nor' } })).toEqual({ state: 'UNREADABLE', faults: [] });
      expect(await ask({})).toEqual({ state: 'UNREADABLE', faults: [] });
    });
  });

  test('counts segments by their kind, reports one that is filling, and cannot count an archived one', async () => {
    const { database } = bundle;
    const tree = {
      filter_operator: 'and',
      filters: [{ filter_type: 'user_attributes', name: 'uid', data_type: 'string', operator: 'in', value: ['ada'] }],
    };
    const make = async (name: string, more: object) => {
      const id = makeId(new Date('2026-01-01T00:00:00Z'));
      const row = {
        ...{ id, workspace_id: workspaceId, name, kind: 'FILE', state: 'READY', source: 'API', version: 1 },
        ...{ attribute_name: 'uid', attribute_type: 'string', created_by: 'test' },
        ...{ created_at: '2026-01-01', updated_at: '2026-01-01', ...more },
      };
      await database`insert into segments ${database(row)}`;
      return { filter_type: 'custom_segments', id, name };
    };
    const ofFilter = { attribute_name: null, attribute_type: null, filters_digest: Buffer.alloc(32) };
    const filter = await make('By filter', { ...ofFilter, kind: 'FILTER', included_filters: database.json(tree) });
    const filling = await make('Filling', { state: 'FILLING' });
    const archived = await make('Archived', { state: 'ARCHIVED', archived_at: '2026-01-02' });
    const ask = (...filters: object[]) =>
      client.composer.countAudience({
        workspaceId,
        campaign: campaign({ segmentation_details: { included_filters: { filter_operator: 'or', filters } } }),
      });
    expect(await ask(filter)).toMatchObject({ state: 'COUNTED', users: [{ reach: 'REACHED', users: 1 }], pending: [] });
    const told = 'Filling is still being filled; a send waits for it';
    expect(await ask(filling)).toMatchObject({ state: 'COUNTED', users: [], pending: [told] });
    expect(await ask(filter, filling)).toMatchObject({ users: [{ reach: 'REACHED', users: 1 }], pending: [told] });
    expect(await ask(archived)).toEqual({
      state: 'UNREADABLE',
      faults: [{ field: 'segmentation_details.included_filters', issue: 'names a segment that is archived' }],
    });
  });

  describe('the preview', () => {
    test('shows the texts without known attributes, and the size of every message', async () => {
      const title = 'Hi {{ UserAttribute.nickname }}';
      const backup = { template_backup: { basic_details: { title: 'Hi there', message: 'There' } } };
      const shown = await client.composer.preview({ workspaceId, campaign: campaign(android({ title }, backup)) });
      expect([shown.customer_id, shown.platforms.android!.outcome]).toEqual(['', 'FALLBACK']);
      const { bytes, most } = shown.platforms.android!.payload!;
      expect(most).toBe(4096);
      const longer = await client.composer.preview({
        workspaceId,
        campaign: campaign(
          android({ title }, { template_backup: { basic_details: { title: 'Hi there', message: 'There!!' } } }),
        ),
      });
      // A new workspace sends data, in which the message travels once, read by the app.
      expect(longer.platforms.android!.payload!.bytes - bytes).toBe(2);
      const failed = await client.composer.preview({ workspaceId, campaign: campaign(android({ title })) });
      expect(failed.platforms.android).toMatchObject({ outcome: 'FAILED', failure: { field: 'title' } });
    });

    test('reports a size whose maximum is exactly what a provider accepts', async () => {
      const sized = async (message: string) =>
        (await client.composer.preview({ workspaceId, campaign: campaign(android({ title: 'T', message })) })).platforms
          .android!.payload!.bytes;
      const one = await sized('x');
      const most = 4096 - one + 1;
      for (const [length, outcome] of [
        [most, 'ACCEPTED'],
        [most + 1, 'REJECTED'],
      ] as const) {
        const parts = campaign(android({ title: 'T', message: 'x'.repeat(length) }));
        const { id } = await client.composer.create({ workspaceId, campaign: parts });
        await client.composer.publish({ workspaceId, id });
        await until(async () => (await statusOf(id)) === 'SENT');
        const { outcomes } = await client.campaigns.readProgress({ workspaceId, id });
        expect(outcomes.map((row) => row.outcome)).toEqual([outcome]);
      }
    });
  });

  test('counts the opens of each hour of the week in the zone of the workspace, of 90 days', async () => {
    const { database } = bundle;
    await database`update workspaces set time_zone = 'Asia/Kolkata' where id = ${workspaceId}`;
    const opened = (id: string, at: Date, kind = 'CLICK') => database`
      insert into device_interactions (workspace_id, bucket, campaign_id, device_id, kind, run_id, platform, report_digests, count, first_at)
      values (${workspaceId}, 1, 'c', ${id}, ${kind}, 'r', 'IOS', array['\\x00'::bytea], 1, ${at})`;
    // 20:00 UTC of a Sunday is 01:30 of a Monday in India.
    const sunday = new Date();
    sunday.setUTCDate(sunday.getUTCDate() - 7 - sunday.getUTCDay());
    sunday.setUTCHours(20, 0, 0, 0);
    await opened('one', sunday);
    await opened('two', new Date(sunday.getTime() + 29 * 60_000));
    await opened('three', new Date(sunday.getTime() + 31 * 60_000));
    await opened('shown', sunday, 'IMPRESSION');
    await opened('old', new Date(sunday.getTime() - 14 * 7 * 86_400_000));
    expect(await client.composer.countOpenHours(workspaceId)).toEqual({
      ...{ state: 'COUNTED', timeZone: 'Asia/Kolkata', days: 90 },
      hours: [
        { weekday: 1, hour: 1, opens: 2 },
        { weekday: 1, hour: 2, opens: 1 },
      ],
    });
    await database`update workspaces set time_zone = 'UTC' where id = ${workspaceId}`;
    await database`delete from device_interactions`;
  });

  describe('storing', () => {
    test('creates, changes and sends a draft in the name of the signed-in user, each with an audit line', async () => {
      const { id } = await client.composer.create({ workspaceId, campaign: campaign(later) });
      expect(await lastAudit()).toMatchObject({ action: 'campaign.create', objectId: id, objectName: 'Composed' });
      await client.composer.change({
        workspaceId,
        id,
        campaign: { basic_details: { tags: ['spring'] }, scheduling_details: null } as unknown as CampaignBody,
      });
      const { request, campaign: shown } = await client.campaigns.read({ workspaceId, id });
      expect(request).toEqual({
        ...campaign(),
        basic_details: { name: 'Composed', platforms: ['ANDROID'], tags: ['spring'] },
        scheduling_details: undefined,
      });
      expect([shown.status, shown.createdBy]).toEqual(['DRAFT', 'Console']);
      await client.composer.change({ workspaceId, id, campaign: later });
      await client.composer.publish({ workspaceId, id });
      expect(await statusOf(id)).toBe('SCHEDULED');
      expect(await lastAudit()).toMatchObject({ action: 'campaign.publish', objectId: id, objectName: 'Composed' });
      // One that waits is changed at once; the kind of its schedule stays.
      await client.composer.change({ workspaceId, id, campaign: { basic_details: { name: 'Composed anew' } } });
      expect((await client.campaigns.read({ workspaceId, id })).campaign).toMatchObject({
        name: 'Composed anew',
        status: 'SCHEDULED',
      });
      const soon = campaign({ scheduling_details: { delivery_type: 'ASAP', start_time: null, timezone: null } });
      const { faults } = await client.composer.check({ workspaceId, id, campaign: campaign() });
      expect(faults[0]).toMatchObject({ field: 'scheduling_details.delivery_type' });
      await expect(client.composer.change({ workspaceId, id, campaign: soon })).rejects.toMatchObject({
        status: 400,
        faults: [{ field: 'scheduling_details.delivery_type' }],
      });
    });

    test('sends after a delay, in which the campaign can be made a draft again', async () => {
      const { id } = await client.composer.create({ workspaceId, campaign: campaign() });
      const runs = () => bundle.database`select 1 from runs where campaign_id = ${id}`;
      await client.composer.publish({ workspaceId, id, delaySeconds: 60 });
      expect(await statusOf(id)).toBe('SCHEDULED');
      // A change while it waits keeps its time.
      const [due] = await bundle.database`select next_at from campaigns where id = ${id}`;
      await client.composer.change({
        workspaceId,
        id,
        campaign: android({ title: 'Changed', message: 'in time' }) as never,
      });
      expect((await bundle.database`select next_at from campaigns where id = ${id}`)[0]).toEqual(due);
      await client.composer.recall({ workspaceId, id });
      expect(await statusOf(id)).toBe('DRAFT');
      expect(await lastAudit()).toMatchObject({ action: 'campaign.recall', objectId: id, objectName: 'Composed' });
      expect(await runs()).toEqual([]);

      await client.composer.publish({ workspaceId, id, delaySeconds: 1 });
      await until(async () => (await statusOf(id)) === 'SENT');
      expect(await runs()).toHaveLength(1);
      await expect(client.composer.recall({ workspaceId, id })).rejects.toMatchObject({ status: 409 });
      expect(await statusOf(id)).toBe('SENT');
    });

    test('makes a campaign a draft again while it waits for its time, with its own filters, but none that has a run', async () => {
      const city = {
        filter_type: 'user_attributes',
        name: 'city',
        data_type: 'string',
        operator: 'in',
        value: ['Lisbon'],
      };
      const ofLisbon = { filter_operator: 'and', filters: [city] } as never;
      const parts = campaign({ ...later, segmentation_details: { included_filters: ofLisbon } });
      const { id } = await client.composer.create({ workspaceId, campaign: parts });
      const ownSegments = async () => (await bundle.database`select 1 from segments where campaign_id = ${id}`).length;
      await client.composer.publish({ workspaceId, id });
      expect(await ownSegments()).toBe(1);
      await bundle.database`
        update campaigns set winner = 2, winner_named_at = now(), winner_named_by = 'ana' where id = ${id}`;
      await client.composer.recall({ workspaceId, id });
      // The draft may be sent with other variations, of which nobody named a winner.
      expect(await bundle.database`select winner from campaigns where id = ${id}`).toEqual([{ winner: null }]);
      expect([await statusOf(id), await ownSegments()]).toEqual(['DRAFT', 0]);
      expect((await client.campaigns.read({ workspaceId, id })).request).toEqual(parts);

      await client.composer.publish({ workspaceId, id });
      await bundle.database`
        insert into runs (id, workspace_id, campaign_id, lane, status, day, send_until, created_at, ended_at, status_reason)
        values (${makeId(new Date())}, ${workspaceId}, ${id}, 1, 'MISSED', current_date, now(), now(), now(), 'late')`;
      await expect(client.composer.recall({ workspaceId, id })).rejects.toMatchObject({ status: 409 });
      expect(await statusOf(id)).toBe('SCHEDULED');
    });

    test('reports every fault by field, and stores nothing', async () => {
      const before = await bundle.database`select count(*)::int as campaigns from campaigns`;
      const wrong = campaign({ basic_details: { name: 'x'.repeat(300), platforms: ['PAGER'] } });
      const refused = client.composer.create({ workspaceId, campaign: wrong });
      await expect(refused).rejects.toMatchObject({ status: 400, code: 'VALIDATION_FAILED' });
      await expect(refused).rejects.toMatchObject({
        faults: [{ field: 'basic_details.name' }, { field: 'basic_details.platforms' }],
      });
      expect(await bundle.database`select count(*)::int as campaigns from campaigns`).toEqual(before);
      const { id } = await client.composer.create({ workspaceId, campaign: { ...campaign(), scheduling_details: {} } });
      await expect(client.composer.publish({ workspaceId, id })).rejects.toMatchObject({
        faults: [{ field: 'scheduling_details' }],
      });
      expect(await statusOf(id)).toBe('DRAFT');
    });

    test('sends a test to the named user only, and reports unknown users', async () => {
      const asked = { workspaceId, campaign: campaign({ basic_details: { name: 'Tried', platforms: ['ANDROID'] } }) };
      const results = await client.composer.test({
        ...asked,
        identifier: 'USER_ATTRIBUTE_UNIQUE_ID',
        values: ['ada', 'nobody at all'],
      });
      expect(results).toEqual({
        ada: { status: 'success' },
        'nobody at all': { status: 'failed', failure_reason: 'User not found' },
      });
      expect(await lastAudit()).toMatchObject({ action: 'campaign.test', detail: { asked: 2 } });
    });

    test('rejects access to a campaign of another workspace', async () => {
      const { id } = await client.composer.create({ workspaceId, campaign: campaign() });
      const key = { workspaceId: 'WSOTHER', id };
      for (const attempt of [
        () => client.composer.change({ ...key, campaign: {} }),
        () => client.composer.publish(key),
        () => client.composer.check({ ...key, campaign: {} }),
        () => client.composer.readResources('WSOTHER'),
        () => client.composer.create({ workspaceId: 'WSOTHER', campaign: campaign() }),
        () => client.composer.countAudience({ workspaceId: 'WSOTHER', campaign: campaign() }),
      ])
        await expect(attempt()).rejects.toMatchObject({ status: 404 });
    });
  });

  test('lists the resources of a workspace for campaigns: attributes, events, credentials, controls', async () => {
    const resources = await client.composer.readResources(workspaceId);
    expect(resources.attributes).toContain('u_fn');
    expect(resources.attributes.filter((name) => name.startsWith('device:'))).toEqual([]);
    expect(resources).toMatchObject({
      businessEvents: [],
      topics: [],
      credentials: { ANDROID: 'simulated', IOS: 'simulated', WEB: 'simulated' },
      controls: { frequencyCaps: [], quietHours: null, minimumDelayMinutes: null },
    });
  });

  test('creates, checks, changes and sends the same campaign through the client for programs', async () => {
    const { campaigns } = makeCarillonClient({
      baseUrl: bundle.url,
      workspaceId,
      campaignsKey: bundle.keys.campaigns,
    });
    const kind = { channel: 'PUSH', campaign_delivery_type: 'ONE_TIME', created_by: 'a program' } as const;
    const { id } = await campaigns.create({ ...campaign(later), ...kind });
    await campaigns.change(id, { scheduling_details: { start_time: '2020-01-01T00:00' } });
    expect(await campaigns.validate(id)).toEqual({
      valid: false,
      errors: [{ field: 'scheduling_details.start_time', issue: 'is in the past' }],
    });
    await expect(campaigns.publish(id)).rejects.toMatchObject({ faults: [{ field: 'scheduling_details.start_time' }] });
    await campaigns.change(id, later);
    await campaigns.publish(id);
    await campaigns.stop(id);
    expect(await statusOf(id)).toBe('STOPPED');
    const meta = { identifier: 'USER_ATTRIBUTE_UNIQUE_ID', identifier_values: ['ada'] };
    expect(await campaigns.test({ ...campaign(), test_campaign_meta: meta })).toEqual({ ada: { status: 'success' } });
  });
});

describe('the body of a campaign', () => {
  const write = (body: CampaignBody, changes: Record<string, unknown>): CampaignBody =>
    Object.entries(changes).reduce((next, [path, value]) => writeAt(next, path, value), body);

  describe('a member of a campaign', () => {
    test('is read, written and removed by the path that the server uses for it', () => {
      const body = writeAt({}, 'basic_details.name', 'Spring');
      const goal = writeAt(body, 'conversion_goal_details.goals[1].goal_name', 'Bought');
      expect(readAt(goal, 'basic_details.name')).toBe('Spring');
      expect(readAt(goal, 'conversion_goal_details.goals[0].goal_name')).toBe('Bought');
      expect(writeAt(goal, 'conversion_goal_details', undefined)).toEqual(body);
      expect(readAt(body, 'basic_details.name.first')).toBeUndefined();
      // What was there is not changed in place.
      expect(body).toEqual({ basic_details: { name: 'Spring' } });
    });
  });

  describe('variations and languages', () => {
    const push = (title: string) => ({ push: { android: { basic_details: { title } } } });
    const flat: CampaignBody = { campaign_content: { content: push('T') } };
    const change = (body: CampaignBody, changes: Record<string, unknown>) =>
      Object.entries(changes).reduce((next, [path, value]) => writeAt(next, path, value), body);
    const details = (body: CampaignBody) =>
      body.campaign_content?.variation_details as Record<string, unknown> | undefined;

    test('begin as copies of the first content, with equal shares, and are edited one by one', () => {
      const two = change(flat, addVariation(flat));
      expect(two.campaign_content).toEqual({
        content: { default: { variation_1: push('T'), variation_2: push('T') } },
        variation_details: {
          distribution_type: 'MANUAL',
          no_of_variations: 2,
          manual_distribution_percentage: { variation_1: 50, variation_2: 50 },
        },
      });
      const both = change(two, addLanguage(two, 'pt-BR'));
      expect(allContents(both)).toEqual([
        { locale: 'default', variation: 1 },
        { locale: 'default', variation: 2 },
        { locale: 'pt-BR', variation: 1 },
        { locale: 'pt-BR', variation: 2 },
      ]);
      const shown = { locale: 'pt-BR', variation: 2 };
      const changed = writeAt(both, `${platformPath({ body: both, shown }, 'ANDROID')}.basic_details.title`, 'Novo');
      expect(readAt(changed, 'campaign_content.content.pt-BR.variation_2')).toEqual(push('Novo'));
      expect(readAt(changed, 'campaign_content.content.pt-BR.variation_1')).toEqual(push('T'));
      expect(changed.campaign_content?.locales).toEqual(['default', 'pt-BR']);
    });

    test('move up when one before them is removed, and become one content again with the last', () => {
      const content = { default: { variation_1: push('A'), variation_2: push('B'), variation_3: push('C') } };
      const three: CampaignBody = { campaign_content: { content, variation_details: { no_of_variations: 3 } } };
      const two = change(three, removeVariation(three, 1));
      expect(two.campaign_content?.content).toEqual({ default: { variation_1: push('B'), variation_2: push('C') } });
      expect(sharesOf(two)).toEqual([50, 50]);
      const one = change(two, removeVariation(two, 2));
      expect(one.campaign_content).toEqual({ content: push('B') });
      const spoken = change(one, addLanguage(one, 'pt'));
      expect(localesOf(spoken)).toEqual(['default', 'pt']);
      expect(change(spoken, removeLanguage(spoken, 'pt'))).toEqual(one);
    });

    test('have shares that add up to 100, or learned ones', () => {
      expect([2, 3, 7].map((count) => equalShares(count).reduce((sum, share) => sum + share))).toEqual([100, 100, 100]);
      const two = change(flat, addVariation(flat));
      const learned = change(two, ofShares({ learnedFrom: 'GOAL' }));
      expect(details(learned)).toEqual({ no_of_variations: 2, distribution_type: 'SHERPA', sherpa_metric: 'GOAL' });
      expect(sharesOf(learned)).toBeUndefined();
      const three = change(learned, addVariation(learned));
      expect(details(three)).toMatchObject({ no_of_variations: 3, distribution_type: 'SHERPA' });
      expect(details(three)?.manual_distribution_percentage).toBeUndefined();
      const uneven = change(three, ofShares([20, 30, 50]));
      expect(sharesOf(change(uneven, addLanguage(uneven, 'pt')))).toEqual([20, 30, 50]);
    });
  });

  describe('a content that is previewed while it is written', () => {
    const preview = (content: object, faulty: string[] = []) =>
      previewedContent(content, { platform: 'ANDROID', faulty });

    test('has placeholders for what is missing, and nothing that is half filled in', () => {
      expect(
        preview({
          basic_details: {
            title: 'Hello',
            default_click_action: 'DEEPLINKING',
            key_value_pairs: [{ key: 'a', value: '' }],
          },
          buttons: [
            { btn_name: 'Call', click_action_type: 'call', click_action_value: '' },
            { btn_name: 'Later', click_action_type: 'snooze' },
          ],
          template_backup: { basic_details: { title: 'Only a title' } },
        }),
      ).toEqual({
        content: {
          basic_details: { title: 'Hello', message: 'Message', key_value_pairs: [] },
          buttons: [{ btn_name: 'Later', click_action_type: 'snooze' }],
        },
        missing: ['a message'],
      });
      expect(previewedContent(undefined, { platform: 'WEB', faulty: [] }).missing).toEqual([
        'a title',
        'a message',
        'an address',
        'an icon',
      ]);
    });
  });

  test('names fields as the screen does, without the names of the API', () => {
    expect(fieldName('campaign_content.content.push.android.buttons[0].btn_name')).toBe('Android, button 1: Name');
    expect(fieldName('campaign_content.content.default.variation_2.push.ios.template_backup.basic_details.title')).toBe(
      'iOS, variation 2, fallback: Title',
    );
    expect(fieldName('scheduling_details.start_time')).toBe('Day and time');
  });

  describe('the body to send', () => {
    test('omits fields that the server treats as not sent, and keeps false and zero', () => {
      const body = {
        basic_details: { name: '', tags: [], platforms: ['IOS'] },
        advanced: { a: { b: null } },
        flag: false,
        none: 0,
      };
      expect(sentBody(body as CampaignBody)).toEqual({ basic_details: { platforms: ['IOS'] }, flag: false, none: 0 });
    });

    test.each<[string, CampaignBody, CampaignBody]>([
      ['nothing', { basic_details: { name: 'A', tags: ['x'] } }, { basic_details: { tags: ['x'], name: 'A' } }],
      ['a text', { basic_details: { name: 'A' } }, { basic_details: { name: 'B' } }],
      ['a member that goes', { basic_details: { name: 'A' }, advanced: { a: 1 } }, { basic_details: { name: 'A' } }],
      ['a list', { basic_details: { tags: ['x', 'y'] } }, { basic_details: { tags: ['y'] } }],
      ['an object for a text', { advanced: { a: 'x' } }, { advanced: { a: { b: 1 } } }],
    ])('contains a merge patch from one version to the other for a change: %s', (_name, before, after) => {
      const patch = mergePatchOf(before, after);
      expect(mergeParts(before, (patch ?? {}) as Record<string, unknown>)).toEqual(after);
      if (_name === 'nothing') expect(patch).toBeUndefined();
    });
  });

  describe('an audience', () => {
    const segments = [
      { id: 'a'.repeat(24), name: 'A' },
      { id: 'b'.repeat(24), name: 'B' },
    ];

    test('is read back as it was written', () => {
      const all = write({}, ofEveryone());
      expect(audienceKind(all)).toBe('all');
      const some = write(all, ofSegments(segments, 'and'));
      expect([audienceKind(some), includedSegments(some), includedOperator(some)]).toEqual([
        'segments',
        segments,
        'and',
      ]);
      const but = write(some, withoutSegments([segments[1]!]));
      expect([audienceKind(but), excludedSegments(but)]).toEqual(['segments', [segments[1]]]);
      const users = write(all, ofUsers([' ada ', '', 'grace']));
      expect([audienceKind(users), namedUsers(users)]).toEqual(['users', ['ada', 'grace']]);
      expect(write(users, ofEveryone())).toEqual(all);
    });

    test.each([
      [
        'another attribute',
        { filter_type: 'user_attributes', name: 'city', data_type: 'string', operator: 'in', value: ['x'] },
      ],
      ['a segment that is turned round', { filter_type: 'custom_segments', id: 'a', negate: true }],
      ['a group', { filter_type: 'nested_filters', filter_operator: 'and', filters: [] }],
    ])('is left unchanged if the composer does not write it: %s', (_name, filter) => {
      const tree = { filter_operator: 'and', filters: [filter] };
      expect(audienceKind({ segmentation_details: { included_filters: tree } })).toBe('filters');
      const but = { is_all_user_campaign: true, excluded_filters: tree };
      expect(audienceKind({ segmentation_details: but })).toBe('filters');
    });
  });

  describe('attribute markers', () => {
    const render = (title: string, attributes: Record<string, unknown>) => {
      const content = { message: 'M', title, richContent: [], additionalActions: [] };
      const made = makePersonaliser({ ANDROID: content }, 'AUTO')!.render({
        platform: 'ANDROID',
        user: { customerId: 'ada', attributes: attributes as never },
        event: {},
      });
      return 'content' in made ? made.content.title : made.fault.reason;
    };

    test('are read by the engine, whatever the name of the attribute', () => {
      for (const name of ['city', "it's", 'back\\slash', 'a "word"', 'Größe 1'])
        expect(render(markerOf({ source: 'UserAttribute', name, shown: name }, ''), { [name]: 'here' })).toBe('here');
      const marker = markerOf({ source: 'UserAttribute', name: 'u_fn', shown: 'First Name' }, "it's you");
      expect([render(marker, { u_fn: 'Ada' }), render(marker, {})]).toEqual(['Ada', "it's you"]);
    });

    test('use the names of standard attributes in templates', () => {
      for (const [stored, shown] of Object.entries(standardNames)) {
        const source = userSource({ customerId: 'x', attributes: { [stored]: 'value' } });
        expect(source.find(shown)).toBe('value');
      }
      expect(attributeNames(['city', 'u_fn', 'uid']).map(({ shown }) => shown)).toEqual(['First Name', 'ID', 'city']);
    });
  });

  test('offers the goal operators of the server, with values in its forms', () => {
    const forms = { 'part of a text': 'text' } as Record<string, string>;
    const ofServer = Object.fromEntries(
      Object.entries(goalOperatorsOfServer).map(([type, operators]) => [
        type,
        Object.fromEntries(Object.entries(operators).map(([operator, form]) => [operator, forms[form] ?? form])),
      ]),
    );
    expect(goalOperators).toEqual(ofServer);
  });

  test('proposes the whole hour after the next, in the zone of the workspace', () => {
    expect(soonIn('America/New_York', Date.parse('2026-11-21T16:10:00Z'))).toBe('2026-11-21T13:00');
    expect(soonIn('Asia/Kolkata', Date.parse('2026-12-31T17:10:00Z'))).toBe('2027-01-01T00:30');
  });
});

describe('the message preview', () => {
  const appName = 'Shop';

  test('is drawn from the content of a campaign, as far as its platform shows it', () => {
    const texts = {
      title: 'Hello',
      message: 'There',
      summary: 'Sale',
      subtitle: 'Today',
      image_url: 'https://a.example/i.png',
    };
    expect(
      messageOfContent({
        platform: 'ANDROID',
        content: { basic_details: texts, buttons: [{ btn_name: 'Later' }, { btn_name: '' }] },
        appName,
      }),
    ).toEqual({
      platform: 'ANDROID',
      sender: 'Shop',
      title: 'Hello',
      message: 'There',
      summary: 'Sale',
      image: 'https://a.example/i.png',
      buttons: ['Later'],
    });
    const media = { ...texts, rich_media_type: 'Video', rich_media_value: 'https://a.example/v.mp4' };
    const onIphone = { basic_details: media, buttons: [{ button_category: 'REPLY' }] };
    expect(messageOfContent({ platform: 'IOS', content: onIphone, appName })).toEqual({
      platform: 'IOS',
      sender: 'Shop',
      title: 'Hello',
      message: 'There',
      subtitle: 'Today',
      buttons: ['REPLY'],
    });
    const gif = { ...media, rich_media_type: 'GIF' };
    expect(messageOfContent({ platform: 'IOS', content: { basic_details: gif }, appName }).image).toBe(
      'https://a.example/v.mp4',
    );
    const site = { ...texts, redirect_url: 'https://shop.example/sale?of=today' };
    expect(
      messageOfContent({
        platform: 'WEB',
        content: { basic_details: site, advanced: { icon_url: 'https://a.example/icon.png' } },
        appName,
      }),
    ).toMatchObject({ sender: 'shop.example', icon: 'https://a.example/icon.png', image: 'https://a.example/i.png' });
  });

  test('is drawn from what the device showed for a received message', () => {
    const arrived: InboxMessage = {
      id: '1',
      workspaceId: 'W',
      collapseId: null,
      messageId: 'm',
      platform: 'IOS',
      deviceToken: 't',
      title: 'Hello',
      body: 'There',
      campaignId: null,
      receivedAt: '2026-01-01T00:00:00.000Z',
      transport: {},
      headers: {},
      payload: { aps: { alert: { title: 'Hello', subtitle: 'Today', body: 'There' } } },
      screen: {
        shownBy: 'extension',
        title: 'Hello',
        body: 'There',
        image: 'https://a.example/i.png',
        buttons: ['REPLY'],
      },
    };
    expect(messageOfInbox(arrived, appName)).toEqual({
      platform: 'IOS',
      sender: 'Shop',
      title: 'Hello',
      subtitle: 'Today',
      message: 'There',
      image: 'https://a.example/i.png',
      buttons: ['REPLY'],
    });
    // Of older versions nothing is known but the message.
    expect(messageOfInbox({ ...arrived, payload: {}, screen: {} }, appName)).toEqual({
      platform: 'IOS',
      sender: 'Shop',
      title: 'Hello',
      message: 'There',
      buttons: [],
    });
  });
});
