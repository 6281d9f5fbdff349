import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createAgentToken, findAgent, revokeAgentToken } from '../../src/app/accounts/agent-tokens.ts';
import type { SignedIn } from '../../src/app/accounts/audit.ts';
import { requireCampaignChange } from '../../src/app/campaigns/change-campaign-state.ts';
import { cloneCampaign, publishDraftCampaign, recallCampaign } from '../../src/app/campaigns/create-campaign.ts';
import { editCampaign } from '../../src/app/campaigns/edit-campaign.ts';
import { documentedAuthoringLimits } from '../../src/app/campaigns/authoring.ts';
import { approveProposal, refuseProposal } from '../../src/app/campaigns/proposals.ts';
import { testCampaign } from '../../src/app/campaigns/test-campaign.ts';
import { maxPendingProposals, proposalDays } from '../../src/domain/limits/campaigns.ts';
import { freshSessionMinutes } from '../../src/domain/limits/access.ts';
import { deleteOldProposals, withdrawExpiredProposals } from '../../src/storage/campaigns/proposals.ts';
import { consoleTools, isChanging } from '../../src/http/mcp/tools.ts';
import { bucketOf } from '../../src/domain/users/users.ts';
import { goodPassword, makeAccountsBundle, start } from '../console/accounts-bundle.ts';
import type { AccountsBundle } from '../console/accounts-bundle.ts';
import { insertTestWorkspace } from '../test-workspace.ts';

const actor = { kind: 'command-line', name: 'the command line' } as const;
const none = '0'.repeat(24);

let bundle: AccountsBundle;
let owner: string;
let other: string;
let token: string;
let tokenId: string;
let agent: SignedIn;
beforeAll(async () => {
  bundle = await makeAccountsBundle();
  owner = await bundle.createOwner();
  other = await insertTestWorkspace(bundle.database, start);
  ({ token, id: tokenId } = await makeToken());
  agent = (await findAgent(bundle.accounts, token))!;
  for (const [letter, name] of [
    ['a', 'ada'],
    ['b', 'bob'],
  ] as const)
    await bundle.database`
      insert into users (id, workspace_id, bucket, customer_id, attributes, created_at, updated_at)
      values (${letter.repeat(24)}, ${bundle.workspaceId}, ${bucketOf(name)}, ${name}, '{}', ${start}, ${start})`;
});
afterAll(() => bundle?.end());
// Limits of creations and calls are not what is tested here; a session lasts 12 hours.
beforeEach(async () => {
  bundle.clock.advance(3_600_000);
  owner = await signIn();
});

async function signIn(): Promise<string> {
  const body = { email: 'olga@example.com', password: goodPassword };
  return (await bundle.call('POST', 'session/password', { body })).cookie;
}

const makeToken = (more: { email?: string; mayPropose?: boolean } = {}) =>
  createAgentToken(bundle.accounts, {
    ...{ actor, email: 'olga@example.com', name: 'Claude', days: 365, mayPropose: true },
    ...more,
  });

async function callTool(name: string, args: object = {}, as = token): Promise<any> {
  const { json } = await bundle.inject({
    ...{ method: 'POST', url: '/mcp', headers: { authorization: `Bearer ${as}` } },
    payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
  });
  const { result, error } = json();
  if (error) throw new Error(JSON.stringify(error));
  return result.isError
    ? { error: result.structuredContent?.error ?? result.content[0].text }
    : result.structuredContent.data;
}

const draftBody = (more: object = {}) => ({
  ...{ channel: 'PUSH', campaign_delivery_type: 'ONE_TIME' },
  basic_details: { name: 'Spring sale', platforms: ['ANDROID'] },
  campaign_content: { content: { push: { android: { basic_details: { title: 'Spring', message: 'Sale' } } } } },
  segmentation_details: { is_all_user_campaign: true },
  scheduling_details: { delivery_type: 'ASAP' },
  ...more,
});
const inWorkspace = (more: object = {}) => ({ workspace_id: bundle.workspaceId, ...more });

async function makeDraft(more: object = {}): Promise<string> {
  const { id } = await callTool('create_draft', inWorkspace({ campaign: draftBody(more) }));
  expect(id).toMatch(/^[0-9a-f]{24}$/);
  return id;
}
const proposed = async (id: string): Promise<string> => {
  const made = await callTool('propose_publish', inWorkspace({ campaign_id: id, note: 'Because' }));
  expect(made).toMatchObject({ id: expect.any(String), next: expect.stringContaining('A person must approve') });
  return made.id;
};
const rename = (id: string, name: string) =>
  callTool('change_draft', inWorkspace({ campaign_id: id, changes: { basic_details: { name } } }));

const decide = (id: string, { how = 'approve', cookie = owner, workspaceId = bundle.workspaceId } = {}) =>
  bundle.call('POST', `proposals/${id}/${how}?workspaceId=${workspaceId}`, {
    cookie,
    ...(how === 'refuse' && { body: { reason: 'Not now' } }),
  });
const read = async (id: string) =>
  (await bundle.call('GET', `proposals/${id}?workspaceId=${bundle.workspaceId}`, { cookie: owner })).body;

async function statusOf(id: string): Promise<string> {
  const [row] = await bundle.database`select status from campaigns where id = ${id}`;
  return row!.status as string;
}
async function expectUnsent(id: string): Promise<void> {
  const rows = await bundle.database`select from runs where campaign_id = ${id}`;
  expect([await statusOf(id), rows.length]).toEqual(['DRAFT', 0]);
}

describe('an agent', () => {
  test('changes nothing with a token that only reads, whatever role its account has', async () => {
    const id = await makeDraft();
    const reading = await makeToken({ mayPropose: false });
    const args = { campaign: draftBody(), campaign_id: id, changes: {}, note: 'x', customer_ids: ['ada'] };
    const before = await bundle.database`select count(*) from campaigns`;
    for (const tool of consoleTools.filter(isChanging)) {
      const own = Object.keys(tool.input.properties);
      const asked = Object.fromEntries(Object.entries(args).filter(([name]) => own.includes(name)));
      const refused = await callTool(tool.name, inWorkspace(asked), reading.token);
      expect(refused.error.code, tool.name).toBe('ACCOUNT_NOT_PERMITTED');
    }
    expect(await bundle.database`select count(*) from campaigns`).toEqual(before);
    expect(await bundle.database`select from agent_proposals where campaign_id = ${id}`).toEqual([]);
  });

  test('changes and proposes only where its account may, and reads the decision', async () => {
    await bundle.join(owner, { email: 'ana@example.com', workspaceRoles: { [bundle.workspaceId]: 'analyst' } });
    const analyst = await makeToken({ email: 'ana@example.com' });
    const refused = await callTool('create_draft', inWorkspace({ campaign: draftBody() }), analyst.token);
    expect(refused.error.code).toBe('ACCOUNT_NOT_PERMITTED');
    const id = await makeDraft();
    const proposal = await proposed(id);
    expect((await decide(proposal, { how: 'refuse' })).status).toBe(204);
    const { proposals } = await callTool('list_proposals', inWorkspace());
    const shown = proposals.find((one: any) => one.id === proposal);
    expect(shown).toMatchObject({ state: 'REFUSED', reason: 'Not now', decidedBy: 'Olga' });
    await expectUnsent(id);
  });

  test('is told what is wrong with a draft before a person is asked', async () => {
    const id = await makeDraft({
      scheduling_details: { delivery_type: 'AT_FIXED_TIME', start_time: '2020-01-01T00:00:00' },
    });
    const refused = await callTool('propose_publish', inWorkspace({ campaign_id: id, note: 'x' }));
    expect(JSON.stringify(refused.error)).toContain('scheduling_details');
    const checked = await callTool('check_campaign', inWorkspace({ campaign: draftBody() }));
    expect(checked).toMatchObject({ faults: [], schedule: { kind: 'soon' } });
    expect(await callTool('count_audience', inWorkspace({ campaign: draftBody() }))).toMatchObject({
      state: 'COUNTED',
    });
    expect((await callTool('create_draft', inWorkspace({ campaign: [] }))).error).toBe('campaign must be an object.');
  });
});

describe('a proposal', () => {
  test('is published by a person who has seen the difference, and by nothing before', async () => {
    const made = await bundle.call('POST', `campaigns?workspaceId=${bundle.workspaceId}`, {
      cookie: owner,
      body: draftBody(),
    });
    const { id } = made.body as { id: string };
    await rename(id, 'Summer\u202E sale');
    const proposal = await proposed(id);
    const detail = await read(proposal);
    expect(detail.changes).toEqual([
      { path: 'basic_details.name', before: 'Spring sale', after: 'Summer\\u{202E} sale' },
    ]);
    expect(detail).toMatchObject({
      campaign: { basic_details: { name: 'Summer\u202E sale' } },
      proposal: { state: 'PENDING', fault: null, agentName: 'Claude (agent of Olga)', note: 'Because' },
      changesSince: [],
    });
    await expectUnsent(id);
    expect(await decide(proposal)).toMatchObject({ status: 200, body: { campaignId: id, kind: 'PUBLISH' } });
    expect(await statusOf(id)).toBe('SENDING');
    const lines = await bundle.database`
      select action, actor_name as by from audit_log where object_id = ${id} order by id`;
    expect(lines.map(({ action, by }) => `${action} ${by}`).sort()).toEqual([
      'campaign.change Claude (agent of Olga)',
      'campaign.create Olga',
      'campaign.publish Olga',
      'proposal.approve Olga',
      'proposal.create Claude (agent of Olga)',
    ]);
  });

  test('shows everything of a draft that an agent created, and nothing of one that a person left as it is', async () => {
    const id = await makeDraft();
    const { changes } = await read(await proposed(id));
    expect(changes).toContainEqual({ path: 'basic_details.name', before: null, after: 'Spring sale' });
    const own = await bundle.call('POST', `campaigns?workspaceId=${bundle.workspaceId}`, {
      cookie: owner,
      body: draftBody(),
    });
    expect((await read(await proposed((own.body as { id: string }).id))).changes).toEqual([]);
  });

  test('ends with a change of the draft, by the agent or a person, and holds again for the same draft', async () => {
    const id = await makeDraft();
    const proposal = await proposed(id);
    await rename(id, 'Winter sale');
    const closed = await decide(proposal);
    expect([closed.status, closed.body.code]).toEqual([409, 'PROPOSAL_CLOSED']);
    expect(await read(proposal)).toMatchObject({
      proposal: { fault: 'the draft was changed after it was proposed' },
      changesSince: [{ path: 'basic_details.name', before: 'Spring sale', after: 'Winter sale' }],
    });
    const patch = { cookie: owner, body: { basic_details: { tags: ['x'] } } };
    expect((await bundle.call('PATCH', `campaigns/${id}?workspaceId=${bundle.workspaceId}`, patch)).status).toBe(200);
    expect((await decide(proposal)).status).toBe(409);
    await expectUnsent(id);
    const second = await proposed(id);
    expect((await read(proposal)).proposal.state).toBe('WITHDRAWN');
    expect((await decide(second)).status).toBe(200);
    expect((await bundle.database`select name from campaigns where id = ${id}`)[0]!.name).toBe('Winter sale');
  });

  test('is decided once: not after it was refused, approved, withdrawn, or has expired', async () => {
    const id = await makeDraft();
    const refused = await proposed(id);
    expect((await decide(refused, { how: 'refuse' })).status).toBe(204);
    expect((await decide(refused)).status).toBe(409);
    const replaced = await proposed(id);
    const expired = await proposed(id);
    expect((await decide(replaced)).status).toBe(409);
    bundle.clock.advance(proposalDays * 86_400_000);
    const late = await decide(expired, { cookie: await signIn() });
    expect([late.status, late.body.code]).toEqual([409, 'PROPOSAL_CLOSED']);
    await expectUnsent(id);
    expect(await withdrawExpiredProposals(bundle.database, bundle.clock.realNow())).toBeGreaterThan(0);
    const ended = await bundle.call('GET', `proposals/${expired}?workspaceId=${bundle.workspaceId}`, {
      cookie: await signIn(),
    });
    expect(ended.body.proposal).toMatchObject({ state: 'WITHDRAWN', reason: 'it has expired', decidedBy: null });
    const approved = await proposed(id);
    const cookie = await signIn();
    expect((await decide(approved, { cookie })).status).toBe(200);
    for (const how of ['approve', 'refuse']) expect((await decide(approved, { how, cookie })).status).toBe(409);
    expect(await bundle.database`select from runs where campaign_id = ${id}`).toHaveLength(1);
  });

  test('is withdrawn with its token, with its account, and by a person who publishes the draft', async () => {
    await bundle.join(owner, { email: 'max@example.com', workspaceRoles: { [bundle.workspaceId]: 'marketer' } });
    const first = await makeToken({ email: 'max@example.com' });
    const second = await makeToken({ email: 'max@example.com' });
    const [one, two] = [await makeDraft(), await makeDraft()];
    const ask = (id: string, as: string) =>
      callTool('propose_publish', inWorkspace({ campaign_id: id, note: 'x' }), as);
    const { id: ofFirst } = await ask(one, first.token);
    const { id: ofSecond } = await ask(two, second.token);
    await revokeAgentToken(bundle.accounts, { actor, id: first.id });
    expect((await read(ofFirst)).proposal).toMatchObject({ state: 'WITHDRAWN', reason: 'the token was revoked' });
    expect((await read(ofSecond)).proposal.state).toBe('PENDING');
    const [{ id: account } = {}] = await bundle.database`select id from accounts where email = 'max@example.com'`;
    expect((await bundle.call('POST', `accounts/${account}/disable`, { cookie: owner })).status).toBe(200);
    for (const id of [ofFirst, ofSecond]) expect((await decide(id)).status).toBe(409);
    const third = await proposed(one);
    expect(await publish(one, (await changeOf(one)).id)).toMatchObject({ status: 200 });
    expect((await read(third)).proposal).toMatchObject({ state: 'WITHDRAWN', reason: 'the campaign was published' });
    const recalled = await bundle.call('POST', `campaigns/${two}/recall?workspaceId=${bundle.workspaceId}`, {
      cookie: owner,
    });
    expect(recalled.status).toBe(409);
  });

  test('to test reaches only the named users, once a person approves it', async () => {
    const id = await makeDraft();
    const ask = (customer_ids: unknown) =>
      callTool('propose_test', inWorkspace({ campaign_id: id, note: 'Look', customer_ids }));
    for (const wrong of [[], Array.from({ length: 11 }, () => 'ada'), [5], [''], 'ada'])
      expect(await ask(wrong)).toHaveProperty('error');
    const { id: proposal } = await ask(['ada']);
    expect((await read(proposal)).proposal.customerIds).toEqual(['ada']);
    const tests = () => bundle.database`select id, created_by as by from campaigns where is_test`;
    expect(await tests()).toEqual([]);
    expect((await decide(proposal)).status).toBe(200);
    const [sent] = await tests();
    expect(sent!.by).toBe('Olga');
    const chunks = await bundle.database`
      select target_users as users from runs where campaign_id = ${sent!.id}`.catch(() => []);
    expect(JSON.stringify(chunks)).not.toContain('b'.repeat(24));
    await expectUnsent(id);
    expect((await read(proposal)).proposal.customerIds).toBeNull();
    const { id: stale } = await ask(['bob']);
    await rename(id, 'Another');
    expect((await decide(stale)).status).toBe(409);
    expect(await tests()).toHaveLength(1);
  });

  test('waits with at most 49 others, and is deleted after 90 days', async () => {
    const id = await makeDraft();
    const { database, workspaceId } = bundle;
    await database`delete from agent_proposals`;
    await database`
      insert into campaigns (id, workspace_id, name, delivery_type, status, source, audience, platforms, content, timing, created_by,
        created_at, updated_at)
      select lpad(number::text, 24, '0'), ${workspaceId}, 'Of many', 'ONE_TIME', 'DRAFT', 'CAMPAIGN_API', 'ALL_USERS',
        '{ANDROID}', '{}', '{}', 'x', ${start}, ${start}
      from generate_series(1, ${maxPendingProposals}) as number`;
    await database`
      insert into agent_proposals (id, workspace_id, campaign_id, kind, state, token_id, agent_name, note, parts,
        proposed_at, expires_at)
      select id, workspace_id, id, 'PUBLISH', 'PENDING', 'none', 'x', '', '{}', ${start}, ${start}
      from campaigns where name = 'Of many'`;
    const ask = () => callTool('propose_publish', inWorkspace({ campaign_id: id, note: 'x' }));
    expect((await ask()).error.code).toBe('PROPOSALS_LIMITED');
    const before = new Date(start.getTime() + 1);
    expect(await deleteOldProposals(database, { before, limit: 1 })).toBe(1);
    expect(await ask()).toHaveProperty('id');
    expect(await deleteOldProposals(database, { before, limit: 1_000 })).toBe(maxPendingProposals - 1);
  });
});

const publish = (id: string, seenChange?: string) =>
  bundle.call(
    'POST',
    `campaigns/${id}/publish?workspaceId=${bundle.workspaceId}${seenChange === undefined ? '' : `&seenChange=${seenChange}`}`,
    { cookie: owner },
  );
const changeOf = async (id: string) =>
  (await bundle.call('GET', `campaigns/${id}/agent-change?workspaceId=${bundle.workspaceId}`, { cookie: owner })).body
    .change;

describe('nothing but a person’s approval of the same draft publishes what an agent wrote:', () => {
  const program = { kind: 'program', name: 'a server' } as const;
  const caller = (by: SignedIn | typeof program = agent) => ({
    ...{ actor: by, workspaceId: bundle.workspaceId, idempotencyKey: undefined, rawBody: '' },
  });

  test('not a tool, with anything in its arguments', async () => {
    const id = await makeDraft();
    const names = consoleTools.map(({ name }) => name);
    expect(names.filter((name) => /send|stop|pause|resume|approve|recall|clone|template|edit/.test(name))).toEqual([]);
    for (const [name, args] of [
      ['change_draft', { changes: { status: 'ACTIVE', state: 'SENDING', action: 'PUBLISH', next_at: '2026-03-01' } }],
      ['change_draft', { changes: { basic_details: { status: 'SENDING' } } }],
      ['create_draft', { campaign: draftBody({ id, status: 'SENDING', publish: true }) }],
      ['propose_publish', { note: 'x', approved: 'true' }],
      ['propose_publish', { campaign_id: `${id}/../approve`, note: 'x' }],
      ['read_campaign', { campaign_id: `${id}/publish` }],
    ] as const) {
      const own = Object.keys(consoleTools.find((tool) => tool.name === name)!.input.properties);
      const named = own.includes('campaign_id') && !('campaign_id' in args) ? { campaign_id: id } : {};
      await callTool(name, inWorkspace({ ...named, ...args }));
    }
    await expectUnsent(id);
    expect(await bundle.database`select from campaigns where status <> 'DRAFT' and name like '%status%'`).toEqual([]);
  });

  test('not a route with the token, or a use case with the agent as its caller', async () => {
    const id = await makeDraft();
    const proposal = await proposed(id);
    const cookie = `${owner.split('=', 1)[0]!}=${token}`;
    for (const path of [`campaigns/${id}/publish`, `proposals/${proposal}/approve`, `campaigns/${id}/recall`])
      for (const sent of [{ cookie }, { headers: { authorization: `Bearer ${token}` } }])
        expect((await bundle.call('POST', `${path}?workspaceId=${bundle.workspaceId}`, sent)).status).toBe(401);
    const all = deps();
    const key = { workspaceId: bundle.workspaceId, id };
    const refused = { code: 'ACCOUNT_NOT_PERMITTED' };
    const test = { source: { draftId: id }, identifier: 'uid', values: ['ada'], platform: undefined };
    const shown = { variation: undefined, locale: undefined };
    const named = { ...key, id: proposal, actor: agent };
    for (const attempt of [
      () => publishDraftCampaign(all, { ...caller(), id, seenChange: undefined }),
      () => recallCampaign(all, { ...caller(), id }),
      () => editCampaign(all, { ...caller(), id, change: {}, updatedBy: 'x' }),
      () => cloneCampaign(all, { ...key, actor: agent, name: 'x', parts: {} }),
      () => testCampaign(all, { ...caller(), ...test, requestId: undefined, shown }),
      ...(['stop', 'pause', 'resume'] as const).map(
        (action) => () => requireCampaignChange(all, { ...caller(), campaignId: id, action }),
      ),
      () => approveProposal(all, { ...named, delaySeconds: 0 }),
      () => refuseProposal(all, { ...named, reason: '' }),
    ])
      await expect((async () => attempt())()).rejects.toMatchObject(refused);
    await expectUnsent(id);
  });

  test('not a change of a campaign that is live: sent later, recurring, started by an event, or recalled in the middle', async () => {
    const later = { delivery_type: 'AT_FIXED_TIME', start_time: '2030-01-01T00:00:00' };
    const id = await makeDraft({ scheduling_details: later });
    expect((await decide(await proposed(id))).status).toBe(200);
    const [stored] = await bundle.database`select name, content, parts from campaigns where id = ${id}`;
    for (const [delivery, status] of [
      ['ONE_TIME', 'SCHEDULED'],
      ['PERIODIC', 'ACTIVE'],
      ['EVENT_TRIGGERED', 'ACTIVE'],
    ]) {
      await bundle.database`update campaigns set delivery_type = ${delivery!}, status = ${status!} where id = ${id}`;
      expect(await rename(id, 'Of the agent')).toHaveProperty('error');
      const asked = await callTool('propose_publish', inWorkspace({ campaign_id: id, note: 'x' }));
      expect(asked.error.code).toBe('CAMPAIGN_NOT_DRAFT');
    }
    expect(await bundle.database`select name, content, parts from campaigns where id = ${id}`).toEqual([stored]);
    await bundle.database`update campaigns set delivery_type = 'ONE_TIME', status = 'SCHEDULED' where id = ${id}`;
    const recalled = await bundle.call('POST', `campaigns/${id}/recall?workspaceId=${bundle.workspaceId}`, {
      cookie: owner,
    });
    expect(recalled.status).toBe(200);
    // The approval was for what was published then.
    const [old] = await bundle.database`select id from agent_proposals where campaign_id = ${id}`;
    expect((await decide(old!.id as string)).status).toBe(409);
    await expectUnsent(id);
  });

  test('not an approval of another workspace, without the role, without a session, or from another site', async () => {
    const id = await makeDraft();
    const proposal = await proposed(id);
    await bundle.database`update agent_proposals set agent_name = agent_name where id = ${proposal}`;
    const statuses = [(await decide(proposal, { workspaceId: other })).status];
    for (const [name, role] of [
      ['an', 'analyst'],
      ['dev', 'developer'],
    ] as const) {
      const roles = { [bundle.workspaceId]: role, [other]: 'owner' as const };
      const cookie = await bundle.join(owner, { email: `${name}@example.com`, workspaceRoles: roles });
      statuses.push(
        (await decide(proposal, { cookie })).status,
        (await decide(proposal, { cookie, workspaceId: other })).status,
      );
    }
    statuses.push((await decide(proposal, { cookie: '' })).status, (await decide(none)).status);
    expect(statuses).toEqual([404, 403, 404, 403, 404, 401, 404]);
    const foreign = await bundle.call('POST', `proposals/${proposal}/approve?workspaceId=${bundle.workspaceId}`, {
      ...{ cookie: owner, headers: { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' } },
    });
    expect(foreign.status).toBe(403);
    await expectUnsent(id);
  });

  test('not a person who has not seen the last change, and not a program', async () => {
    const id = await makeDraft();
    const seen = (await changeOf(id)).id as string;
    await rename(id, 'Changed while a person composed it');
    for (const change of [undefined, none, seen]) {
      const { status, body } = await publish(id, change);
      expect([status, body.code]).toEqual([409, 'CAMPAIGN_ACTION_INVALID']);
    }
    const all = deps();
    const refused = { code: 'CAMPAIGN_ACTION_INVALID' };
    const last = (await changeOf(id)).id as string;
    await expect(publishDraftCampaign(all, { ...caller(program), id, seenChange: last })).rejects.toMatchObject(
      refused,
    );
    await expect(
      editCampaign(all, { ...caller(program), id, change: { basic_details: { tags: ['v1'] } }, updatedBy: 'x' }),
    ).rejects.toMatchObject(refused);
    await expectUnsent(id);
    expect((await publish(id, last)).status).toBe(200);
    expect(await changeOf(id)).toBeNull();
  });

  test('not an approval in a race with changes: the draft that is sent is the one that was approved', async () => {
    for (let round = 0; round < 8; round += 1) {
      const id = await makeDraft();
      const proposal = await proposed(id);
      const work = [
        ...Array.from({ length: 3 }, () => () => decide(proposal).then(({ status }) => status)),
        () => rename(id, 'Changed in the race').then(() => 0),
        () => decide(proposal, { how: 'refuse' }).then(({ status }) => (status === 204 ? 1 : 0)),
      ];
      const turned = [...work.slice(round % 5), ...work.slice(0, round % 5)];
      const results = await Promise.all(turned.map((start) => start()));
      const approvals = results.filter((status) => status === 200).length;
      const [row] = await bundle.database`select name, status from campaigns where id = ${id}`;
      const runs = await bundle.database`select from runs where campaign_id = ${id}`;
      expect([approvals, runs.length]).toEqual(row!.status === 'DRAFT' ? [0, 0] : [1, 1]);
      if (row!.status !== 'DRAFT') expect(row!.name).toBe('Spring sale');
      bundle.clock.advance(61_000);
    }
  });
});

describe('tokens of agents on the console', () => {
  test('are created, listed and revoked by their user, and seen and revoked by owners', async () => {
    const cookie = await bundle.join(owner, {
      email: 'mia@example.com',
      workspaceRoles: { [bundle.workspaceId]: 'marketer' },
    });
    const body = { name: 'Desk', days: 30, mayPropose: true };
    const made = await bundle.call('POST', 'own/agent-tokens', { cookie, body });
    expect([made.status, made.headers['cache-control']]).toEqual([201, 'no-store']);
    expect((await callTool('list_workspaces', {}, made.body.token)).workspaces).toHaveLength(1);
    const own = await bundle.call('GET', 'own/agent-tokens', { cookie });
    expect(own.body.tokens).toMatchObject([
      { id: made.body.id, name: 'Desk', email: 'mia@example.com', mayPropose: true },
    ]);
    expect(JSON.stringify(own.body)).not.toContain(made.body.token);
    expect((await bundle.call('GET', 'agent-tokens', { cookie })).status).toBe(403);
    expect((await bundle.call('DELETE', `own/agent-tokens/${tokenId}`, { cookie })).status).toBe(404);
    expect((await bundle.call('DELETE', `agent-tokens/${tokenId}`, { cookie })).status).toBe(403);
    const seen = await bundle.call('GET', 'agent-tokens', { cookie: owner });
    expect(seen.body.tokens.map(({ id }: any) => id)).toEqual(expect.arrayContaining([made.body.id, tokenId]));
    expect((await bundle.call('DELETE', `agent-tokens/${made.body.id}`, { cookie: owner })).status).toBe(204);
    await expect(callTool('list_workspaces', {}, made.body.token)).rejects.toThrow('revoked');
    const lines = await bundle.database`
      select action, actor_name as by from audit_log where object_id = ${made.body.id} order by id`;
    expect(lines.map(({ action, by }) => `${action} ${by}`).sort()).toEqual([
      'agent-token.create mia',
      'agent-token.revoke Olga',
    ]);
    for (const wrong of [
      { ...body, days: 366 },
      { ...body, days: 0 },
      { ...body, name: ' ' },
    ])
      expect((await bundle.call('POST', 'own/agent-tokens', { cookie, body: wrong })).status).toBe(400);
  });

  test('are not created in a session that was left open', async () => {
    bundle.clock.advance(freshSessionMinutes * 60_000 + 1);
    const body = { name: 'Desk', days: 30, mayPropose: false };
    const stale = await bundle.call('POST', 'own/agent-tokens', { cookie: owner, body });
    expect([stale.status, stale.body.code]).toEqual([403, 'ACCOUNT_SIGN_IN_STALE']);
  });
});

function deps() {
  const { database, clock } = bundle;
  return { database, clock, encryption: bundle.accounts.encryption, limits: documentedAuthoringLimits };
}
