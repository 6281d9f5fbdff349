import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { TOTP } from 'otpauth';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { actionNames, kindNames } from '../../../console/src/audit/action-names.ts';
import { makeAuthenticatorSecret } from '../../src/domain/access/second-factor.ts';
import { encryptionContext } from '../../src/domain/crypto/encryption.ts';
import { bucketOf } from '../../src/domain/users/users.ts';
import { goodPassword, makeAccountsBundle, start } from './accounts-bundle.ts';
import type { AccountsBundle } from './accounts-bundle.ts';

describe('the audit log', () => {
  let bundle: AccountsBundle;
  let cookie: string;
  beforeAll(async () => {
    bundle = await makeAccountsBundle();
    cookie = await bundle.createOwner();
    const lines = [
      { minute: 1, actor: 'Olga', action: 'campaign.stop', name: 'Spring sale' },
      { minute: 2, actor: 'Max', action: 'campaign.pause', name: '=Spring, again' },
      { minute: 3, actor: 'Max', action: 'key.create', name: 'Shop' },
    ];
    await bundle.database`delete from audit_log`;
    for (const { minute, actor, action, name } of lines) {
      const at = new Date(start.getTime() + minute * 60_000);
      const id = `${at.getTime().toString(16).padStart(12, '0')}${'0'.repeat(11)}${minute}`;
      await bundle.database`
        insert into audit_log (id, workspace_id, at, actor_name, action, object_kind, object_id, object_name, detail)
        values (${id}, ${bundle.workspaceId}, ${at}, ${actor}, ${action}, ${action.split('.')[0]!},
          ${String(minute).repeat(24)}, ${name}, '{"from": "SENDING"}')`;
    }
  });
  afterAll(() => bundle.end());

  const at = (minute: number) => new Date(start.getTime() + minute * 60_000).toISOString();

  test.each([
    [{}, ['key.create', 'campaign.pause', 'campaign.stop']],
    [{ actor: 'max' }, ['key.create', 'campaign.pause']],
    [{ action: 'campaign' }, ['campaign.pause', 'campaign.stop']],
    [{ action: 'campaign.stop' }, ['campaign.stop']],
    [{ object: 'spring' }, ['campaign.pause', 'campaign.stop']],
    [{ object: '3'.repeat(24) }, ['key.create']],
    [{ from: at(2) }, ['key.create', 'campaign.pause']],
    [{ until: at(2) }, ['campaign.stop']],
    [{ from: at(2), until: at(3), actor: 'Olga' }, []],
  ])('filters by %j: %j', async (filters, actions) => {
    expect(await find(filters)).toEqual(actions);
  });

  test('exports the same lines as a file without formula cells', async () => {
    const query = new URLSearchParams({ workspaceId: bundle.workspaceId, action: 'campaign' });
    const { status, headers, body } = await bundle.call('GET', `audit.csv?${query}`, { cookie });
    expect([status, headers['content-disposition']]).toEqual([200, 'attachment; filename="audit.csv"']);
    expect(String(body).split('\r\n')).toEqual([
      'at,actor,action,object_id,object,detail',
      `${at(2)},Max,campaign.pause,${'2'.repeat(24)},"'=Spring, again","{""from"":""SENDING""}"`,
      `${at(1)},Olga,campaign.stop,${'1'.repeat(24)},Spring sale,"{""from"":""SENDING""}"`,
      '',
    ]);
  });

  async function find(filters: Record<string, string>): Promise<string[]> {
    const query = new URLSearchParams({ workspaceId: bundle.workspaceId, ...filters });
    const { status, body } = await bundle.call('GET', `audit?${query}`, { cookie });
    expect(status).toBe(200);
    return body.entries.map(({ action }: { action: string }) => action);
  }
});

type Facts = {
  keyId: string;
  accountId: string;
  disabledId: string;
  invitationId: string;
  sessionId: string;
  draftId: string;
  vapidKey: string;
  codes: Record<string, string>;
  factors: { accountId: string; confirmation: Omit<Change, 'path'>; code: Omit<Change, 'path'> };
};
type Change = { path: string; body?: unknown; headers?: Record<string, string> };

describe('audited changes', () => {
  let bundle: AccountsBundle;
  beforeAll(async () => {
    bundle = await makeAccountsBundle();
  });
  afterAll(() => bundle.end());

  const idOf = (letter: string) => letter.repeat(24);
  const at = start;

  const webPush = { provider: 'webpush', subject: 'mailto:ops@example.com' };
  const draftBody = {
    channel: 'PUSH',
    campaign_delivery_type: 'ONE_TIME',
    basic_details: { name: 'Draft', platforms: ['ANDROID'] },
    campaign_content: { content: { push: { android: { basic_details: { title: 'Hello', message: 'There' } } } } },
    segmentation_details: { is_all_user_campaign: true },
    scheduling_details: { delivery_type: 'ASAP' },
  };

  const ofCity = (city: string) => ({
    filter_operator: 'and',
    filters: [{ filter_type: 'user_attributes', name: 'city', data_type: 'string', operator: 'in', value: city }],
  });

  /** Posted, and nothing is changed by them but the own session, and what a phone tells of its messages. */
  const readings = [
    // What is begun counts only once it is confirmed.
    ...['POST /own/authenticator', 'POST /own/passkeys/options', 'POST /second-factor/passkey-options'],
    // These need a signature of an authenticator; second-factors.test.ts has their lines.
    ...['POST /own/passkeys', 'POST /second-factor/passkey'],
    'POST /sandbox/messages/:id/:kind',
    // Only agents propose; proposals.test.ts has their lines.
    'POST /campaigns/:id/proposals',
    'POST /composer/check',
    'POST /composer/audience',
    'POST /composer/local-times',
    'POST /campaigns/search',
    'POST /segments/filter/words',
    'POST /segments/filter/count',
    'POST /segments/filter/sample',
    'POST /segments/unmatched',
    'POST /views/:screen',
    'DELETE /views/:screen/:id',
    'POST /preview',
    'POST /invitation',
    'POST /session',
    'DELETE /session',
  ];

  test('have a line in the audit log for every change on the console', async () => {
    const { database, workspaceId, clock } = bundle;
    // A line with the sandbox's time passes, so that its change is made, and the comparison below fails.
    await database`
      create function refuse_line() returns trigger language plpgsql as '
        begin
          if new.at < ''2026-03-02'' then raise exception ''no line''; end if;
          return new;
        end'`;
    const refuseLines = () =>
      database`create trigger refuse_line before insert on audit_log for each row execute function refuse_line()`;
    const takeLines = () => database`drop trigger refuse_line on audit_log`;

    const { code } = (await bundle.createStartLink())!;
    const withoutOwner = await readEverything();
    await refuseLines();
    const owner = { code, email: 'first@example.com', name: 'First', password: goodPassword };
    expect((await bundle.call('POST', 'first-owner', { body: owner })).status).toBe(500);
    expect(await readEverything()).toEqual(withoutOwner);
    await takeLines();

    const cookie = await bundle.createOwner();
    const disabled = await bundle.join(cookie, { email: 'disabled@example.com', role: 'analyst' });
    const disabledId = (await bundle.call('GET', 'session', { cookie: disabled })).body.account.id as string;
    await bundle.call('POST', `accounts/${disabledId}/disable`, { cookie });
    const second = await bundle.join(cookie, { email: 'second@example.com', role: 'owner' });
    const accountId = (await bundle.call('GET', 'session', { cookie: second })).body.account.id as string;
    const codeOf = (answer: { body: { link: string } }) => answer.body.link.split('=').at(-1)!;
    const invited = await bundle.call('POST', 'invitations', {
      cookie,
      body: { email: 'invited@example.com', role: 'analyst' },
    });
    const codes = {
      invitation: codeOf(invited),
      password: codeOf(await bundle.call('POST', `accounts/${accountId}/password-link`, { cookie })),
    };
    const key = await bundle.call('POST', `keys?workspaceId=${workspaceId}`, {
      cookie,
      body: { kind: 'push', name: 'Old' },
    });
    clock.advance(1);
    await bundle.call('POST', 'session/password', { body: { email: 'olga@example.com', password: goodPassword } });
    const [newest] = (await bundle.call('GET', 'own/sessions', { cookie })).body.sessions;
    await addObjects();
    await bundle.database`
      insert into alert_settings (workspace_id, emails, updated_at)
      values (${workspaceId}, '{ops@example.com}', ${clock.now()})`;
    const stored = await bundle.call('POST', `credentials?workspaceId=${workspaceId}`, { cookie, body: webPush });
    expect(stored.status).toBe(200);
    const draft = await bundle.call('POST', `campaigns?workspaceId=${workspaceId}`, { cookie, body: draftBody });
    await addAgentWork(draft.body.id);
    const calls = goodCalls({
      keyId: key.body.key.id,
      accountId,
      disabledId,
      invitationId: invited.body.id,
      sessionId: newest.id,
      draftId: draft.body.id,
      vapidKey: stored.body.connected.summary.publicKey.slice(0, 8),
      codes,
      factors: await addFactors(second),
    });
    await refuseLines();
    const movedMilliseconds = 2 * 86_400_000;
    clock.setOffset(movedMilliseconds);

    const changing = bundle.routes
      .filter(({ method }) => method !== 'GET')
      .map(({ method, url }) => `${method} ${url.replace('/console/api', '')}`)
      .filter((route) => !readings.includes(route));
    expect(changing.filter((route) => !(route in calls))).toEqual(['POST /first-owner']);
    const before = await readEverything();
    for (const [route, { path, body, headers = {} }] of Object.entries(calls)) {
      const [method] = route.split(' ') as ['POST'];
      const asked = `${path}${path.includes('?') ? '&' : '?'}workspaceId=${workspaceId}`;
      const { status } = await bundle.call(method, asked, { cookie, headers, ...(body === undefined ? {} : { body }) });
      expect([route, status]).toEqual([route, 500]);
      expect(await readEverything(), route).toEqual(before);
    }
    // The clock's offset is kept beside the database.
    expect(clock.offsetMilliseconds()).toBe(movedMilliseconds);

    await takeLines();
    for (const route of ['PUT /settings', 'POST /campaigns/:id/pause', 'POST /callbacks/:id/resend']) {
      const { path, body } = calls[route]!;
      const [method] = route.split(' ') as ['POST'];
      const given = { cookie, ...(body === undefined ? {} : { body }) };
      expect((await bundle.call(method, `${path}?workspaceId=${workspaceId}`, given)).status).toBeLessThan(300);
      expect(await readEverything(), route).not.toEqual(before);
    }
  });

  /** Tokens for agents of the owner and of another account, and what one of them proposed for a draft. */
  async function addAgentWork(draftId: string): Promise<void> {
    const { database, workspaceId } = bundle;
    for (const [letter, email] of [
      ['a', 'olga@example.com'],
      ['b', 'second@example.com'],
    ] as const)
      await database`
        insert into agent_tokens (id, token_hash, account_id, name, created_at, expires_at)
        select ${idOf(letter)}, sha256(${letter}::text::bytea), id, 'Agent', ${at}, '2027-01-01' from accounts
        where email = ${email}`;
    await database`
      insert into agent_proposals (id, workspace_id, campaign_id, kind, state, token_id, agent_name, note, parts, customer_ids,
        proposed_at, expires_at)
      select given.id, ${workspaceId}, campaigns.id, given.kind, 'PENDING', 'none', 'Agent', '', parts, given.users, ${at}, '2027-01-01'
      from campaigns, (values (${idOf('a')}, 'PUBLISH', null), (${idOf('b')}, 'TEST', '{ana}'::text[])) as given (id, kind, users)
      where campaigns.id = ${draftId}`;
  }

  /** Factors of the owner; an app to confirm of the second account, and a first step of the owner that lacks its code. */
  async function addFactors(second: string) {
    const { database, accounts, clock } = bundle;
    const [olga] = await database`select id from accounts where email = 'olga@example.com'`;
    const begun = await bundle.call('POST', 'own/authenticator', { cookie: second });
    const secret = makeAuthenticatorSecret();
    const encrypted = accounts.encryption.encrypt(
      secret,
      encryptionContext.authenticator({ accountId: olga!.id as string }),
    );
    await database`
      insert into account_authenticators (account_id, secret_sealed, created_at, confirmed_at)
      values (${olga!.id}, ${encrypted}, ${at}, ${at})`;
    await database`
      insert into account_passkeys (id, account_id, credential_id, public_key, sign_count, name, created_at)
      values (${idOf('a')}, ${olga!.id}, 'x', 'x', 0, 'Laptop', ${at})`;
    const body = { email: 'olga@example.com', password: goodPassword };
    const halfway = await bundle.call('POST', 'session/password', { body });
    const codeOf = (key: string) => new TOTP({ secret: key }).generate({ timestamp: clock.realNow().getTime() });
    return {
      accountId: olga!.id as string,
      confirmation: { headers: { cookie: second }, body: { code: codeOf(begun.body.secret as string) } },
      code: { headers: { cookie: halfway.cookie }, body: { code: codeOf(secret) } },
    };
  }

  /** Something of each kind that the changes below find. */
  async function addObjects(): Promise<void> {
    const { database, workspaceId } = bundle;
    const campaign = (letter: string, { status, type }: { status: string; type: string }) => database`
      insert into campaigns (id, workspace_id, name, source, delivery_type, audience, platforms, content, timing, status,
        next_at, created_by, created_at, updated_at)
      values (${idOf(letter)}, ${workspaceId}, ${`Campaign ${letter}`}, 'PUSH_API', ${type}, 'ALL_USERS', '{ANDROID}',
        '{"ANDROID": {"title": "Hello", "message": "There"}}', '{"kind": "soon"}', ${status},
        ${type === 'PERIODIC' || status === 'SCHEDULED' ? '2098-03-02' : null}, 'bench', ${at}, ${at})`;
    await database`
      insert into identity_keys (workspace_id, id, algorithm, secret_sealed, created_at)
      values (${workspaceId}, ${idOf('e')}, 'HS256', 'x', ${at})`;
    await campaign('a', { status: 'ACTIVE', type: 'PERIODIC' });
    await campaign('b', { status: 'PAUSED', type: 'PERIODIC' });
    await campaign('2', { status: 'SENT', type: 'ONE_TIME' });
    await campaign('6', { status: 'ACTIVE', type: 'PERIODIC' });
    await campaign('9', { status: 'SCHEDULED', type: 'ONE_TIME' });
    await database`
      update campaigns set parts = ${database.json(draftBody)} where id = ${idOf('9')}`;
    await database`
      update campaigns set variants = '{"locales": [], "percents": [50, 50], "contents": [[{}], [{}]]}' where id = ${idOf('6')}`;
    await database`
      insert into pictures (id, workspace_id, name, media_type, width, height, bytes, digest, is_external, created_by, created_at,
        stored_at, used_at, looked_up_at)
      values (${idOf('2')}, ${workspaceId}, ${'2'.repeat(32)}, 'image/png', 1, 1, 1, sha256('x'), false, 'bench', ${at}, ${at},
        ${at}, ${at})`;
    await database`
      insert into campaign_templates (id, workspace_id, name, parts, created_by, created_at, updated_at)
      values (${idOf('7')}, ${workspaceId}, 'Monthly', ${database.json(draftBody)}, 'bench', ${at}, ${at})`;
    await database`
      insert into topics (id, workspace_id, key, name, description, is_in_by_default, position, created_at, updated_at)
      select id, ${workspaceId}, key, key, '', true, 0, ${at}, ${at}
      from (values (${idOf('1')}, 'news'), (${idOf('2')}, 'old')) as given (id, key)`;
    await database`
      insert into segments (id, workspace_id, name, kind, state, source, attribute_name, attribute_type, expiry_days, expires_at,
        archived_at, created_by, created_at, updated_at)
      select id, ${workspaceId}, id, 'FILE', state, 'API', 'u_em', 'string', 30, '2026-06-01', archived::timestamptz, 'bench',
        ${at}, ${at}
      from (values (${idOf('c')}, 'READY', null), (${idOf('d')}, 'ARCHIVED', '2026-02-28')) as given (id, state, archived)`;
    await database`
      insert into segments (id, workspace_id, name, kind, state, source, included_filters, description, filters_digest, created_by,
        created_at, updated_at)
      values (${idOf('8')}, ${workspaceId}, 'Of filters', 'FILTER', 'READY', 'CONSOLE', ${database.json(ofCity('Porto'))}, 'In Porto.',
        sha256('Porto'), 'bench', ${at}, ${at})`;
    await database`
      insert into segment_operations (id, workspace_id, segment_id, number, kind, request_id, state, not_before, status,
        counted_users, requested_by, created_at, ended_at)
      values (${idOf('e')}, ${workspaceId}, ${idOf('c')}, 1, 'CREATE', ${'e'.repeat(32)}, 'SUCCEEDED', ${at}, 201, 1, 'bench',
        ${at}, ${at})`;
    await database`
      insert into callbacks (id, workspace_id, operation_id, url, body, state, attempts, created_at, ended_at)
      values (${idOf('f')}, ${workspaceId}, ${idOf('e')}, 'https://example.com/', '{}', 'DELIVERED', 1, ${at}, ${at})`;
    await database`
      insert into event_streams (id, workspace_id, url, events, user_attributes, device_attributes, secret_sealed,
        created_at, updated_at)
      values (${idOf('7')}, ${workspaceId}, 'https://shop.example.com/events', '{delivered}', '{}', '{}', '', ${at}, ${at})`;
    await database`
      insert into mails (id, workspace_id, recipients, subject, body, state, attempts, created_at, ended_at)
      values (${idOf('5')}, ${workspaceId}, '{ops@example.com}', 'Filled', 'It is.', 'FAILED', 4, ${at}, ${at})`;
    await database`
      insert into users (workspace_id, bucket, id, customer_id, created_at, updated_at)
      values (${workspaceId}, ${bucketOf('ana')}, ${idOf('1')}, 'ana', ${at}, ${at}),
        (${workspaceId}, ${bucketOf('eve')}, ${idOf('9')}, 'eve', ${at}, ${at})`;
    await database`
      insert into erasures (id, workspace_id, customer_digest, state, bucket, user_ids, requested_at, due_at)
      values (${idOf('9')}, ${workspaceId}, sha256('eve'), 'PENDING', ${bucketOf('eve')},
        ${database.json([[bucketOf('eve'), idOf('9')]])}, ${at}, '2026-03-09')`;
    await database`update users set is_test = true where customer_id = 'ana'`;
    await database`
      insert into devices (workspace_id, bucket, id, user_id, device_id, platform, push_id, state, registered_at, created_at,
        updated_at, blocked_state, blocked_at)
      select ${workspaceId}, ${bucketOf('ana')}, id, ${idOf('1')}, id, 'ANDROID', id, state, ${at}, ${at}, ${at},
        case when state = 'BLOCKED' then 'ACTIVE' end, case when state = 'BLOCKED' then ${at}::timestamptz end
      from (values (${idOf('3')}, 'ACTIVE'), (${idOf('4')}, 'BLOCKED'), (${idOf('6')}, 'ACTIVE')) as given (id, state)`;
    await database`
      update devices set suspected_code = 'BadDeviceToken', suspected_sends = 1, suspected_since = ${at}, suspected_at = ${at}
      where id = ${idOf('6')}`;
  }

  /** One good call for each route that changes something, by the route. */
  function goodCalls({
    keyId,
    accountId,
    disabledId,
    invitationId,
    sessionId,
    draftId,
    vapidKey,
    codes,
    factors,
  }: Facts): Record<string, Change> {
    const settings = {
      timeZone: 'UTC',
      frequencyCaps: 'none',
      quietHours: 'none',
      quietMode: 'HOLD',
      pushBodies: 'lenient',
      androidMode: 'data',
      pushFrom: 'carillon',
      dataPrefix: 'none',
    };
    const password = 'nine more green bottles';
    return {
      'POST /session/password': {
        path: 'session/password',
        body: { email: 'second@example.com', password: goodPassword },
      },
      'POST /invitation/acceptance': {
        path: 'invitation/acceptance',
        body: { code: codes.invitation, name: 'New', password },
      },
      'POST /new-password': { path: 'new-password', body: { code: codes.password, password } },
      'DELETE /own/sessions/:id': { path: `own/sessions/${sessionId}` },
      'PUT /own/password': { path: 'own/password', body: { current: goodPassword, password } },
      'DELETE /own/authenticator': { path: 'own/authenticator' },
      'POST /own/authenticator/confirmation': { path: 'own/authenticator/confirmation', ...factors.confirmation },
      'POST /own/recovery-codes': { path: 'own/recovery-codes' },
      'PATCH /own/passkeys/:id': { path: `own/passkeys/${idOf('a')}`, body: { name: 'Renamed' } },
      'DELETE /own/passkeys/:id': { path: `own/passkeys/${idOf('a')}` },
      'POST /second-factor/code': { path: 'second-factor/code', ...factors.code },
      'DELETE /accounts/:id/second-factors': { path: `accounts/${factors.accountId}/second-factors` },
      'POST /invitations': { path: 'invitations', body: { email: 'third@example.com', role: 'analyst' } },
      'DELETE /invitations/:id': { path: `invitations/${invitationId}` },
      'PUT /accounts/:id/role': { path: `accounts/${accountId}/role`, body: { role: 'analyst' } },
      'POST /accounts/:id/disable': { path: `accounts/${accountId}/disable` },
      'POST /accounts/:id/enable': { path: `accounts/${disabledId}/enable` },
      'POST /accounts/:id/password-link': { path: `accounts/${accountId}/password-link` },
      'POST /campaigns/:id/pause': { path: `campaigns/${idOf('a')}/pause` },
      'POST /campaigns/:id/resume': { path: `campaigns/${idOf('b')}/resume` },
      'POST /campaigns/:id/stop': { path: `campaigns/${idOf('a')}/stop` },
      'POST /campaigns/:id/clone': { path: `campaigns/${idOf('2')}/clone` },
      'PUT /campaigns/:id/winner': { path: `campaigns/${idOf('6')}/winner`, body: { variation: 2 } },
      'POST /campaigns/:id/template': { path: `campaigns/${idOf('2')}/template`, body: { name: 'Kept' } },
      'PATCH /templates/:id': { path: `templates/${idOf('7')}`, body: { name: 'Renamed' } },
      'DELETE /templates/:id': { path: `templates/${idOf('7')}` },
      'POST /topics': {
        path: 'topics',
        body: { key: 'offers', name: 'Offers', description: '', isInByDefault: false, position: 0 },
      },
      'PATCH /topics/:key': { path: 'topics/news', body: { name: 'All news' } },
      'DELETE /topics/:key': { path: 'topics/old' },
      'POST /templates/:id/use': { path: `templates/${idOf('7')}/use` },
      'POST /campaigns': { path: 'campaigns', body: draftBody },
      'POST /own/agent-tokens': { path: 'own/agent-tokens', body: { name: 'Desk', days: 1, mayPropose: true } },
      'DELETE /own/agent-tokens/:id': { path: `own/agent-tokens/${idOf('a')}` },
      'DELETE /agent-tokens/:id': { path: `agent-tokens/${idOf('b')}` },
      'POST /proposals/:id/approve': { path: `proposals/${idOf('a')}/approve` },
      'POST /proposals/:id/refuse': { path: `proposals/${idOf('b')}/refuse`, body: { reason: '' } },
      'PATCH /campaigns/:id': { path: `campaigns/${draftId}`, body: { basic_details: { name: 'Changed draft' } } },
      'POST /campaigns/:id/publish': { path: `campaigns/${draftId}/publish` },
      'POST /campaigns/:id/recall': { path: `campaigns/${idOf('9')}/recall` },
      'POST /composer/test': {
        path: 'composer/test',
        body: {
          draft_id: draftId,
          test_campaign_meta: { identifier: 'USER_ATTRIBUTE_UNIQUE_ID', identifier_values: ['ana'] },
        },
      },
      'POST /credentials': { path: 'credentials', body: { ...webPush, inPlaceOf: vapidKey } },
      'POST /credentials/:provider/check': { path: 'credentials/webpush/check' },
      'POST /credentials/:provider/simulator': { path: 'credentials/webpush/simulator' },
      'DELETE /credentials/:provider': { path: 'credentials/webpush' },
      'POST /keys': { path: 'keys', body: { kind: 'data', name: 'New' } },
      'POST /keys/:id/rotate': { path: `keys/${keyId}/rotate`, body: { overlapHours: 1 } },
      'POST /keys/:id/revoke': { path: `keys/${keyId}/revoke` },
      'POST /people': { path: 'people', body: { customerId: 'bea', attributes: { city: 'Lisbon' } } },
      'PATCH /people/:id/attributes': {
        path: `people/${idOf('1')}/attributes`,
        body: { attributes: { city: 'Oslo' } },
      },
      'PATCH /people/:id/topics': { path: `people/${idOf('1')}/topics`, body: { topics: { news: false } } },
      'PUT /people/:id/test': { path: `people/${idOf('1')}/test`, body: { isTest: true } },
      'POST /people/:id/devices': {
        path: `people/${idOf('1')}/devices`,
        body: { deviceId: 'new', attributes: { platform: 'ANDROID', push_id: 'new-token' } },
      },
      'POST /people/:id/devices/:deviceRowId/block': { path: `people/${idOf('1')}/devices/${idOf('3')}/block` },
      'POST /people/:id/devices/:deviceRowId/unblock': { path: `people/${idOf('1')}/devices/${idOf('4')}/unblock` },
      'POST /people/:id/devices/:deviceRowId/opt-out': { path: `people/${idOf('1')}/devices/${idOf('3')}/opt-out` },
      'POST /people/:id/devices/:deviceRowId/opt-in': { path: `people/${idOf('1')}/devices/${idOf('3')}/opt-in` },
      'POST /people/:id/devices/:deviceRowId/keep': { path: `people/${idOf('1')}/devices/${idOf('6')}/keep` },
      'POST /people/:id/devices/:deviceRowId/remove': { path: `people/${idOf('1')}/devices/${idOf('3')}/remove` },
      'POST /people/:id/erase': { path: `people/${idOf('1')}/erase` },
      'DELETE /people/:id/erasure': { path: `people/${idOf('9')}/erasure` },
      'PUT /settings': {
        path: 'settings',
        body: { ...settings, name: 'Changed', minimumDelay: 'none', zoneAttribute: 'time_zone', controlGroup: 'none' },
      },
      'PUT /alerts/settings': { path: 'alerts/settings', body: { webhookUrl: '', emails: [], mutedKinds: ['job'] } },
      'POST /alerts/test': { path: 'alerts/test' },
      'POST /sandbox/clock': { path: 'sandbox/clock', body: { advanceSeconds: 60 } },
      'PUT /sandbox/faults': { path: 'sandbox/faults', body: { fcm: { status: 503 } } },
      'POST /sandbox/devices': {
        path: 'sandbox/devices',
        body: { customerId: 'bea', platform: 'ANDROID', behaviour: 'gone' },
      },
      'PUT /sandbox/devices/:id': { path: `sandbox/devices/${idOf('3')}`, body: { behaviour: 'busy' } },
      'POST /sandbox/reset': { path: 'sandbox/reset' },
      'POST /sandbox/empty': { path: 'sandbox/empty' },
      'POST /callbacks/:id/resend': { path: `callbacks/${idOf('f')}/resend` },
      'POST /mails/:id/resend': { path: `mails/${idOf('5')}/resend` },
      'POST /event-streams/:id/resend': { path: `event-streams/${idOf('7')}/resend`, body: {} },
      'GET /webhook-secret': { path: 'webhook-secret' },
      'PUT /app-access': {
        path: 'app-access',
        body: { webOrigins: ['https://shop.example'], attributes: ['size'] },
      },
      'POST /app-access/identity-keys': { path: 'app-access/identity-keys', body: { algorithm: 'HS256' } },
      'DELETE /app-access/identity-keys/:id': { path: `app-access/identity-keys/${idOf('e')}` },
      'POST /segments/fetch': {
        path: 'segments/fetch',
        body: {
          kind: 'create',
          name: 'Fetched',
          attributeName: 'u_em',
          attributeType: 'string',
          expiryDays: 30,
          fileUrl: 'https://example.com/file.csv',
        },
      },
      'POST /segments/filter': {
        path: 'segments/filter',
        body: { name: 'Of a city', included_filters: ofCity('Lisbon') },
      },
      'PUT /segments/:id/filter': {
        path: `segments/${idOf('8')}/filter`,
        body: { name: 'Of another city', included_filters: ofCity('Faro') },
      },
      'POST /segments/:id/archive': { path: `segments/${idOf('c')}/archive` },
      'POST /segments/:id/unarchive': { path: `segments/${idOf('d')}/unarchive` },
      'POST /pictures': { path: 'pictures', body: 'a picture', headers: { 'content-type': 'image/png' } },
      'DELETE /pictures/:id': { path: `pictures/${idOf('2')}` },
      'POST /segments/upload': {
        path: 'segments/upload?kind=create&name=Posted&attributeName=u_em&attributeType=string&expiryDays=30',
        body: 'ana@example.com\n',
        headers: { 'content-type': 'text/csv' },
      },
    };
  }

  /** A digest of each table. Attempts at a sign-in count whatever becomes of them, and looks of a session are no change. */
  async function readEverything(): Promise<Record<string, string>> {
    const tables = await bundle.database<{ name: string }[]>`
      select relname as name from pg_class join pg_namespace on pg_namespace.oid = relnamespace
      where nspname = 'public' and relkind = 'r' and relname not in ('limit_windows', 'console_sessions')
      order by 1`;
    const digests: Record<string, string> = {};
    for (const { name } of tables) {
      const [row] = await bundle.database<{ digest: string }[]>`
        select count(*) || ' ' || coalesce(md5(string_agg(given::text, '|' order by given::text)), '') as digest
        from ${bundle.database(name)} as given`;
      digests[name] = row!.digest;
    }
    return digests;
  }
});

describe('names of actions', () => {
  /** Made of a kind and the word of a request: `campaign.${action}`. */
  const madeOf: [kind: string, words: string[]][] = [
    ['campaign', ['pause', 'resume', 'stop']],
    ['credential', ['connect', 'replace']],
    ['journey', ['pause', 'resume', 'stop']],
    ['person', ['attributes', 'test', 'device-add', 'device-block', 'device-unblock']],
    ['person', ['device-opt-out', 'device-opt-in', 'device-keep', 'device-remove']],
    ['segment', ['archive', 'unarchive', 'fetch', 'upload']],
  ];

  test('exist for every action of the server, and for no other', () => {
    const source = join(import.meta.dirname, '..', '..', 'src');
    const written = readdirSync(source, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => readFileSync(join(source, name), 'utf8'))
      .flatMap((text) => [...text.matchAll(/\baction(?::| =) '([a-z-]+\.[a-z-]+)'/g)].map(([, action]) => action!));
    expect(new Set(written).size).toBeGreaterThan(40);
    const made = madeOf.flatMap(([kind, words]) => words.map((word) => `${kind}.${word}`));
    expect([...new Set([...written, ...made])].sort()).toEqual(Object.keys(actionNames).sort());
    expect([...new Set(Object.keys(actionNames).map((action) => action.split('.')[0]!))].sort()).toEqual(
      [...kindNames.keys()].sort(),
    );
  });
});
