import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { bucketOf } from '../../../src/domain/users/users.ts';
import { claimChunks } from '../../../src/storage/runs/chunks.ts';
import { chooseDevices, claimNamedChunks, findNamedDevices } from '../../../src/storage/runs/named-runs.ts';
import { findTargetUsersPage } from '../../../src/storage/campaigns/audience.ts';
import type { Platform } from '../../../src/domain/content/content.ts';
import { chunkLeaseMilliseconds, makeLease } from '../../../src/engine/jobs/leased-job.ts';
import { makeFanOutBundle } from './fan-out-bundle.ts';
import type { StoredPush } from '../../../src/app/push/store-pushes.ts';
import type { NamedRunSender } from '../../../src/engine/fan-out/send-named-runs.ts';
import type { FanOutBundle } from './fan-out-bundle.ts';

describe('runs to named users', () => {
  let bundle: FanOutBundle;
  beforeEach(async () => {
    bundle = await makeFanOutBundle();
  });
  afterEach(() => bundle.drop());

  const toUser = async (customerId: string) => bundle.accept({ targetUsers: [await bundle.userOf(customerId)] });
  const send = async (sender = bundle.makeNamedSender()): Promise<number> => {
    const claimed = await sender.sendNext();
    await sender.settled();
    return claimed;
  };
  const chunkOf = async (runId: string) => {
    const [row] = await bundle.database`
      select state, attempt, crashes, window_opened_at as window from chunks where run_id = ${runId}`;
    return row;
  };

  test('are claimed, sent and stored together, each with its outcome, counts and cursor', async () => {
    await bundle.addDevices(6);
    const runs = [];
    for (let user = 0; user < 6; user += 1) runs.push(await toUser(`user-${user}`));
    bundle.answer(({ pushId }) =>
      pushId === 'push-user-1' ? { kind: 'gone', code: 'UNREGISTERED' } : { kind: 'accepted', providerMessageId: 'm' },
    );
    expect(await send()).toBe(6);
    expect(bundle.sent.map(({ pushId }) => pushId).sort()).toEqual(
      [0, 1, 2, 3, 4, 5].map((user) => `push-user-${user}`),
    );
    for (const [user, { runId }] of runs.entries()) {
      const outcome = user === 1 ? 'GONE' : 'ACCEPTED';
      expect(await bundle.ledger(runId)).toEqual([{ outcome, devices: 1 }]);
      expect(await bundle.counters(runId)).toEqual({ [outcome]: 1 });
      expect(await chunkOf(runId)).toEqual({ state: 'DONE', attempt: 1, crashes: 0, window: null });
      const cursors = await bundle.database`select bucket from run_cursors where run_id = ${runId}`;
      expect([...cursors]).toEqual([{ bucket: bucketOf(`user-${user}`) }]);
    }
    const gone = await bundle.database`select push_id from devices where state = 'GONE'`;
    expect([...gone]).toEqual([{ push_id: 'push-user-1' }]);
    await bundle.end();
    for (const { campaignId } of runs)
      expect(await bundle.states(campaignId)).toEqual({ campaign: 'SENT', run: 'SENT', reason: null });
    expect(await send()).toBe(0);
  });

  test('have ended when their outcomes are stored, except those with a message that waits', async () => {
    await bundle.addDevices(2);
    const [sent, waiting] = [await toUser('user-0'), await toUser('user-1')];
    bundle.answer(({ pushId }) =>
      pushId === 'push-user-1'
        ? { kind: 'wait', code: 'UNAVAILABLE', scope: 'device' }
        : { kind: 'accepted', providerMessageId: 'm' },
    );
    await send();
    expect(await bundle.states(sent.campaignId)).toMatchObject({ campaign: 'SENDING', run: 'SENT' });
    expect(await bundle.states(waiting.campaignId)).toMatchObject({ campaign: 'SENDING', run: 'SENDING' });
    await bundle.end();
    expect(await bundle.states(sent.campaignId)).toMatchObject({ campaign: 'SENT', run: 'SENT' });
    expect(await bundle.states(waiting.campaignId)).toMatchObject({ campaign: 'SENDING', run: 'SENDING' });
  });

  test('leave their campaign open while pushes join it every few seconds, and the job ends it afterwards', async () => {
    await bundle.addDevices(2);
    const [first, second] = [await toUser('user-0'), await toUser('user-1')];
    await bundle.database`update runs set campaign_id = ${first.campaignId} where id = ${second.runId}`;
    await send();
    const state = async () => (await bundle.states(first.campaignId)).campaign;
    await bundle.end();
    expect(await state()).toBe('SENDING');
    bundle.clock.advance(4_999);
    await bundle.end();
    expect(await state()).toBe('SENDING');
    bundle.clock.advance(1);
    await bundle.end();
    expect(await state()).toBe('SENT');
  });

  test('end without a message if the user has no device on the platforms', async () => {
    await bundle.addDevices(1);
    const { runId } = await bundle.accept({ targetUsers: [await bundle.userOf('user-0')], platforms: ['IOS'] });
    expect(await send()).toBe(1);
    expect([bundle.sent.length, (await chunkOf(runId))!.state]).toEqual([0, 'DONE']);
  });

  test('reach only devices that were registered before the request', async () => {
    await bundle.addDevices(1);
    await toUser('user-0');
    bundle.clock.advance(1_000);
    const [bucket, userId] = await bundle.userOf('user-0');
    await bundle.database`
      insert into devices (workspace_id, bucket, id, user_id, device_id, platform, push_id, state, registered_at, created_at, updated_at)
      select workspace_id, bucket, 'f' || substr(id, 2), user_id, 'later', platform, 'push-later', 'ACTIVE', now(), now(), now()
      from devices where bucket = ${bucket} and user_id = ${userId}`;
    await send();
    expect(bundle.sent.map(({ pushId }) => pushId)).toEqual(['push-user-0']);
  });

  test('reach the devices that a page of their own would reach', async () => {
    await bundle.addDevices(6);
    const { database, workspaceId } = bundle;
    await database`update devices set provisional = true where push_id in ('push-user-1', 'push-user-2')`;
    await database`update devices set app_id = 'courier' where push_id in ('push-user-3', 'push-user-4')`;
    await database`update devices set state = 'OPTED_OUT' where push_id = 'push-user-5'`;
    const targetUsers: [number, string][] = [];
    for (let user = 0; user < 6; user += 1) targetUsers.push(await bundle.userOf(`user-${user}`));
    const ids = (await database`select id from devices order by id`).map(({ id }) => id as string);
    const choices = { targetUsers, workspaceId, limit: 100 };
    const sizes = new Set<number>();
    for (const platforms of [['ANDROID', 'IOS', 'WEB'], ['IOS'], ['ANDROID']] as Platform[][])
      for (const iosProvisional of [null, true, false])
        for (const appIds of [undefined, ['courier'], ['default'], ['default', 'courier']])
          for (const bound of [ids[2]!, ids.at(-1)!]) {
            const run = { ...choices, platforms, iosProvisional, appIds, bound };
            const buckets = [...new Set(targetUsers.map(([bucket]) => bucket))].sort((a, b) => a - b);
            const page = await findTargetUsersPage(database, { ...run, buckets, after: { bucket: -1, position: '' } });
            const found = await findNamedDevices(database, [{ ...run, runId: 'one' }]);
            expect(chooseDevices(run, found.get('one')!)).toEqual(page.map(({ position: _, ...device }) => device));
            sizes.add(page.length);
          }
    expect(sizes.size).toBeGreaterThan(3);
  });

  test('of one workspace leave the others their share of a batch', async () => {
    await bundle.addDevices(1);
    for (let run = 0; run < 30; run += 1) await toUser('user-0');
    const { database, clock } = bundle;
    await database`
      insert into workspaces (id, db_name, name, created_at) values ('QUIET', 'quiet', 'Quiet', ${clock.now()})
      on conflict do nothing`;
    const quiet = await toUser('user-0');
    await database`update runs set workspace_id = 'QUIET' where id = ${quiet.runId}`;
    await database`update chunks set workspace_id = 'QUIET' where run_id = ${quiet.runId}`;
    const claim = { owner: 'w', limit: 10, at: clock.now(), ...makeLease(clock, chunkLeaseMilliseconds) };
    const { chunks: claimed, others } = await claimNamedChunks(database, { ...claim, except: [] });
    expect(others).toBe('some');
    // What was not claimed was not locked either.
    const locked = await database`select run_id from chunks where state = 'READY' and xmax <> '0'`;
    expect([...locked]).toEqual([]);
    // Five of the loud one, oldest first, and the only one of the quiet one.
    expect(claimed.map(({ workspaceId }) => workspaceId).filter((id) => id === 'QUIET')).toHaveLength(1);
    expect(claimed).toHaveLength(6);
    const none = { chunks: [], others: 'none' };
    expect(await claimNamedChunks(database, { ...claim, except: [bundle.workspaceId] })).toEqual(none);
  });

  test('are not held by a provider that does not answer another run', async () => {
    await bundle.addDevices(2);
    const [slow, quick] = [await toUser('user-0'), await toUser('user-1')];
    let answerSlow = (): void => {};
    const answered = new Promise<void>((resolve) => (answerSlow = resolve));
    bundle.answer(async ({ pushId }) => {
      if (pushId === 'push-user-0') await answered;
      return { kind: 'accepted' };
    });
    const sender = bundle.makeNamedSender();
    await sender.sendNext();
    while ((await bundle.ledger(quick.runId)).length === 0);
    expect(await bundle.ledger(slow.runId)).toEqual([]);
    expect((await chunkOf(slow.runId))!.state).toBe('CLAIMED');
    answerSlow();
    await sender.settled();
    expect(await bundle.ledger(slow.runId)).toEqual([{ outcome: 'ACCEPTED', devices: 1 }]);
  });

  test('are sent again under the same identity after a crash, by the workers of chunks', async () => {
    await bundle.addDevices(1);
    const { runId } = await toUser('user-0');
    let isDead = false;
    // The outcome never comes back to the worker that died.
    bundle.answer(() => (isDead ? { kind: 'accepted' } : new Promise(() => {})));
    await bundle.makeNamedSender('dead').sendNext();
    while (bundle.sent.length === 0) await new Promise((resolve) => setImmediate(resolve));
    isDead = true;
    expect(await send()).toBe(0);
    bundle.clock.advance(chunkLeaseMilliseconds + 1);
    // A chunk that was claimed before is none of the fresh ones.
    expect(await send()).toBe(0);
    await bundle.work();
    expect(await bundle.ledger(runId)).toEqual([{ outcome: 'ACCEPTED', devices: 1 }]);
    const [first, second] = bundle.sent;
    expect(second).toEqual(first);
  });

  test('store nothing for a chunk that another worker has taken over', async () => {
    await bundle.addDevices(2);
    const [lost, kept] = [await toUser('user-0'), await toUser('user-1')];
    bundle.answer(async ({ pushId }) => {
      if (pushId === 'push-user-0') await bundle.database`update chunks set attempt = 2 where run_id = ${lost.runId}`;
      return { kind: 'accepted' };
    });
    await send();
    expect(await bundle.ledger(lost.runId)).toEqual([]);
    expect(await bundle.counters(lost.runId)).toEqual({});
    expect(await bundle.ledger(kept.runId)).toEqual([{ outcome: 'ACCEPTED', devices: 1 }]);
  });

  test('are stored although the database rejects the outcomes of another, whose window is then suspected', async () => {
    await bundle.addDevices(2);
    const [bad, good] = [await toUser('user-0'), await toUser('user-1')];
    const { number } = await bundle.run(bad.runId);
    await bundle.database.unsafe(`alter table deliveries add constraint rejected check (run_number <> ${number})`);
    await send();
    expect(await bundle.ledger(good.runId)).toEqual([{ outcome: 'ACCEPTED', devices: 1 }]);
    expect(await bundle.ledger(bad.runId)).toEqual([]);
    expect(await chunkOf(bad.runId)).toMatchObject({ state: 'CLAIMED', crashes: 2 });
    const [chunk] = await bundle.database`select window_devices as devices from chunks where run_id = ${bad.runId}`;
    expect(chunk).toEqual({ devices: 1 });
  });

  test('whose page cannot be made are given up alone', async () => {
    await bundle.addDevices(2);
    const [bad, good] = [await toUser('user-0'), await toUser('user-1')];
    bundle.breakPages((pushId) => pushId === 'push-user-0');
    await send();
    expect(await bundle.ledger(good.runId)).toEqual([{ outcome: 'ACCEPTED', devices: 1 }]);
    expect(await bundle.ledger(bad.runId)).toEqual([]);
    expect(bundle.lines.map(({ msg }) => msg)).toContain('chunk failed');
  });

  test('that cannot be read are given up alone, and the others of their batch are sent at once', async () => {
    await bundle.addDevices(3);
    const [first, bad, last] = [await toUser('user-0'), await toUser('user-1'), await toUser('user-2')];
    // A row that no version of this program has written.
    await bundle.database`update campaigns set settings = '{"appIds": 5}' where id = ${bad.campaignId}`;
    await send();
    for (const { runId } of [first, last])
      expect(await bundle.ledger(runId)).toEqual([{ outcome: 'ACCEPTED', devices: 1 }]);
    expect(await chunkOf(bad.runId)).toMatchObject({ state: 'CLAIMED', attempt: 1 });
    expect(bundle.lines.filter(({ msg }) => msg === 'chunk failed')).toHaveLength(1);
  });

  test('are left to the workers of chunks if they are to many users or devices', async () => {
    await bundle.addDevices(61);
    const targetUsers: [number, string][] = [];
    for (let user = 0; user < 60; user += 1) targetUsers.push(await bundle.userOf(`user-${user}`));
    const { runId } = await bundle.accept({ targetUsers });
    // One user with more devices than a window has.
    await bundle.database`
      insert into devices (workspace_id, bucket, id, user_id, device_id, platform, push_id, state, registered_at, created_at, updated_at)
      select workspace_id, bucket, lpad(number::text, 24, '0'), user_id, number::text, platform, 'push-' || number, 'ACTIVE', now(), now(), now()
      from devices, generate_series(1, 50) as number where push_id = 'push-user-60'`;
    const many = await bundle.accept({ targetUsers: [await bundle.userOf('user-60')] });
    expect(await send()).toBe(2);
    expect(bundle.sent).toEqual([]);
    for (const id of [runId, many.runId])
      expect(await chunkOf(id)).toMatchObject({ state: 'READY', attempt: 1, crashes: 0 });
    await bundle.work();
    expect(await bundle.ledger(runId)).toEqual([{ outcome: 'ACCEPTED', devices: 60 }]);
    expect(await bundle.ledger(many.runId)).toEqual([{ outcome: 'ACCEPTED', devices: 51 }]);
  });

  test('with more than one chunk are left to the workers of chunks, and each device gets one message', async () => {
    await bundle.addDevices(1);
    const { runId } = await toUser('user-0');
    await bundle.database`
      insert into chunks (run_id, number, workspace_id, bucket_from, bucket_to, lane, not_before, state, created_at)
      select run_id, 1, workspace_id, 128, 255, lane, not_before, state, created_at from chunks where run_id = ${runId}`;
    await bundle.database`update chunks set bucket_to = 127 where run_id = ${runId} and number = 0`;
    await send();
    expect(bundle.sent).toEqual([]);
    await bundle.work();
    expect(bundle.sent).toHaveLength(1);
  });

  test('of a stopped run are not sent', async () => {
    await bundle.addDevices(1);
    const { runId } = await toUser('user-0');
    await bundle.database`update runs set status = 'PAUSED', status_reason = 'x' where id = ${runId}`;
    expect(await send()).toBe(0);
    expect(bundle.sent).toEqual([]);
  });

  test('are released if their run was paused after the claim, so that they go on when it is resumed', async () => {
    await bundle.addDevices(1);
    const { runId } = await toUser('user-0');
    await bundle.database.unsafe(`
      create function pause_run() returns trigger language plpgsql as $$ begin
        update runs set status = 'PAUSED', status_reason = 'x' where id = new.run_id; return new;
      end $$;
      create trigger pause_run after update on chunks for each row when (new.state = 'CLAIMED') execute function pause_run()`);
    expect(await send()).toBe(1);
    expect([bundle.sent, await chunkOf(runId)]).toEqual([[], { state: 'READY', attempt: 1, crashes: 0, window: null }]);
    await bundle.database`drop trigger pause_run on chunks`;
    await bundle.database`update runs set status = 'SENDING', status_reason = null where id = ${runId}`;
    await bundle.work();
    expect(await bundle.ledger(runId)).toEqual([{ outcome: 'ACCEPTED', devices: 1 }]);
  });

  test('of a workspace with a thousand under way wait, and there is a sign when runs have ended', async () => {
    await bundle.addDevices(1);
    const user = await bundle.userOf('user-0');
    for (let run = 0; run < 1_010; run += 1) await bundle.accept({ targetUsers: [user] });
    let answerAll = (): void => {};
    const answered = new Promise<void>((resolve) => (answerAll = resolve));
    bundle.answer(async () => {
      await answered;
      return { kind: 'accepted' };
    });
    let rooms = 0;
    const sender = bundle.makeNamedSender('worker', { onFreed: () => (rooms += 1) });
    const claims = [await sender.sendNext(), await sender.sendNext()];
    expect(sender.hasOthers()).toBe(true);
    claims.push(await sender.sendNext());
    expect(sender.hasOthers()).toBe(false);
    expect([claims, rooms]).toEqual([[500, 500, 0], 0]);
    answerAll();
    await sender.settled();
    expect([rooms, await sender.sendNext()]).toEqual([1, 10]);
    await sender.settled();
  });

  test('are left to this sender by the workers of chunks, until they were claimed once', async () => {
    await bundle.addDevices(1);
    await toUser('user-0');
    const { database, clock } = bundle;
    const claim = { owner: 'w', lastLane: 1, limit: 1, at: clock.now(), ...makeLease(clock, 1_000) } as const;
    expect(await claimChunks(database, { ...claim, namedRuns: 'apart' })).toEqual([]);
    const { chunks: named } = await claimNamedChunks(database, { ...claim, except: [] });
    expect(named).toHaveLength(1);
    clock.advance(2_000);
    const again = { ...claim, at: clock.now(), ...makeLease(clock, 1_000) };
    expect(await claimChunks(database, { ...again, namedRuns: 'apart' })).toMatchObject([{ attempt: 2, crashes: 1 }]);
  });

  test('wait in the database while this node has outcomes to store or stops', async () => {
    await bundle.addDevices(1);
    await toUser('user-0');
    const sender = bundle.makeNamedSender('worker', { isStopping: () => true });
    expect(await sender.sendNext()).toBe(0);
    expect(bundle.sent).toEqual([]);
  });

  describe('that a node has accepted itself', () => {
    const acceptOwn = async (sender: NamedRunSender, own: Parameters<FanOutBundle['accept']>[0] = {}) => {
      const rings: string[] = [];
      const accepted = await bundle.accept({
        ...{ targetUsers: [await bundle.userOf('user-0')], ownRuns: sender.ownRuns, rings },
        ...own,
      });
      return { ...accepted, rings };
    };

    test('are sent by it at once: no worker claims them, and none is told', async () => {
      await bundle.addDevices(1);
      const sender = bundle.makeNamedSender('node');
      const { runId, campaignId, rings } = await acceptOwn(sender);
      await sender.settled();
      expect(bundle.sent.map(({ pushId }) => pushId)).toEqual(['push-user-0']);
      expect(await bundle.ledger(runId)).toEqual([{ outcome: 'ACCEPTED', devices: 1 }]);
      expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 1 });
      expect(await chunkOf(runId)).toEqual({ state: 'DONE', attempt: 1, crashes: 0, window: null });
      expect([rings, await bundle.states(campaignId)]).toEqual([
        [],
        { campaign: 'SENDING', run: 'SENT', reason: null },
      ]);
    });

    test('are sent by others under the same identity, if the node dies before it sends them', async () => {
      await bundle.addDevices(1);
      const dead = bundle.makeNamedSender('dead');
      const { runId } = await acceptOwn(dead, { ownRuns: { ...dead.ownRuns, begin() {} } });
      expect(await send()).toBe(0);
      expect(await bundle.claim('other', 0)).toBeUndefined();
      bundle.clock.advance(chunkLeaseMilliseconds + 1);
      await bundle.work({ owner: 'other' });
      expect(await bundle.ledger(runId)).toEqual([{ outcome: 'ACCEPTED', devices: 1 }]);
      expect(await chunkOf(runId)).toMatchObject({ state: 'DONE', attempt: 2 });
    });

    test('are sent if the answer to their commit was lost, and forgotten if they were not stored', async () => {
      await bundle.addDevices(1);
      const sender = bundle.makeNamedSender('node');
      const lost = Object.assign(new Error('the answer was lost'), { code: 'COMMIT_OUTCOME_UNKNOWN' });
      const storing = async (store: () => Promise<unknown>): Promise<never> => {
        await store();
        throw lost;
      };
      await expect(acceptOwn(sender, { storing })).rejects.toBe(lost);
      await sender.settled();
      expect(bundle.sent).toHaveLength(1);
      await expect(acceptOwn(sender, { storing: () => Promise.reject(lost) })).rejects.toBe(lost);
      await sender.settled();
      expect(bundle.sent).toHaveLength(1);
    });

    test('leave the others to workers, of which a node has no room, and those of a transaction that failed', async () => {
      await bundle.addDevices(1);
      const sender = bundle.makeNamedSender('node');
      const targetUsers: [number, string][] = [await bundle.userOf('user-0')];
      const ofOne = (number: number) => ({ runId: `run-${number}`, workspaceId: 'LOUD', targetUsers });
      const reserved = Array.from({ length: 1_001 }, (_, number) => sender.ownRuns.reserve(ofOne(number)));
      expect(reserved.map((chunk) => chunk !== undefined)).toEqual([...Array(1_000).fill(true), false]);
      expect(sender.ownRuns.reserve({ ...ofOne(0), workspaceId: 'QUIET' })).toBeDefined();
      const failed = new Error('not stored');
      await expect(acceptOwn(sender, { storing: () => Promise.reject(failed) })).rejects.toBe(failed);
      sender.ownRuns.drop(reserved.slice(0, 2).flatMap((chunk) => chunk ?? []));
      expect(sender.ownRuns.reserve(ofOne(1_001))).toBeDefined();
      const many = Array.from({ length: 51 }, (_, user): [number, string] => [0, `user-${user}`]);
      expect(sender.ownRuns.reserve({ ...ofOne(0), targetUsers: many })).toBeUndefined();
    });

    test('are left to workers while the node stops or has outcomes to store', async () => {
      await bundle.addDevices(1);
      const stopping = bundle.makeNamedSender('node', { isStopping: () => true });
      const { runId, rings } = await acceptOwn(stopping);
      expect(await chunkOf(runId)).toMatchObject({ state: 'READY', attempt: 0 });
      expect(rings).toEqual(['named-runs']);
      let isBack = false;
      const away = Object.assign(new Error('the database is away'), { code: 'ECONNREFUSED' });
      const store = bundle.outcomes.store(async () => {
        if (!isBack) throw away;
      });
      const sender = bundle.makeNamedSender('node');
      await expect.poll(() => bundle.outcomes.waiting()).toBe(1);
      expect((await acceptOwn(sender)).rings).toEqual(['named-runs']);
      isBack = true;
      await store;
    });

    test('are released if the node stops while they are stored', async () => {
      await bundle.addDevices(1);
      let isStopping = false;
      const sender = bundle.makeNamedSender('node', { isStopping: () => isStopping });
      const storing = async (store: () => Promise<StoredPush[]>) => {
        const stored = await store();
        isStopping = true;
        return stored;
      };
      const { runId } = await acceptOwn(sender, { storing });
      await sender.settled();
      expect([bundle.sent, await chunkOf(runId)]).toMatchObject([[], { state: 'READY', attempt: 1, crashes: 0 }]);
    });

    test('are not sent when their run was stopped before they were read', async () => {
      await bundle.addDevices(1);
      const sender = bundle.makeNamedSender('node');
      const storing = async (store: () => Promise<StoredPush[]>) => {
        const stored = await store();
        await bundle.database`update runs set status = 'PAUSED', status_reason = 'x'`;
        return stored;
      };
      const { runId } = await acceptOwn(sender, { storing });
      await sender.settled();
      expect([bundle.sent, await chunkOf(runId)]).toMatchObject([[], { state: 'READY', attempt: 1, crashes: 0 }]);
    });
  });
});
