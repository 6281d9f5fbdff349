import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { changeCampaignState } from '../../src/app/campaigns/change-campaign-state.ts';
import { campaignsCommand } from '../../src/cli/commands/campaigns.ts';
import { makeFireDueCampaigns } from '../../src/engine/scheduler.ts';
import { makeLog } from '../../src/log.ts';
import { sumRuns } from '../../src/storage/campaigns/campaign-stats.ts';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import { goodBody, makePushBundle, start, userBody } from './push-bundle.ts';
import type { PushBody, PushBundle } from './push-bundle.ts';

let bundle: PushBundle;
let names = 0;
const fresh = (): string => `Scheduled number ${(names += 1)}`;
const header = 'x-svc-next-sends';

beforeAll(async () => {
  bundle = await makePushBundle();
  await bundle.addUser('ada', { u_em: 'ada@example.com' });
  await bundle.addUser('tim', { u_em: 'tim@example.com' });
});
afterAll(() => bundle.end());
beforeEach(() => bundle.clock.anchor(start));

const later = (more: object = {}) => ({
  campaignDelivery: { type: 'later', date: '03/02/2026', time: '09:00 AM', ...more },
});
const daily = (more: object = {}) => ({
  campaignDelivery: { type: 'periodic', endDate: '03/31/2026', time: '09:00 AM', repeatAfter: '1', ...more },
});
const fireAt = async (instant: string): Promise<void> => {
  bundle.clock.anchor(new Date(instant));
  const log = makeLog({ level: 'silent', pretty: false });
  const job = makeFireDueCampaigns({ database: bundle.database, log, lateSendMinutes: 60, onFired() {} });
  while ((await job.runOnce(bundle.clock.now())) > 0);
};
const stored = async (cid: string) => {
  const [row] = await bundle.database`
    select delivery_type, status, status_reason, next_at, timing, target_selector,
      (select count(*) from runs where campaign_id = campaigns.id) as runs
    from campaigns where id = ${cid}`;
  return row!;
};
const runOf = async (responseId: string) => {
  const [row] = await bundle.database`
    select runs.status, runs.status_reason as reason, runs.content, runs.moment, runs.due_at, runs.target_users
    from push_requests left join runs on runs.id = push_requests.run_id where response_id = ${responseId}`;
  return row!;
};
const failure = async (body: PushBody): Promise<string> => (await bundle.send(body)).json().Error_Message;

describe('a scheduled push', () => {
  test('is a one-time campaign that is SCHEDULED for its instant, with the response of interface 2.11', async () => {
    const answer = await bundle.send(goodBody({ campaignName: fresh(), requestId: 'r', ...later() }));
    const body = answer.json();
    expect(Object.keys(body)).toEqual(['status', 'requestId', 'responseId', 'cid']);
    expect(answer.headers[header]).toBe('2026-03-02T09:00:00.000Z');
    expect(await stored(body.cid)).toMatchObject({
      delivery_type: 'ONE_TIME',
      status: 'SCHEDULED',
      next_at: new Date('2026-03-02T09:00:00Z'),
      runs: 0,
    });
    const [request] = await bundle.database`
      select request_id, run_id from push_requests where response_id = ${body.responseId}`;
    expect(request).toEqual({ request_id: 'r', run_id: null });
  });

  test('uses its zone, or the zone of the workspace (decision D36)', async () => {
    const named = await bundle.send(goodBody({ campaignName: fresh(), ...later({ timezone: 'Asia/Calcutta' }) }));
    expect(named.headers[header]).toBe('2026-03-02T03:30:00.000Z');
    const other = await makePushBundle();
    try {
      await other.database`update workspaces set time_zone = 'America/New_York'`;
      const answer = await other.send(goodBody(later()));
      expect(answer.headers[header]).toBe('2026-03-02T14:00:00.000Z');
    } finally {
      await other.end();
    }
  });

  test.each([
    ['later in the past', later({ date: '02/28/2026' }), 'campaignDelivery.date: is in the past'],
    ['later right now', later({ date: '03/01/2026', time: '12:00 PM' }), 'campaignDelivery.date: is in the past'],
    [
      'periodic with nothing left',
      daily({ endDate: '02/28/2026' }),
      'campaignDelivery.endDate: leaves nothing to send',
    ],
  ])('is rejected and not stored with %s', async (_what, delivery, text) => {
    const before = await bundle.countRows();
    const answer = await bundle.send(goodBody({ campaignName: fresh(), ...delivery }));
    expect(answer.json().Error_Message).toBe(`Error parsing parameters: ${text}`);
    expect(answer.headers[header]).toBeUndefined();
    expect(await bundle.countRows()).toEqual(before);
  });

  test('is ACTIVE with its first occurrence if it is periodic; the header lists three', async () => {
    const answer = await bundle.send(goodBody({ campaignName: fresh(), ...daily({ repeatAfter: '2' }) }));
    expect(answer.headers[header]).toBe('2026-03-02T09:00:00.000Z, 2026-03-04T09:00:00.000Z, 2026-03-06T09:00:00.000Z');
    expect(await stored(answer.json().cid)).toMatchObject({
      delivery_type: 'PERIODIC',
      status: 'ACTIVE',
      next_at: new Date('2026-03-02T09:00:00Z'),
      timing: { kind: 'periodic', firstDate: '2026-03-02', repeatAfterDays: 2 },
      runs: 0,
    });
  });

  test('is sent at the occurrences in the header', async () => {
    const delivery = { endDate: '03/10/2026', time: '02:30 AM', timezone: 'America/New_York' };
    bundle.clock.anchor(new Date('2026-03-06T12:00:00Z'));
    const answer = await bundle.send(goodBody({ campaignName: fresh(), ...daily(delivery) }));
    const told = String(answer.headers[header]).split(', ');
    for (const instant of told) await fireAt(instant);
    const fired = await bundle.database`
      select moment from runs where campaign_id = ${answer.json().cid} order by moment`;
    expect(fired.map((row) => row.moment.toISOString())).toEqual(told);
    expect(told[1]).toBe('2026-03-08T07:30:00.000Z');
  });

  test('has no such header with type soon, and has it again in a repeat under one Idempotency-Key', async () => {
    expect((await bundle.send(goodBody({ campaignName: fresh() }))).headers[header]).toBeUndefined();
    const body = goodBody({ campaignName: fresh(), ...later() });
    const headers = { 'idempotency-key': 'scheduled-once' };
    const [first, second] = [await bundle.send(body, { headers }), await bundle.send(body, { headers })];
    expect(second.json()).toEqual(first.json());
    expect(second.headers[header]).toBe(first.headers[header]);
  });

  test('reserves its name immediately', async () => {
    const body = goodBody({ campaignName: fresh(), ...later() });
    await bundle.send(body);
    expect(await failure(body)).toBe('Duplicate campaign name');
  });

  test('works in v2 too', async () => {
    const answer = await bundle.sendV2(goodBody({ campaignName: fresh(), ...later() }));
    expect([answer.json().status, answer.headers[header]]).toEqual(['Success', '2026-03-02T09:00:00.000Z']);
  });
});

describe('a scheduled push to named users (decision D32, D33)', () => {
  const by = (attribute: string, attributeValue: string) => ({
    targetUserAttributes: { attribute, isCustom: true, comparisonParameter: 'is', attributeValue },
  });

  test('stores the criteria, not the users found', async () => {
    const { cid } = (await bundle.send(userBody('ada', { campaignName: fresh(), ...later() }))).json();
    expect(await stored(cid)).toMatchObject({
      status: 'SCHEDULED',
      target_selector: { attribute: 'USER_ATTRIBUTE_UNIQUE_ID', isCustom: false, values: ['ada'] },
    });
  });

  test('fails with more than 100 users at acceptance, and at the send if they were added later', async () => {
    const crowd = async (from: number, to: number) => {
      for (let number = from; number < to; number += 1) await bundle.addUser(`fan-${number}`, { club: 'red' });
    };
    await crowd(0, 100);
    const accepted = await bundle.send(userBody('x', { campaignName: fresh(), ...later(), ...by('club', 'red') }));
    expect(accepted.json().status).toBe('Success');
    const recurring = await bundle.send(userBody('x', { campaignName: fresh(), ...daily(), ...by('club', 'red') }));
    await crowd(100, 101);
    const reason = 'targetUserAttributes: matches more than 100 users';
    expect(await failure(userBody('x', { campaignName: fresh(), ...later(), ...by('club', 'red') }))).toBe(
      `Error parsing parameters: ${reason}`,
    );
    await fireAt('2026-03-02T09:00:00Z');
    expect(await stored(accepted.json().cid)).toMatchObject({ status: 'FAILED', status_reason: reason, runs: 1 });
    expect(await stored(recurring.json().cid)).toMatchObject({
      status: 'ACTIVE',
      next_at: new Date('2026-03-03T09:00:00Z'),
      runs: 1,
    });
    const runs = await bundle.database`
      select status, status_reason as reason from runs
      where campaign_id in (${accepted.json().cid}, ${recurring.json().cid})`;
    expect([...runs]).toEqual([
      { status: 'FAILED', reason },
      { status: 'FAILED', reason },
    ]);
  });

  test('sends a joining request at the stored time, with its own payload and target', async () => {
    const campaignName = fresh();
    const first = await bundle.send(userBody('ada', { campaignName, ...later() }));
    const payload = { ANDROID: { title: 'For Tim', message: 'M' } };
    const second = await bundle.send(userBody('tim', { campaignName, payload, campaignDelivery: { type: 'soon' } }));
    expect(second.json().cid).toBe(first.json().cid);
    expect(second.headers[header]).toBe('2026-03-02T09:00:00.000Z');
    expect(await runOf(second.json().responseId)).toMatchObject({ status: 'QUEUED', target_users: null });
    await fireAt('2026-03-02T08:59:59Z');
    expect(await runOf(second.json().responseId)).toMatchObject({ status: 'QUEUED' });
    await fireAt('2026-03-02T09:00:00Z');
    expect(await runOf(second.json().responseId)).toMatchObject({
      status: 'SENDING',
      content: { ANDROID: { title: 'For Tim' } },
      target_users: [[expect.any(Number), expect.any(String)]],
    });
    const runs = await bundle.database`select status from runs where campaign_id = ${first.json().cid}`;
    expect(runs.map(({ status }) => status)).toEqual(['SENDING', 'SENDING']);
    expect(await sumRuns(bundle.database, first.json().cid)).toMatchObject({ runs: 2, audienceUsers: 2 });
  });

  test('sends a request that joins a recurring campaign once, at its next occurrence', async () => {
    const campaignName = fresh();
    const first = await bundle.send(userBody('ada', { campaignName, ...daily() }));
    const second = await bundle.send(userBody('tim', { campaignName, ...daily() }));
    expect(second.headers[header]).toBe('2026-03-02T09:00:00.000Z');
    await fireAt('2026-03-02T09:00:00Z');
    await fireAt('2026-03-03T09:00:00Z');
    const [row] = await bundle.database`
      select count(*) as runs, count(*) filter (where due_at is not null) as joined from runs
      where campaign_id = ${first.json().cid}`;
    expect(row).toEqual({ runs: 3, joined: 1 });
  });

  test('starts other due requests when a joined one cannot start', async () => {
    const campaignName = fresh();
    await bundle.send(userBody('ada', { campaignName, ...later() }));
    const joined = [];
    for (let count = 0; count < 3; count += 1)
      joined.push((await bundle.send(userBody('tim', { campaignName, ...later() }))).json().responseId as string);
    const [poisoned, ...others] = joined as [string, string, string];
    const [request] = await bundle.database`select run_id as id from push_requests where response_id = ${poisoned}`;
    await bundle.database.unsafe(`
      create function poison() returns trigger language plpgsql as
        $$ begin raise exception 'a row that cannot be' using errcode = '22000'; end $$`);
    await bundle.database.unsafe(`
      create trigger poison before update on runs for each row when (new.id = '${request!.id}') execute function poison()`);
    await fireAt('2026-03-02T09:00:00Z');
    expect((await runOf(poisoned)).status).toBe('QUEUED');
    for (const responseId of others) expect((await runOf(responseId)).status).not.toBe('QUEUED');
    await bundle.database.unsafe('drop function poison() cascade');
    await fireAt('2026-03-02T09:00:00Z');
    expect((await runOf(poisoned)).status).not.toBe('QUEUED');
  });

  test('marks a joined request MISSED with its campaign after a downtime', async () => {
    const campaignName = fresh();
    await bundle.send(userBody('ada', { campaignName, ...later() }));
    const second = await bundle.send(userBody('tim', { campaignName, ...later() }));
    await fireAt('2026-03-02T10:30:00Z');
    expect(await runOf(second.json().responseId)).toMatchObject({
      status: 'MISSED',
      reason: '90 minutes late; at most 60 are allowed (CARILLON_LATE_SEND_MINUTES)',
    });
  });

  test('sends a joining request immediately after the occurrence, whatever its delivery says', async () => {
    const campaignName = fresh();
    await bundle.send(userBody('ada', { campaignName, ...later() }));
    await fireAt('2026-03-02T09:00:00Z');
    const second = await bundle.send(userBody('tim', { campaignName, ...later({ date: '03/09/2026' }) }));
    expect(second.headers[header]).toBeUndefined();
    expect(await runOf(second.json().responseId)).toMatchObject({ status: 'SENDING' });
  });

  test.each(['pause', 'stop'] as const)('accepts no joining request after a %s', async (action) => {
    const campaignName = fresh();
    const { cid } = (await bundle.send(userBody('ada', { campaignName, ...daily() }))).json();
    const waiting = (await bundle.send(userBody('tim', { campaignName, ...daily() }))).json();
    await changeCampaignState(bundle, {
      workspaceId: bundle.appId,
      campaignId: cid,
      action,
      actor: { kind: 'system', name: 'a test' },
    });
    const word = action === 'pause' ? 'paused' : 'stopped';
    expect(await failure(userBody('tim', { campaignName }))).toBe(
      `Error parsing parameters: campaignName: the campaign of this name is ${word}`,
    );
    await fireAt('2026-03-02T09:00:00Z');
    expect((await runOf(waiting.responseId)).status).toBe(action === 'pause' ? 'QUEUED' : 'STOPPED');
  });

  test('sends a request that waited through a pause with the next occurrence after it', async () => {
    const campaignName = fresh();
    const { cid } = (await bundle.send(userBody('ada', { campaignName, ...daily() }))).json();
    const waiting = (await bundle.send(userBody('tim', { campaignName, ...daily() }))).json();
    const change = { workspaceId: bundle.appId, campaignId: cid, actor: { kind: 'system', name: 'a test' } as const };
    await changeCampaignState(bundle, { ...change, action: 'pause' });
    await fireAt('2026-03-04T12:00:00Z');
    await changeCampaignState(bundle, { ...change, action: 'resume' });
    await fireAt('2026-03-04T12:00:01Z');
    expect((await runOf(waiting.responseId)).status).toBe('QUEUED');
    await fireAt('2026-03-05T09:00:00Z');
    expect((await runOf(waiting.responseId)).status).toBe('SENDING');
  });

  test('ends run and campaign immediately with type soon and no recipients', async () => {
    const { cid } = (await bundle.send(userBody('nobody', { campaignName: fresh() }))).json();
    expect(await stored(cid)).toMatchObject({ status: 'SENT', runs: 1 });
  });
});

describe('carillon campaigns', () => {
  let output = '';
  beforeEach(() => {
    output = '';
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
      output += String(text);
      return true;
    });
  });
  afterEach(() => vi.restoreAllMocks());

  test('lists, shows, pauses, resumes and stops', async () => {
    const campaignName = fresh();
    const { cid } = (await bundle.send(goodBody({ campaignName, ...daily() }))).json();
    const options = { id: cid as string, workspace: bundle.appId };
    await campaignsCommand.list(bundle, options);
    expect(output).toMatch(new RegExp(`${cid} +ACTIVE +PERIODIC +2026-03-02T09:00:00.000Z +${campaignName}`));
    await fireAt('2026-03-02T09:12:30Z');
    output = '';
    await campaignsCommand.show(bundle, options);
    expect(output).toContain(
      'Next      2026-03-03T09:00:00.000Z, 2026-03-04T09:00:00.000Z, 2026-03-05T09:00:00.000Z\n',
    );
    expect(output).toMatch(/QUEUED +2026-03-02T09:00:00.000Z +2026-03-02T09:12:30.000Z +– +12 minutes late\n/);
    output = '';
    await campaignsCommand.pause(bundle, options);
    await campaignsCommand.resume(bundle, options);
    await campaignsCommand.stop(bundle, options);
    expect(output.match(/Status +\w+/g)).toEqual(['Status    PAUSED', 'Status    ACTIVE', 'Status    STOPPED']);
    await expect(campaignsCommand.resume(bundle, options)).rejects.toThrow(
      'A campaign that is STOPPED does not allow resume.',
    );
    await expect(campaignsCommand.show(bundle, { ...options, id: 'none' })).rejects.toThrow(
      'There is no campaign none',
    );
    expect(await stored(cid)).toMatchObject({ status: 'STOPPED', status_reason: 'stopped by the command line' });
  });
});

test('sends a push for tomorrow when the clock of a node moves to its time', async () => {
  const node = await startCarillonBundle();
  try {
    const now = Date.parse((await node.call('GET', '/sandbox/clock')).json().now);
    const [, month, date] = new Date(now + 86_400_000).toISOString().slice(0, 10).split('-');
    const year = new Date(now + 86_400_000).getUTCFullYear();
    const answer = await node.push(
      goodBody({
        campaignName: 'For tomorrow',
        campaignDelivery: { type: 'later', date: `${month}/${date}/${year}`, time: '09:00 AM', timezone: 'UTC' },
      }) as never,
    );
    const occurrence = Date.parse(answer.headers.get(header)!);
    expect(await node.inbox()).toEqual([]);
    await node.call('POST', '/sandbox/clock', { body: { advanceSeconds: Math.ceil((occurrence - now) / 1000) } });
    const { cid } = answer.json();
    const ended = await until(async () => {
      const [row] = await node.database`select status from campaigns where id = ${cid} and status <> 'SCHEDULED'`;
      return row?.status === 'SENDING' ? undefined : (row?.status as string | undefined);
    });
    expect(ended).toBe('SENT');
    await until(async () => (await node.inbox()).length > 0);
  } finally {
    await node.stop();
  }
});
