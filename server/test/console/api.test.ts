import { TOTP } from 'otpauth';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { makePicture } from '../pictures/make-picture.ts';
import { findFreePort } from '../find-free-port.ts';
import { holdAnswers } from './hold-answers.ts';
import { openSignedInClient } from './signed-in-client.ts';
import { makeSoftAuthenticator } from './soft-authenticator.ts';

describe('responses of the console', () => {
  let bundle: CarillonBundle;
  let cookie: string;
  let origin: string;
  beforeAll(async () => {
    const port = String(await findFreePort());
    // Passkeys belong to a name.
    origin = `http://localhost:${port}`;
    bundle = await startCarillonBundle({ CARILLON_PORT: port, CARILLON_PUBLIC_URL: origin });
    ({ cookie } = await openSignedInClient(bundle));
  });
  afterAll(() => bundle.stop());

  const idOf = (letter: string) => letter.repeat(24);
  const texts = { title: 'Hello', message: 'There' };
  const password = 'nine more green bottles';
  const webPush = { provider: 'webpush', subject: 'mailto:ops@example.com' };
  const draftBody = {
    channel: 'PUSH',
    campaign_delivery_type: 'ONE_TIME',
    basic_details: { name: 'Draft', platforms: ['ANDROID'] },
    campaign_content: { content: { push: { android: { basic_details: texts } } } },
    segmentation_details: { is_all_user_campaign: true },
    scheduling_details: { delivery_type: 'ASAP' },
  };

  type Ask = (route: string, options?: { body?: unknown; as?: string }) => Promise<any>;

  /** Olga adds an app and a passkey, and signs in as far as the second step. */
  async function addFactors(ask: Ask, as: string): Promise<void> {
    const { secret } = await ask('POST own/authenticator', { as });
    const confirmation = { code: new TOTP({ secret }).generate() };
    await ask('POST own/authenticator/confirmation', { as, body: confirmation });
    await ask('POST own/recovery-codes', { as });
    const { options } = await ask('POST own/passkeys/options', { as });
    const response = makeSoftAuthenticator({ origin, site: 'localhost' }).create(options);
    await ask('POST own/passkeys', { as, body: { name: 'Key', response } });
    await ask('GET own/second-factors', { as });
    const begun = await bundle.call('POST', '/console/api/session/password', {
      body: { email: 'olga@example.com', password },
    });
    const halfway = begun.headers.get('set-cookie')!.split(';')[0]!;
    await ask('GET second-factor', { as: halfway });
    await ask('POST second-factor/passkey-options', { as: halfway });
  }

  test('match their shapes exactly, without extra or missing members', async () => {
    const { workspaceId, database } = bundle;
    const { campaignId, comparedId, userId, deviceRowId } = await fill();
    const answers = await holdAnswers();
    const faults: string[] = [];

    /** Calls a route as the console does. `query` is added to the workspace in the query string. */
    async function ask(
      route: string,
      { params = {}, query = {}, ...asked }: { params?: object; query?: object; body?: unknown; as?: string } = {},
    ): Promise<any> {
      const [method, path] = route.split(' ') as [string, string];
      const filled = path.replace(/:([A-Za-z]+)/g, (_whole, name: string) => (params as Record<string, string>)[name]!);
      const address = `/console/api/${filled}?${new URLSearchParams({ workspaceId, ...query })}`;
      const body = 'body' in asked ? { body: asked.body } : {};
      const answer = await bundle.call(method, address, { headers: { cookie: asked.as ?? cookie }, ...body });
      const shown = answer.text === '' ? undefined : answer.json();
      const found = answers.hold(route, { status: answer.status, body: shown });
      faults.push(...found.map((fault) => `${fault} (${answer.text.slice(0, 300)})`));
      return shown;
    }

    // Signing in, and accounts.
    await ask('GET entrance');
    await ask('GET places', { query: { q: 'spring' } });
    await ask('GET session');
    const invitation = { email: 'olga@example.com', role: 'analyst', workspaceRoles: { [workspaceId]: 'developer' } };
    const invited = await ask('POST invitations', { body: invitation });
    await ask('POST invitations', { body: { email: 'nobody@example.com', role: 'analyst' } });
    const code = String(invited.link).split('=').at(-1)!;
    await ask('POST invitation', { body: { code } });
    const accepted = await bundle.call('POST', '/console/api/invitation/acceptance', {
      body: { code, name: 'Olga', password },
    });
    const own = accepted.headers.get('set-cookie')!.split(';')[0]!;
    await ask('GET own/sessions', { as: own });
    await addFactors(ask, own);
    const { accounts } = await ask('GET accounts');
    const account = {
      params: { id: accounts.find(({ email }: { email: string }) => email === 'olga@example.com').id },
    };
    await ask('POST accounts/:id/password-link', account);
    await ask('PUT accounts/:id/role', { ...account, body: { role: 'marketer' } });
    await ask('POST accounts/:id/disable', account);
    await ask('POST accounts/:id/enable', account);
    await bundle.call('PUT', `/console/api/accounts/${account.params.id}/role`, {
      headers: { cookie },
      body: { role: 'owner' },
    });
    await ask('GET owners');

    // Users and their devices.
    const user = { params: { id: userId } };
    await ask('POST people', { body: { customerId: 'bea', attributes: { city: 'Lisbon' } } });
    await bundle.call('PUT', `/console/api/people/${userId}/test?workspaceId=${workspaceId}`, {
      headers: { cookie },
      body: { isTest: true },
    });
    await ask('GET people', { query: { q: 'ada' } });
    await ask('GET people/list', { query: { part: 'ada' } });
    await ask('GET people/:id', user);
    await ask('GET people/for-tests');
    const suspect = (sends: number | null) => bundle.database`
      update devices set suspected_code = ${sends && 'BadDeviceToken'}, suspected_sends = ${sends}::smallint,
        suspected_since = ${sends && '2026-03-01'}::timestamptz, suspected_at = ${sends && '2100-01-01'}::timestamptz`;
    await suspect(2);
    await ask('GET people/suspected-devices');
    await ask('GET people/:id', user);
    await suspect(null);
    await ask('GET people/:id/timeline', user);
    const topic = { name: 'Cooking', description: 'Recipes', position: 1 };
    await ask('POST topics', { body: { key: 'cooking', isInByDefault: false, ...topic } });
    await ask('PATCH topics/:key', { params: { key: 'cooking' }, body: topic });
    await ask('GET topics');
    await ask('PATCH people/:id/topics', { ...user, body: { topics: { cooking: true } } });
    await ask('GET people/:id/topics', user);
    await ask('GET overview/people');
    await ask('GET overview/first-steps');
    await ask('GET overview/week');

    // Campaigns, and reports of phones about them.
    await ask('GET overview');
    const { messages } = await ask('GET inbox');
    await ask('POST sandbox/messages/:id/:kind', { params: { id: messages[0].id, kind: 'click' } });
    const campaign = { params: { id: campaignId } };
    await ask('POST campaigns/search', { body: { limit: 10, page: 1 } });
    for (const what of ['', '/progress', '/results', '/timeline', '/runs'])
      await ask(`GET campaigns/:id${what}`, campaign);
    await database`
      insert into device_interactions (workspace_id, bucket, campaign_id, device_id, kind, run_id, platform, report_digests,
        count, first_at)
      values (${workspaceId}, 5, ${comparedId}, ${idOf('4')}, 'CLICK', ${idOf('4')}, 'IOS', array['\\x00'::bytea], 1, now())`;
    await ask('GET campaigns/:id/reports', { params: { id: comparedId }, query: { kind: 'CLICK' } });
    await ask('GET campaigns/:id/figures', { params: { id: comparedId }, query: { attribution: 'TOTAL_CONVERSIONS' } });
    await ask('PUT campaigns/:id/winner', { params: { id: comparedId }, body: { variation: null } });
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
    await ask('GET calendar', { query: { view: 'week', date: tomorrow } });
    for (const [action, letter] of Object.entries({ pause: 'a', resume: 'a', stop: 'b' }))
      await ask(`POST campaigns/:id/${action}`, { params: { id: idOf(letter) } });
    await ask('POST campaigns/:id/clone', campaign);
    const template = await ask('POST campaigns/:id/template', { ...campaign, body: { name: 'Kept' } });
    await ask('GET templates');
    await ask('POST templates/:id/use', { params: { id: template.id } });
    const ofCampaigns = { params: { screen: 'campaigns' } };
    await ask('POST views/:screen', { ...ofCampaigns, body: { name: 'Drafts', search: 'view=drafts' } });
    await ask('GET views/:screen', ofCampaigns);
    await ask('GET composer');
    await ask('POST composer/check', { body: draftBody });
    await ask('POST composer/check', { body: { ...draftBody, campaign_content: {} } });
    const later = { delivery_type: 'AT_FIXED_TIME', start_time: '2030-03-31T02:30:00', timezone: 'Europe/Berlin' };
    await ask('POST composer/check', { body: { ...draftBody, scheduling_details: later } });
    await ask('POST composer/audience', { body: draftBody });
    await ask('POST composer/audience', { body: { segmentation_details: {} } });
    await ask('POST composer/local-times', { body: draftBody });
    await ask('GET composer/open-hours');
    const inUserZones = { ...later, delivery_type: 'SEND_IN_USER_TIMEZONE' };
    await ask('POST composer/check', { body: { ...draftBody, scheduling_details: inUserZones } });
    await ask('POST composer/local-times', { body: { ...draftBody, scheduling_details: inUserZones } });
    await ask('POST preview', { body: draftBody });
    const draft = await ask('POST campaigns', { body: draftBody });
    const ofDraft = { params: { id: draft.id } };
    await ask('PATCH campaigns/:id', { ...ofDraft, body: { basic_details: { name: 'Changed draft' } } });
    const meta = { identifier: 'USER_ATTRIBUTE_UNIQUE_ID', identifier_values: ['ada', 'nobody'] };
    await ask('GET campaigns/:id/agent-change', ofDraft);
    const desk = await ask('POST own/agent-tokens', { body: { name: 'Desk', days: 1, mayPropose: true } });
    await ask('GET own/agent-tokens');
    await ask('GET agent-tokens');
    const call = async (name: string, args: object) => {
      const params = { name, arguments: { workspace_id: workspaceId, campaign_id: draft.id, ...args } };
      const headers = { authorization: `Bearer ${desk.token}` };
      const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
      return (await bundle.call('POST', '/mcp', { headers, body })).json().result.structuredContent.data;
    };
    await call('change_draft', { changes: { basic_details: { tags: ['spring'] } } });
    await ask('GET campaigns/:id/agent-change', ofDraft);
    const refused = await call('propose_publish', { note: 'Spring' });
    await ask('GET proposals/:id', { params: { id: refused.id } });
    await ask('POST proposals/:id/refuse', { params: { id: refused.id }, body: { reason: 'Later' } });
    const approved = await call('propose_test', { note: 'Look', customer_ids: ['ada'] });
    await ask('GET proposals');
    await ask('POST proposals/:id/approve', { params: { id: approved.id } });
    await ask('DELETE own/agent-tokens/:id', { params: { id: desk.id } });
    const { change } = await ask('GET campaigns/:id/agent-change', ofDraft);
    await ask('POST composer/test', { body: { draft_id: draft.id, test_campaign_meta: meta } });
    await ask('POST campaigns/:id/publish', { ...ofDraft, query: { delaySeconds: '60', seenChange: change.id } });
    await ask('POST campaigns/:id/recall', ofDraft);

    // The log of deliveries.
    const { deliveries } = await ask('GET deliveries');
    const { day, bucket, userId: sentUser, runId, deviceRowId: sentTo } = deliveries[0];
    await ask('GET deliveries/:day/:bucket/:userId/:runId/:deviceRowId', {
      params: { day, bucket: String(bucket), userId: sentUser, runId, deviceRowId: sentTo },
    });
    await ask('GET explain', { query: { campaignId, customerId: 'ada' } });
    await ask('GET explain', { query: { campaignId, customerId: 'nobody-of-that-id' } });

    // Segments, callbacks and emails.
    const segment = { params: { id: idOf('c') } };
    const file = { name: 'Fetched', attributeName: 'u_em', attributeType: 'string' };
    await ask('POST segments/fetch', {
      body: { ...file, kind: 'create', expiryDays: 30, fileUrl: 'https://example.com/file.csv' },
    });
    const posted = { ...file, name: 'Posted', kind: 'create', expiryDays: '30', workspaceId };
    const upload = await fetch(`${bundle.url}/console/api/segments/upload?${new URLSearchParams(posted)}`, {
      method: 'POST',
      headers: { cookie, 'content-type': 'text/csv' },
      body: 'ada@example.com\n',
    });
    faults.push(...answers.hold('POST segments/upload', { status: upload.status, body: await upload.json() }));
    const drawn = makePicture({ width: 40, height: 20, format: 'png' });
    const picture = await fetch(`${bundle.url}/console/api/pictures?${new URLSearchParams({ workspaceId })}`, {
      method: 'POST',
      headers: { cookie, 'content-type': 'image/png' },
      body: new Uint8Array(drawn),
    });
    faults.push(...answers.hold('POST pictures', { status: picture.status, body: await picture.json() }));
    await ask('GET pictures');
    await ask('GET segments');
    await ask('GET segments/:id', segment);
    for (const what of ['campaigns', 'members']) await ask(`GET segments/:id/${what}`, segment);
    for (const action of ['archive', 'unarchive']) await ask(`POST segments/:id/${action}`, segment);
    const filters = {
      included_filters: {
        filter_operator: 'and',
        filters: [{ filter_type: 'user_attributes', name: 'city', data_type: 'string', operator: 'exists' }],
      },
    };
    for (const what of ['words', 'count', 'sample']) {
      await ask(`POST segments/filter/${what}`, { body: filters });
      await ask(`POST segments/filter/${what}`, { body: { included_filters: {} } });
    }
    const built = await ask('POST segments/filter', { body: { ...filters, name: 'Of a city' } });
    const ofBuilt = { params: { id: built.id } };
    await ask('PUT segments/:id/filter', { ...ofBuilt, body: { ...filters, name: 'Of some city' } });
    await ask('GET segments/:id', ofBuilt);
    await ask('GET segments/attributes');
    await ask('GET segments/event-names');
    await ask('GET segments/attribute-types', { query: { attribute: 'city' } });
    await ask('GET segments/attribute-values', { query: { attribute: 'city', prefix: 'L' } });
    await ask('POST segments/unmatched', {
      body: { attributeName: 'u_em', attributeType: 'string', values: ['nobody@example.com'] },
    });
    await ask('GET callbacks');
    await ask('GET callbacks/:id', { params: { id: idOf('f') } });
    await ask('POST callbacks/:id/resend', { params: { id: idOf('f') } });
    await ask('GET mails');
    await ask('GET mails/:id', { params: { id: idOf('5') } });
    await ask('POST mails/:id/resend', { params: { id: idOf('5') } });
    await ask('GET webhook-secret');

    // Event streams.
    await database`
      insert into event_streams (id, workspace_id, url, events, user_attributes, device_attributes, secret_sealed, created_at, updated_at)
      values (${idOf('7')}, ${workspaceId}, 'https://shop.example.com/events', '{delivered}', '{}', '{platform}', '\\x00', now(), now())`;
    await database`
      insert into event_stream_batches (id, stream_id, workspace_id, events, state, attempts, last_status, created_at, ended_at)
      values (${idOf('8')}, ${idOf('7')}, ${workspaceId}, '[{"at": "2026-03-01T10:00:00Z"}]', 'GIVEN_UP', 7, 503, now(), now())`;
    await ask('GET event-streams');
    await ask('GET event-streams/:id/dead-batches', { params: { id: idOf('7') } });
    await ask('POST event-streams/:id/resend', { params: { id: idOf('7') }, body: {} });

    // Alerts and metrics.
    await ask('GET alerts/settings');
    const alertSettings = {
      webhookUrl: 'https://ops.example.com/',
      emails: ['ops@example.com'],
      mutedKinds: ['queue'],
    };
    await ask('PUT alerts/settings', { body: alertSettings });
    await ask('POST alerts/test');
    await database`
      insert into alerts (id, workspace_id, kind, subject, what, todo, opened_at, seen_at)
      values (${idOf('9')}, ${workspaceId}, 'job', 'a job', 'It fails.', 'Read the log.', now(), now())`;
    await ask('GET alerts');
    await until(async () => (await database`select 1 from node_minutes`).length > 0);
    await ask('GET metrics', { query: { span: 'hour' } });

    // Keys, credentials, settings, the log of calls.
    const { key } = await ask('POST keys', { body: { kind: 'data', name: 'New' } });
    await ask('GET keys');
    await ask('POST keys/:id/rotate', { params: { id: key.id }, body: { overlapHours: 1 } });
    await ask('PUT app-access', { body: { webOrigins: ['https://shop.example'], attributes: ['team'] } });
    const identityKey = await ask('POST app-access/identity-keys', { body: { algorithm: 'HS256' } });
    await ask('GET app-access');
    await ask('DELETE app-access/identity-keys/:id', { params: { id: identityKey.key.id } });
    await ask('GET installations');
    await bundle.database`
      insert into apps (workspace_id, platform, app_id, name, identifier, created_at)
      values (${bundle.workspaceId}, 'ANDROID', 'outlet', 'Outlet', 'com.example.outlet', now())`;
    await bundle.database`
      insert into provider_credentials (workspace_id, provider, app_id, sealed, summary, simulated, updated_at)
      select workspace_id, provider, 'outlet', sealed, summary, simulated, updated_at
      from provider_credentials where workspace_id = ${bundle.workspaceId} and provider = 'fcm'`;
    await ask('GET credentials');
    await ask('POST credentials', { body: webPush });
    await ask('POST credentials/:provider/check', { params: { provider: 'webpush' } });
    await ask('POST credentials/:provider/simulator', { params: { provider: 'webpush' } });
    const { settings } = await ask('GET settings');
    await ask('GET settings/fixed');
    await ask('PUT settings', { body: { ...settings, frequencyCaps: '2/1d', quietHours: '22:00-08:00' } });
    await bundle.call('POST', `/v1/customer/${workspaceId}`, { body: {}, headers: bundle.basic() });
    const isPush = ({ route }: { route: string }) => route.endsWith('/sendpush');
    const { calls } = await until(async () => {
      const page = await ask('GET calls');
      return page.calls.some(isPush) && page;
    });
    await ask('GET calls/:id', { params: { id: calls.find(isPush).id } });

    // The sandbox, and the installation.
    await ask('GET sandbox');
    await ask('PUT sandbox/faults', { body: { fcm: { status: 503 } } });
    await ask('POST sandbox/devices', { body: { customerId: 'bea', platform: 'ANDROID', behaviour: 'gone' } });
    await ask('GET sandbox/devices');
    await ask('PUT sandbox/devices/:id', { params: { id: deviceRowId }, body: { behaviour: 'busy' } });
    await ask('POST sandbox/clock', { body: { advanceSeconds: 60 } });
    await ask('GET overview');
    await ask('GET system');
    await ask('GET audit');
    await ask('POST people/:id/erase', user);
    await ask('GET people/:id', user);
    await ask('DELETE people/:id/erasure', user);
    await ask('POST sandbox/empty');
    await ask('POST sandbox/reset');

    expect(faults).toEqual([]);
    // A sign-in by a company's account needs its issuer; company-sign-in.test.ts has one.
    // Only agents propose; proposals.test.ts has the answer.
    expect(answers.notHeld()).toEqual(['POST campaigns/:id/proposals', 'POST company']);
    // These lists are empty on a healthy node without replicas and campaign versions.
    expect(answers.emptyLists()).toEqual([
      'GET campaigns/:id versions',
      'GET campaigns/:id/results waiting',
      'GET overview failedRuns',
      'GET overview paused',
      'GET overview running',
      'GET overview verdict findings',
      'GET system database replicas',
    ]);
    // About 150 calls, and a sandbox that is emptied: 25 s of a quiet machine.
  }, 180_000);

  /** Stores data for every route: a sent push, a recurring campaign, a file segment, a callback and an email. */
  async function fill(): Promise<{ campaignId: string; comparedId: string; userId: string; deviceRowId: string }> {
    const { database, workspaceId } = bundle;
    await database`
      insert into installations (workspace_id, bucket, id, secret_hash, key_id, registration, user_bucket, user_id, is_identified,
        created_at, refreshed_at)
      select workspace_id, 7, 'app-of-ada', ${Buffer.alloc(32, 1)}, 'key', '{"platform": "ANDROID"}', bucket, id, true, now(), now()
      from users where customer_id = 'ada'`;
    await bundle.call('POST', '/v1.0/business_event', {
      headers: bundle.basic(bundle.keys.campaigns),
      body: {
        event_name: 'price drop',
        event_attributes: [{ attribute_name: 'product', attribute_data_type: 'string' }],
        created_by: 'ada',
      },
    });
    // Sent first, so that the newest messages are those of the other campaign.
    const push = { push: { android: { basic_details: texts } } };
    const compared = {
      ...draftBody,
      created_by: 'ada',
      basic_details: { name: 'Said in two ways', platforms: ['ANDROID'] },
      campaign_content: {
        variation_details: {
          ...{ no_of_variations: 2, distribution_type: 'MANUAL' },
          manual_distribution_percentage: { variation_1: 50, variation_2: 50 },
        },
        content: { default: { variation_1: push, variation_2: push } },
      },
      control_group_details: { is_campaign_control_group_enabled: true, campaign_control_group_percentage: 99 },
      conversion_goal_details: {
        goals: [{ goal_name: 'Order', goal_event_name: 'order placed', is_primary_goal: true }],
      },
    };
    const own = bundle.basic(bundle.keys.campaigns);
    const { id: comparedId } = (await bundle.call('POST', '/v5/campaigns', { headers: own, body: compared })).json()
      .data;
    const published = { headers: own, body: { action: 'PUBLISH' } };
    await bundle.call('PATCH', `/v5/campaigns/${comparedId}/status`, published);
    await until(
      async () => (await database`select 1 from runs where campaign_id = ${comparedId} and status = 'SENT'`).length > 0,
    );
    await database`
      insert into topics (id, workspace_id, key, name, description, is_in_by_default, position, created_at, updated_at)
      values (${idOf('6')}, ${workspaceId}, 'offers', 'Offers', 'What is cheaper', true, 1, now(), now())`;
    // A device whose provider refuses it: new, because one in a hundred would be reached by the first campaign and removed.
    const headers = bundle.basic();
    const lost = { type: 'customer', customer_id: 'lost', attributes: { city: 'Oslo' } };
    await bundle.call('POST', `/v1/customer/${workspaceId}`, { headers, body: lost });
    const attributes = { platform: 'ANDROID', push_id: 'magic-gone-0' };
    const device = { type: 'device', customer_id: 'lost', device_id: 'old phone', attributes };
    await bundle.call('POST', `/v1/device/${workspaceId}`, { headers, body: device });
    const { cid } = (
      await bundle.push({
        campaignName: 'Spring sale',
        targetPlatform: ['ANDROID', 'IOS'],
        targetAudience: 'All Users',
        payload: { ANDROID: texts, IOS: texts },
        campaignDelivery: { type: 'soon' },
        conversionGoals: [{ name: 'Order', eventName: 'order placed' }],
      })
    ).json();
    await until(async () => (await database`select 1 from campaigns where id = ${cid} and status = 'SENT'`).length > 0);
    const at = new Date();
    for (const letter of ['a', 'b'])
      await database`
        insert into campaigns (id, workspace_id, name, source, delivery_type, audience, platforms, content, timing, status,
          next_at, created_by, created_at, updated_at)
        values (${idOf(letter)}, ${workspaceId}, 'Weekly', 'PUSH_API', 'PERIODIC', 'ALL_USERS', '{ANDROID}',
          '{"ANDROID": {"title": "Hello", "message": "There"}}', '{"kind": "soon"}', 'ACTIVE',
          ${new Date(at.getTime() + 86_400_000)}, 'test', ${at}, ${at})`;
    await database`
      insert into segments (id, workspace_id, name, kind, state, source, attribute_name, attribute_type, version, user_count, expiry_days,
        expires_at, created_by, created_at, updated_at)
      values (${idOf('c')}, ${workspaceId}, 'Lapsed', 'FILE', 'READY', 'API', 'u_em', 'string', 1, 1, 30,
        ${new Date(at.getTime() + 30 * 86_400_000)}, 'test', ${at}, ${at})`;
    await database`
      insert into segment_operations (id, workspace_id, segment_id, number, kind, request_id, state, not_before, status,
        counted_users, requested_by, created_at, ended_at)
      values (${idOf('e')}, ${workspaceId}, ${idOf('c')}, 1, 'CREATE', ${'e'.repeat(32)}, 'SUCCEEDED', ${at}, 201, 1,
        'test', ${at}, ${at})`;
    await database`
      insert into callbacks (id, workspace_id, operation_id, url, body, state, attempts, created_at, ended_at)
      values (${idOf('f')}, ${workspaceId}, ${idOf('e')}, 'https://example.com/', '{}', 'DELIVERED', 1, ${at}, ${at})`;
    await database`
      insert into mails (id, workspace_id, recipients, subject, body, state, attempts, created_at, ended_at)
      values (${idOf('5')}, ${workspaceId}, '{ops@example.com}', 'Filled', 'It is.', 'FAILED', 4, ${at}, ${at})`;
    await database`update campaigns set segment_id = ${idOf('c')}, audience = 'SEGMENT' where id = ${idOf('b')}`;
    await database`insert into callback_attempts values (${idOf('f')}, 1, ${at}, 200, null, 12)`;
    await database`insert into mail_attempts values (${idOf('5')}, 1, ${at}, '550 no such mailbox', false, 12)`;
    const [phone] = await database<{ id: string; userId: string }[]>`
      select devices.id, devices.user_id as "userId" from devices join users on users.id = devices.user_id and users.bucket = devices.bucket
      where users.customer_id = 'ada' and platform = 'ANDROID'`;
    return { campaignId: cid, comparedId, userId: phone!.userId, deviceRowId: phone!.id };
  }
});

describe('console api', () => {
  let bundle: CarillonBundle;
  let code: string;
  let cookie: string;
  beforeAll(async () => {
    bundle = await startCarillonBundle();
    code = bundle.block.console.split('#sign-in=')[1]!;
  });
  afterAll(() => bundle.stop());

  const signIn = (body: unknown, headers: Record<string, string> = {}) =>
    bundle.call('POST', '/console/api/session', { body, headers });

  describe('signing in', () => {
    test('returns no page data without a session', async () => {
      for (const path of ['overview', `inbox?workspaceId=${bundle.workspaceId}`]) {
        expect((await bundle.call('GET', `/console/api/${path}`)).status).toBe(401);
        const headers = { cookie: 'carillon_session=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' };
        expect((await bundle.call('GET', `/console/api/${path}`, { headers })).status).toBe(401);
      }
    });

    test.each([[{}], [{ code: 'short' }], [{ code: 'x'.repeat(43) }], [{ code: 5 }], ['text']])(
      'does not open a session for %j',
      async (body) => {
        const answer = await signIn(body);
        expect([400, 401]).toContain(answer.status);
        expect(answer.headers.get('set-cookie')).toBeNull();
      },
    );

    test('records failed sign-ins in the audit log, which the application role may write', async () => {
      const lines = await bundle.database`
        select workspace_id from audit_log where action = 'account.sign-in-failed' and detail ->> 'way' = 'start link'`;
      expect(lines).toEqual([{ workspace_id: null }]);
    });

    test('rejects a request from another site, whatever its secrets', async () => {
      expect((await signIn({ code }, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
      expect((await signIn({ code }, { origin: 'https://evil.example' })).status).toBe(403);
      expect((await signIn({ code }, { origin: 'null' })).status).toBe(403);
    });

    test('opens one session per link, in a cookie hidden from scripts and other sites, and fails on the second use', async () => {
      const answer = await signIn({ code });
      expect(answer.status).toBe(204);
      const header = answer.headers.get('set-cookie')!;
      // On plain http a browser would drop a cookie that is `Secure` or begins with `__Host-`.
      expect(header).toMatch(
        /^carillon_session_[0-9a-f]{8}=\S+; Max-Age=43200; Path=\/console; HttpOnly; SameSite=Strict$/,
      );
      cookie = header.split(';')[0]!;
      expect((await signIn({ code })).status).toBe(401);
    });

    test('opens the overview, and never returns a secret', async () => {
      const answer = await bundle.call('GET', '/console/api/overview', { headers: { cookie } });
      expect(answer.status).toBe(200);
      expect(answer.json()).toMatchObject({
        workspace: { id: bundle.workspaceId },
        isSandbox: true,
        verdict: { level: 'well', headline: 'All is well', findings: [] },
      });
      const users = await bundle.call('GET', `/console/api/overview/people?workspaceId=${bundle.workspaceId}`, {
        headers: { cookie },
      });
      expect(users.json().users).toBe(3);
      const { curl: _curl, ...shown } = answer.json();
      for (const secret of Object.values(bundle.keys)) expect(JSON.stringify(shown)).not.toContain(secret);
    });

    test('ends the session on the server at sign-out', async () => {
      const headers = { cookie };
      expect((await bundle.call('DELETE', '/console/api/session', { headers })).status).toBe(204);
      expect((await bundle.call('GET', '/console/api/overview', { headers })).status).toBe(401);
    });
  });

  describe('the pages', () => {
    test('have a policy that blocks foreign scripts and framing', async () => {
      const page = await bundle.call('GET', '/console/');
      expect(page.status).toBe(200);
      const policy = page.headers.get('content-security-policy')!;
      expect(policy).toContain("script-src 'self'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/script-src[^;]*unsafe/);
      expect(page.headers.get('x-content-type-options')).toBe('nosniff');
      expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    });

    test.each(['/console/../package.json', '/console/%2e%2e/package.json', '/console/..%2f..%2fserver/src/main.ts'])(
      'do not expose other files under %s',
      async (path) => {
        const answer = await bundle.call('GET', path);
        expect(answer.status).toBeGreaterThanOrEqual(400);
        expect(answer.text).not.toContain('workspaces');
      },
    );
  });

  describe('the address of the service', () => {
    const home = (accept: string) => fetch(bundle.url, { headers: { accept }, redirect: 'manual' });

    test('redirects a browser to the console, and returns 404 to other callers', async () => {
      const browser = await home('text/html,application/xhtml+xml,*/*;q=0.8');
      expect([browser.status, browser.headers.get('location')]).toEqual([302, '/console/']);
      for (const accept of ['*/*', 'application/json']) {
        const answer = await home(accept);
        expect([answer.status, await answer.json()]).toEqual([
          404,
          { code: 404, status: 'error', reason: 'Page not found. Please recheck the URL' },
        ]);
      }
    });
  });

  test('derives the completed first steps from the database', async () => {
    const { database, workspaceId } = bundle;
    const fresh = await signIn({ code: (await bundle.carillon.createConsoleLink()).split('#sign-in=')[1] });
    const signedIn = fresh.headers.get('set-cookie')!.split(';', 1)[0]!;
    const read = async () =>
      (
        await bundle.call('GET', `/console/api/overview/first-steps?workspaceId=${workspaceId}`, {
          headers: { cookie: signedIn },
        })
      ).json();
    await database`delete from account_links`;
    expect(await read()).toEqual({ hasPushed: false, hasProvider: false, hasUsers: false, hasInvited: false });
    await database`
      insert into campaigns (id, workspace_id, name, source, delivery_type, audience, platforms, content, timing, status,
        created_by, created_at, updated_at)
      values (${'a'.repeat(24)}, ${workspaceId}, 'First', 'PUSH_API', 'ONE_TIME', 'ALL_USERS', '{ANDROID}',
        '{"ANDROID": {"title": "Hello", "message": "There"}}', '{"kind": "soon"}', 'SENT', 'test', now(), now())`;
    // Within the minute in which the workspace was created: an import of the first minute counts as well.
    const first = { type: 'customer', customer_id: 'first of an import', attributes: { city: 'Oslo' } };
    await bundle.call('POST', `/v1/customer/${workspaceId}`, { headers: bundle.basic(), body: first });
    await database`update provider_credentials set simulated = false where provider = 'fcm'`;
    await bundle.call('POST', '/console/api/invitations', {
      headers: { cookie: signedIn },
      body: { email: 'olga@example.com', role: 'analyst' },
    });
    expect(await read()).toEqual({ hasPushed: true, hasProvider: true, hasUsers: true, hasInvited: true });
  });

  // Last of all: a session does not outlive the leap.
  test('returns its time with every reply, by the clock of the sandbox', async () => {
    await bundle.call('POST', '/sandbox/clock', { body: { advanceSeconds: 3 * 86_400 } });
    const { headers } = await bundle.call('GET', '/console/api/session');
    const ahead = Date.parse(headers.get('carillon-time')!) - Date.now();
    expect(ahead / 86_400_000).toBeCloseTo(3, 1);
  });
});
