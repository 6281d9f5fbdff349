import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { android, campaign, expectStatus, faultsOf, idOf, makeAuthoringBundle } from './authoring-bundle.ts';
import type { AuthoringBundle } from './authoring-bundle.ts';

describe('drafts', () => {
  let bundle: AuthoringBundle;
  beforeAll(async () => {
    bundle = await makeAuthoringBundle();
    await bundle.addDevices(6);
  });
  afterAll(() => bundle.close());

  const create = (body: unknown, headers: Record<string, string> = {}) =>
    bundle.call('POST', '/v5/campaigns', body, { headers });
  const patch = (id: string, body: unknown) => bundle.call('PATCH', `/v5/campaigns/${id}`, body);
  const validate = async (id: string) => (await bundle.call('POST', `/v5/campaigns/${id}/validate`)).json().data;

  describe('a draft', () => {
    test('requires a channel, a delivery type and a creator, and nothing else', async () => {
      const answer = await create({
        channel: 'PUSH',
        campaign_delivery_type: 'ONE_TIME',
        created_by: 'ada@example.com',
      });
      expect([answer.statusCode, answer.json()]).toEqual([
        201,
        {
          response_id: expect.stringMatching(/^[a-z]{8}$/),
          type: 'campaign',
          data: { id: expect.stringMatching(/^[0-9a-f]{24}$/), status: 'DRAFT' },
        },
      ]);
      const empty = await create({});
      expect([empty.statusCode, empty.json().error.code, faultsOf(empty)]).toEqual([
        400,
        'VALIDATION_FAILED',
        ['channel is required.', 'campaign_delivery_type is required.', 'created_by is required.'],
      ]);
    });

    test('is found with its parts as created, by its id and by a search for DRAFT', async () => {
      const body = campaign({ basic_details: { name: 'As created', platforms: ['ANDROID'], team: 'Default Team' } });
      const id = idOf(await create(body));
      const { created_by, ...parts } = body;
      const wanted = { id, campaign_id: id, status: 'DRAFT', created_by, ...parts };
      expect(await bundle.get(id)).toMatchObject(wanted);
      const search = async (status: string[]) =>
        (
          await bundle.call('POST', '/v5/campaigns/search', {
            limit: 15,
            page: 1,
            campaign_fields: { name: 'as CREATED', ...(status.length > 0 ? { status } : {}) },
          })
        ).json().data.campaigns;
      expect(await search([])).toEqual([]);
      expect(await search(['DRAFT'])).toEqual([expect.objectContaining(wanted)]);
    });

    test('accepts the options of a push, and reports a wrong option', async () => {
      const push = (options: object) => ({
        campaign_content: { content: { push: { android: { ...android, options } } } },
      });
      const id = idOf(await create(campaign({ ...push({ color: '#0a7d5a', badge: { operation: 'clear' } }) })));
      expect(await validate(id)).toEqual({ valid: true, errors: [] });
      expect(await bundle.get(id)).toMatchObject(push({ color: '#0a7d5a', badge: { operation: 'clear' } }));
      const answer = await patch(id, push({ color: 'green' }));
      expect([answer.statusCode, faultsOf(answer)]).toEqual([
        400,
        ['campaign_content.content.push.android.options.color must be a colour such as #0a7d5a.'],
      ]);
      expect(await bundle.get(id)).toMatchObject(push({ color: '#0a7d5a' }));
    });

    test('is changed by merging: objects are merged, null removes a member, lists are replaced', async () => {
      const id = await bundle.draft();
      const answer = await patch(id, {
        basic_details: { name: 'Renamed', tags: null, platforms: ['ANDROID', 'IOS'] },
        campaign_content: { content: { push: { android: { basic_details: { title: 'New' } } } } },
        updated_by: 'grace@example.com',
      });
      expect([answer.statusCode, answer.json().data]).toEqual([200, { id }]);
      const changed = await bundle.get(id);
      expect(changed).toMatchObject({ updated_by: 'grace@example.com', status: 'DRAFT' });
      expect(changed.basic_details).toEqual({ name: 'Renamed', platforms: ['ANDROID', 'IOS'] });
      expect(changed.campaign_content.content.push.android.basic_details).toEqual({
        ...android.basic_details,
        title: 'New',
      });
    });

    test('is unchanged after a change with an error', async () => {
      const id = await bundle.draft();
      const before = await bundle.get(id);
      const answer = await patch(id, { basic_details: { name: 'Lost', platforms: ['TV'] } });
      expect([answer.statusCode, faultsOf(answer)]).toEqual([
        400,
        ['basic_details.platforms must hold only ANDROID, IOS, WEB.'],
      ]);
      expect(await bundle.get(id)).toEqual(before);
    });

    test('can be changed; a live campaign returns 409, an unknown or foreign one 404 (reliability R10)', async () => {
      const id = await bundle.live();
      const live = await patch(id, { basic_details: { name: 'Late' } });
      expect([live.statusCode, live.json().error]).toMatchObject([
        409,
        { code: 'BAD_REQUEST', message: 'Campaign is not in DRAFT state and cannot be patched.' },
      ]);
      expect((await patch('f'.repeat(24), {})).statusCode).toBe(404);
      const pushed = await bundle.push({ campaignName: 'Made by push' });
      expect((await patch(pushed, {})).statusCode).toBe(409);
    });

    test('has no unknown fields in its record; the response warns about them, in filters too (decision D5)', async () => {
      const filter = {
        filter_type: 'user_attributes',
        name: 'a',
        data_type: 'string',
        operator: 'exists',
        ledColour: 1,
      };
      const answer = await create({
        ...campaign({ colour: 'red' }),
        segmentation_details: { included_filters: { filter_operator: 'and', filters: [filter] } },
      });
      expect(answer.headers['x-svc-warning']).toBe(
        'unknown field "colour", unknown field "segmentation_details.included_filters.filters[0].ledColour"',
      );
      expect(await bundle.get(idOf(answer))).not.toHaveProperty('colour');
    });

    test('is rejected if the request ids of header and body differ', async () => {
      const answer = await create({ ...campaign(), request_id: 'a' }, { 'x-svc-request-id': 'b' });
      expect([answer.statusCode, answer.json().error.target]).toEqual([400, 'request_id']);
    });

    test('is created once for repeats under one Idempotency-Key; another body is rejected with 409 (decision D4)', async () => {
      const key = { 'idempotency-key': '6f2f1d0c-6f0c-4a8e-9a55-6a3d6ad3a5ce' };
      const [first, second] = [await create(campaign(), key), await create(campaign(), key)];
      expect(idOf(second)).toBe(idOf(first));
      const other = await create(campaign({ created_by: 'eve@example.com' }), key);
      expect([other.statusCode, other.json().error.code, other.json().error.message]).toEqual([
        409,
        'BAD_REQUEST',
        'Idempotency-Key reused with a different request body.',
      ]);
    });
  });

  describe('validation', () => {
    test('reports a complete draft as valid', async () => {
      const id = await bundle.draft();
      expect(await validate(id)).toEqual({ valid: true, errors: [] });
      // With a body and without, as clients send it.
      const headers = { 'content-type': 'application/json' };
      const empty = await bundle.call('POST', `/v5/campaigns/${id}/validate`, undefined, { headers });
      expect([empty.statusCode, empty.json().data.valid]).toEqual([200, true]);
      expect((await bundle.call('POST', `/v5/campaigns/${id}/validate`, {})).statusCode).toBe(200);
    });

    test('names each missing part once, and responds with 200', async () => {
      const id = idOf(await create({ channel: 'PUSH', campaign_delivery_type: 'PERIODIC', created_by: 'ada' }));
      expect(await validate(id)).toEqual({
        valid: false,
        errors: ['basic_details', 'campaign_content', 'segmentation_details', 'scheduling_details'].map((field) => ({
          field,
          issue: 'is required',
        })),
      });
      const named = await bundle.draft({ basic_details: { name: 'N' }, segmentation_details: null });
      expect((await validate(named)).errors).toEqual([
        { field: 'segmentation_details', issue: 'is required' },
        { field: 'basic_details.platforms', issue: 'is required' },
      ]);
    });

    test('checks clock and database: a start in the past, an unknown segment', async () => {
      const segment = { filter_type: 'custom_segments', id: 'e'.repeat(24) };
      const id = await bundle.draft({
        segmentation_details: { included_filters: { filter_operator: 'and', filters: [segment] } },
        scheduling_details: { delivery_type: 'AT_FIXED_TIME', start_time: '2026-03-01T11:59:00' },
      });
      expect((await validate(id)).errors).toEqual([
        { field: 'scheduling_details.start_time', issue: 'is in the past' },
        { field: 'segmentation_details.included_filters', issue: 'names a segment that does not exist' },
      ]);
    });

    test('returns 404 for an unknown campaign, and reports a live campaign as invalid', async () => {
      expect((await bundle.call('POST', `/v5/campaigns/${'f'.repeat(24)}/validate`)).statusCode).toBe(404);
      expect(await validate(await bundle.live())).toEqual({
        valid: false,
        errors: [{ field: 'status', issue: 'is not DRAFT' }],
      });
    });
  });

  describe('the unsupported fields of fact 6.2', () => {
    const content = (push: object) => ({ campaign_content: { content: { push } } });
    const details = (more: object) => ({ basic_details: { name: 'Name', platforms: ['ANDROID'], ...more } });
    const sendLimit = { enabled: true, max_count: 1, window_value: 2, window_unit: 'DAYS' };
    const scheduling = (more: object) => ({ scheduling_details: { delivery_type: 'ASAP', ...more } });
    const ios = (more: object) => ({
      basic_details: { name: 'Name', platforms: ['IOS'] },
      ...content({ ios: { basic_details: { title: 'T', message: 'M' }, ...more } }),
    });
    const web = (more: object) => ({
      basic_details: { name: 'Name', platforms: ['WEB'] },
      ...content({
        web: {
          basic_details: { title: 'T', message: 'M', redirect_url: 'https://a.b/' },
          advanced: { icon_url: 'https://a.b/i.png' },
          ...more,
        },
      }),
    });
    test.each<[string, object]>([
      ['channel', { channel: 'SMS' }],
      ['channel', { channel: 'EMAIL' }],
      ['campaign_delivery_type', { campaign_delivery_type: 'DEVICE_TRIGGERED' }],
      ['campaign_delivery_type', { campaign_delivery_type: 'API_TRIGGERED' }],
      ['connector', { connector: 'x' }],
      ['sender_name', { sender_name: 'x' }],
      ['trigger_condition', { trigger_condition: { trigger_delay_type: 'ASAP' } }],
      [
        'control_group_details.campaign_control_group_percentage',
        { control_group_details: { campaign_control_group_percentage: 5 } },
      ],
      [
        'campaign_audience_limit.limit',
        { campaign_audience_limit: { is_campaign_audience_limit_enabled: false, limit: 5 } },
      ],
      ['basic_details.team', details({ team: 'North' })],
      ['basic_details.geofences', details({ geofences: [{ id: 'x' }] })],
      ['basic_details.business_event', details({ business_event: 'x' })],
      ['basic_details.broadcast_live_activity_id', details({ broadcast_live_activity_id: 'x' })],
      ['basic_details.send_to_triggered_platform_only', details({ send_to_triggered_platform_only: true })],
      [
        'basic_details.platform_specific_details.android.push_amp_plus_enabled',
        details({ platform_specific_details: { android: { push_amp_plus_enabled: true } } }),
      ],
      [
        'basic_details.platform_specific_details.ios.exclude_provisional_push_devices',
        details({ platform_specific_details: { ios: { exclude_provisional_push_devices: true } } }),
      ],
      [
        'basic_details.platform_specific_details.ios.send_to_all_eligible_device',
        details({ platform_specific_details: { ios: { send_to_all_eligible_device: false } } }),
      ],
      ['campaign_content.locales', { campaign_content: { locales: ['de'], content: { push: { android } } } }],
      [
        'campaign_content.variation_details.no_of_variations',
        { campaign_content: { variation_details: { no_of_variations: 2 }, content: { push: { android } } } },
      ],
      [
        'campaign_content.variation_details.sherpa_duration',
        {
          campaign_content: {
            variation_details: { no_of_variations: 2, distribution_type: 'SHERPA', sherpa_duration: 4 },
            content: { default: { variation_1: { push: { android } }, variation_2: { push: { android } } } },
          },
        },
      ],
      [
        'campaign_content.content.de.x',
        { campaign_content: { content: { default: { variation_1: { push: { android } } }, de: { x: 1 } } } },
      ],
      [
        'campaign_content.content.default.variation_2',
        {
          campaign_content: { content: { default: { variation_1: { push: { android } }, variation_2: { push: {} } } } },
        },
      ],
      [
        'campaign_content.content.push.android.template_type',
        content({ android: { ...android, template_type: 'TIMER' } }),
      ],
      [
        'campaign_content.content.push.android.custom_template_id',
        content({ android: { ...android, custom_template_id: 'x' } }),
      ],
      ['campaign_content.content.push.android.timer', content({ android: { ...android, timer: { a: 1 } } })],
      [
        'campaign_content.content.push.android.basic_details.input_gif_url',
        content({ android: { basic_details: { ...android.basic_details, input_gif_url: 'https://a.b/c.gif' } } }),
      ],
      [
        'campaign_content.content.push.android.buttons[0].click_action_type',
        content({ android: { ...android, buttons: [{ btn_name: 'b', click_action_type: 'RICH_LANDING' }] } }),
      ],
      [
        'campaign_content.content.push.android.advanced.make_notification_sticky',
        content({ android: { ...android, advanced: { make_notification_sticky: true } } }),
      ],
      [
        'campaign_content.content.push.android.advanced.auto_dismiss_notification',
        content({ android: { ...android, advanced: { auto_dismiss_notification: true } } }),
      ],
      [
        'campaign_content.content.push.ios.basic_details.allow_bg_refresh',
        ios({ basic_details: { title: 'T', message: 'M', allow_bg_refresh: true } }),
      ],
      ['campaign_content.content.push.web.buttons', web({ buttons: [{ title: 'x', url: 'https://a.b/' }] })],
      [
        'campaign_content.content.push.web.advanced.icon_image_type',
        web({ advanced: { icon_image_type: 'DEFAULT', icon_url: 'https://a.b/' } }),
      ],
      ['scheduling_details.delivery_type', scheduling({ delivery_type: 'SEND_WHENEVER' })],
      ['scheduling_details.bts_details', scheduling({ bts_details: { a: 1 } })],
      ['scheduling_details.user_timezone_details', scheduling({ user_timezone_details: { a: 1 } })],
      ['scheduling_details.periodic_details', scheduling({ periodic_details: { sending_frequency: 'DAILY' } })],
      [
        'segmentation_details.send_campaign_to_opt_out_users',
        { segmentation_details: { is_all_user_campaign: true, send_campaign_to_opt_out_users: true } },
      ],
      [
        'segmentation_details.included_filters',
        {
          segmentation_details: { included_filters: { filter_operator: 'and', filters: [{ filter_type: 'actions' }] } },
        },
      ],
      ...(
        [
          ['send_message_in_offline_mode', true],
          ['bypass_dnd', 'sometimes'],
          ['minimum_delay_between_two_notification_in_hour', 721],
          ['max_time_to_show_message_of_same_camapign', 1],
          ['expiry_time_of_sync_data_in_hour', 1],
          ['queuing_enabled', 'sometimes'],
          ['queue_duration', 1],
          ['send_limit_value', 101],
          ['send_limit_granularity_in_hours', 721],
        ] as const
      ).map(([name, value]): [string, object] => [
        `delivery_controls.${name}`,
        { delivery_controls: { [name]: value } },
      ]),
      ...(
        [
          ['queue_duration', { queuing_enabled: true, queue_duration: 49 }],
          ['limit_send_config.max_count', { limit_send_config: { max_count: 1 } }],
          ['limit_send_config.window_value', { limit_send_config: { ...sendLimit, window_value: 31 } }],
          ['limit_send_config.window_unit', { limit_send_config: { ...sendLimit, window_unit: 'YEARS' } }],
          [
            'limit_send_config',
            { limit_send_config: sendLimit, send_limit_value: 1, send_limit_granularity_in_hours: 1 },
          ],
        ] as const
      ).map(([name, controls]): [string, object] => [`delivery_controls.${name}`, { delivery_controls: controls }]),
      [
        'advanced.expiration_settings.remove_from_inbox_after_value',
        { advanced: { expiration_settings: { remove_from_inbox_after_value: 1 } } },
      ],
      [
        'advanced.platform_level_priority.ios_specific_priority.interruption_level',
        { advanced: { platform_level_priority: { ios_specific_priority: { interruption_level: 'Critical' } } } },
      ],
      [
        'advanced.platform_level_priority.ios_specific_priority.relevance_score',
        { advanced: { platform_level_priority: { ios_specific_priority: { relevance_score: 1 } } } },
      ],
      [
        'conversion_goal_details.attribution_window_in_hours',
        { conversion_goal_details: { attribution_window_in_hours: 145 } },
      ],
      [
        'conversion_goal_details.goals[0].revenue_currency',
        { conversion_goal_details: { goals: [{ goal_name: 'g', goal_event_name: 'e', revenue_currency: 'EUR' }] } },
      ],
      [
        'conversion_goal_details.goals[1].is_primary_goal',
        {
          conversion_goal_details: {
            goals: [
              { goal_name: 'g', goal_event_name: 'e' },
              { goal_name: 'h', goal_event_name: 'e', is_primary_goal: true },
            ],
          },
        },
      ],
    ])('rejects by name: %s', async (field, more) => {
      const answer = await create(campaign(more as Record<string, unknown>));
      expect([answer.statusCode, answer.json().error?.code]).toEqual([400, 'VALIDATION_FAILED']);
      expect(answer.json().error.details.map(({ target }: { target: string }) => target)).toEqual([field]);
    });

    test('accepts the values that switch them off', async () => {
      const id = await bundle.draft({
        control_group_details: {
          is_campaign_control_group_enabled: false,
          campaign_control_group_percentage: 0,
          is_global_control_group_enabled: false,
        },
        campaign_audience_limit: { is_campaign_audience_limit_enabled: false },
        utm_params: {},
        delivery_controls: {
          bypass_dnd: true,
          ignore_frequency_capping: true,
          queuing_enabled: false,
          send_limit_value: null,
        },
        advanced: { platform_level_priority: { ios_specific_priority: { interruption_level: 'active' } } },
      });
      expect(await validate(id)).toEqual({ valid: true, errors: [] });
    });
  });

  test('limits the creation of campaigns to 5 a minute, 25 an hour and 100 a day (fact 6.1)', async () => {
    const limited = await makeAuthoringBundle({
      limits: {
        creations: [
          { events: 2, seconds: 60 },
          { events: 3, seconds: 3_600 },
        ],
      },
    });
    try {
      const make = (body: unknown = campaign()) => limited.call('POST', '/v5/campaigns', body);
      expectStatus(await make(campaign({ channel: 'SMS' })), 400);
      expectStatus(await make(), 201);
      expectStatus(await make(), 201);
      const third = await make();
      expect([third.statusCode, third.json().error.code, third.headers['retry-after']]).toEqual([
        429,
        'RATE_LIMITED',
        '58',
      ]);
      limited.clock.advance(58_000);
      expectStatus(await make(), 201);
      limited.clock.advance(60_000);
      expectStatus(await make(), 429);
    } finally {
      await limited.close();
    }
  });
});

describe('versions of a recurring campaign (fact 6.3)', () => {
  let bundle: AuthoringBundle;
  beforeAll(async () => {
    bundle = await makeAuthoringBundle();
    await bundle.addDevices(3);
    await bundle.database`update workspaces set campaign_versioning = true`;
  });
  afterAll(() => bundle.close());

  const daily = (name: string) => ({
    basic_details: { name, platforms: ['ANDROID'] },
    campaign_delivery_type: 'PERIODIC',
    scheduling_details: {
      delivery_type: 'AT_FIXED_TIME',
      start_time: '2026-04-01T09:00:00',
      expiry_time: '2026-12-31T09:00:00',
      periodic_details: { sending_frequency: 'DAILY' },
    },
  });
  const retitle = (title: string) => ({
    campaign_content: { content: { push: { android: { basic_details: { title } } } } },
  });
  const patch = (id: string, change: object) =>
    bundle.call('PATCH', `/v1/campaigns/${id}`, { request_id: 'r', updated_by: 'grace@example.com', ...change });
  const documents = async (name: string, fields: object = {}): Promise<any[]> =>
    (
      await bundle.call('POST', '/v5/campaigns/search', { limit: 15, page: 1, campaign_fields: { name, ...fields } })
    ).json().data.campaigns;
  const short = ({ id, campaign_id, version_number, status }: any) => ({ id, campaign_id, version_number, status });

  test('creates a document under the same campaign id for a change of a live campaign, and retires the old version', async () => {
    const first = await bundle.live(daily('Versioned'));
    expectStatus(await patch(first, retitle('Second')), 204);
    const found = await documents('versioned');
    const second = found[0].id;
    expect(second).not.toBe(first);
    expect(found.map(short)).toEqual([
      { id: second, campaign_id: first, version_number: 2, status: 'ACTIVE' },
      { id: first, campaign_id: first, version_number: 1, status: 'RETIRED' },
    ]);
    expect((await documents('versioned', { version_number: 2 })).map(({ id }) => id)).toEqual([second]);
    expect([(await bundle.row(first)).content.ANDROID.title, (await bundle.row(second)).content.ANDROID.title]).toEqual(
      ['Title', 'Second'],
    );
    const v1 = await bundle.call('POST', '/v1/campaigns/search', {
      request_id: 'r',
      limit: 5,
      page: 1,
      campaign_fields: { id: first },
    });
    expect(v1.json().map((one: any) => [one.campaign_id, one.status])).toEqual([[first, 'ACTIVE']]);
  });

  test('sends an occurrence once, by the newest version, and lists the executions of all versions', async () => {
    const first = await bundle.live(daily('Executed'));
    bundle.clock.anchor(new Date('2026-04-01T09:00:00Z'));
    await bundle.fire();
    // The run under way is the old version's and ends as it began.
    expectStatus(await patch(first, retitle('Second')), 204);
    await bundle.deliver();
    bundle.clock.anchor(new Date('2026-04-02T09:00:00Z'));
    await bundle.fire();
    await bundle.deliver();
    const [newest] = await documents('executed');
    const executions = async (id: string) =>
      (await bundle.call('POST', `/v5/campaigns/${id}/executions`, { limit: 15, page: 1 })).json().data;
    expect((await executions(first)).total_instances).toBe(2);
    expect(await executions(newest.id)).toEqual(await executions(first));
    expect((await bundle.runs(first)).map(({ status }) => status)).toEqual(['SENT']);
    expect((await bundle.runs(newest.id)).map((run) => [run.moment.toISOString(), run.status])).toEqual([
      ['2026-04-02T09:00:00.000Z', 'SENT'],
    ]);
  });

  test('changes name and tags on the version; V1 names the campaign and means the newest', async () => {
    bundle.clock.anchor(new Date('2026-03-20T12:00:00Z'));
    const first = await bundle.live(daily('Labelled'));
    expectStatus(await patch(first, { basic_details: { name: 'Labelled anew', tags: ['t'] } }), 204);
    expect((await documents('labelled')).map(short)).toEqual([
      { id: first, campaign_id: first, version_number: 1, status: 'ACTIVE' },
    ]);
    expectStatus(await patch(first, retitle('Second')), 204);
    const paused = { request_id: 'r', action: 'PAUSE', campaign_ids: [first] };
    expectStatus(await bundle.call('POST', '/v1/campaigns/status', paused), 200);
    // A change of a paused one stays paused.
    expectStatus(await patch(first, retitle('Third')), 204);
    expect((await documents('labelled')).map(({ version_number, status }) => [version_number, status])).toEqual([
      [3, 'PAUSED'],
      [2, 'RETIRED'],
      [1, 'RETIRED'],
    ]);
  });

  test('limits a campaign to fifteen', async () => {
    const first = await bundle.live(daily('Many'));
    for (let version = 2; version <= 15; version += 1) expectStatus(await patch(first, retitle(`V${version}`)), 204);
    const refused = await patch(first, retitle('One too many'));
    expect([refused.statusCode, refused.json().error.message]).toEqual([
      409,
      'The campaign cannot be changed: it has 15 versions.',
    ]);
    const rows = await bundle.database`
      select max(version_number) as newest, count(*) filter (where status = 'ACTIVE') as active
      from campaigns where campaign_id = ${first}`;
    expect(rows[0]).toEqual({ newest: 15, active: 1 });
  });

  test('makes two versions, one after the other, of two concurrent changes', async () => {
    const first = await bundle.live(daily('Together'));
    const answers = await Promise.all([patch(first, retitle('A')), patch(first, retitle('B'))]);
    const statuses = (await documents('together')).map(({ version_number, status }) => [version_number, status]);
    expect(statuses.filter(([, status]) => status === 'ACTIVE')).toHaveLength(1);
    expect(statuses.length).toBe(1 + answers.filter(({ statusCode }) => statusCode === 204).length);
  });

  test('makes no version of a one-time campaign', async () => {
    const id = await bundle.live({
      basic_details: { name: 'Once', platforms: ['ANDROID'] },
      scheduling_details: { delivery_type: 'AT_FIXED_TIME', start_time: '2026-05-01T09:00:00' },
    });
    expectStatus(await patch(id, retitle('Changed')), 204);
    expect((await documents('once')).map(short)).toEqual([
      { id, campaign_id: id, version_number: 1, status: 'SCHEDULED' },
    ]);
  });
});

type Place = (string | number)[];

describe('members that cannot be stored', () => {
  let bundle: AuthoringBundle;
  let draftId: string;
  let segmentId: string;
  beforeAll(async () => {
    bundle = await makeAuthoringBundle();
    await bundle.addDevices(1);
    draftId = await bundle.draft();
    segmentId = idOf(
      await bundle.segments('POST', '/v3/custom-segments', { name: 'Ours', included_filters: filters(0) }),
    );
  });
  afterAll(() => bundle.close());

  const filters = (number: number) => ({
    filter_operator: 'and',
    filters: [
      { filter_type: 'user_attributes', name: `attribute_${number}`, data_type: 'string', operator: 'exists' },
      { filter_operator: 'or', filter_type: 'nested_filters', filters: [attribute] },
    ],
  });
  const attribute = { filter_type: 'user_attributes', name: 'city', data_type: 'string', operator: 'exists' };
  const segmented = (number: number) => ({
    ...campaign({ basic_details: { name: `Campaign ${number}`, platforms: ['ANDROID'] } }),
    segmentation_details: { included_filters: filters(number), excluded_filters: filters(number) },
  });
  const bodies: [string, (number: number) => [method: 'POST' | 'PATCH', path: string, body: object]][] = [
    [
      'a filter segment',
      (number) => ['POST', '/v3/custom-segments', { name: `S ${number}`, included_filters: filters(number) }],
    ],
    [
      'a change of one',
      (number) => ['PATCH', `/v3/custom-segments/${segmentId}`, { excluded_filters: filters(number) }],
    ],
    ['a draft', (number) => ['POST', '/v5/campaigns', segmented(number)]],
    [
      'a change of one',
      (number) => ['PATCH', `/v5/campaigns/${draftId}`, { ...segmented(number), updated_by: 'ada@example.com' }],
    ],
    ['a campaign of V1', (number) => ['POST', '/v1/campaigns', { ...segmented(number), request_id: `r ${number}` }]],
    ['a business event', (number) => ['POST', '/v1.0/business_event', eventOf(number)]],
    [
      'a trigger',
      () => ['POST', '/v5/business-events/triggers', { event_name: 'e', event_attributes: { a: { b: 1 } } }],
    ],
  ];
  const eventOf = (number: number) => ({
    event_name: `event ${number}`,
    event_attributes: [{ attribute_name: 'price', attribute_data_type: 'float' }],
    created_by: 'ada',
  });

  test.each(bodies)('causes no internal fault in %s, at any depth', async (_what, make) => {
    let number = 0;
    const places = pathsOf(make(1)[2]);
    for (const place of places)
      for (const member of [{ 'a\udbff': 'b' }, { 'a\0': 1 }, { a: '\ud800' }, { a: { b: ['\0'] } }]) {
        const [method, path, body] = make((number += 2));
        const call = path.startsWith('/v3') ? bundle.segments : bundle.call;
        const answer = await call(method, path, addAt(body, { place, member }));
        expect(answer.statusCode, `${place.join('.')} ${JSON.stringify(member)}: ${answer.body}`).toBeLessThan(500);
      }
  });
});

/** Where there are objects. */
function pathsOf(value: unknown, place: Place = []): Place[] {
  if (value === null || typeof value !== 'object') return [];
  const inside = Object.entries(value).flatMap(([name, item]) => pathsOf(item, [...place, name]));
  return Array.isArray(value) ? inside : [place, ...inside];
}

function addAt(body: object, { place, member }: { place: Place; member: object }): object {
  const copy = structuredClone(body);
  const found = place.reduce<any>((value, name) => value[name], copy);
  Object.assign(found, member);
  return copy;
}
