import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { listPictures, removePicture, uploadPicture } from '../../src/app/pictures/manage-pictures.ts';
import type { PictureDependencies } from '../../src/app/pictures/manage-pictures.ts';
import { makeServePictures } from '../../src/app/pictures/serve-pictures.ts';
import { makeManualClock } from '../../src/clock.ts';
import { parsePictureFile } from '../../src/domain/pictures.ts';
import { makeRemovePictures } from '../../src/engine/pictures/remove-pictures.ts';
import { makeLog } from '../../src/log.ts';
import { makeOutgoingClient } from '../../src/outgoing/client.ts';
import { makeS3Store } from '../../src/outgoing/s3-store.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';
import { startSimulatedS3 } from './simulated-s3.ts';
import type { SimulatedS3 } from './simulated-s3.ts';

const start = new Date('2026-03-01T09:00:00Z');
const day = 86_400_000;
const origin = 'https://push.example.com';
const actor = { kind: 'account', id: null, name: 'Olga' } as const;
const log = makeLog({ level: 'silent', pretty: false });

describe.each(['the database', 'an object store'] as const)('pictures in %s', (place) => {
  let bundle: TestDatabase;
  let workspaceId: string;
  let clock: ReturnType<typeof makeManualClock>;
  let deps: PictureDependencies;
  let s3: SimulatedS3;
  let open: ReturnType<typeof makeServePictures>;
  const isExternal = place === 'an object store';

  beforeEach(async () => {
    bundle = await createTestDatabase();
    workspaceId = await insertTestWorkspace(bundle.database, start);
    clock = makeManualClock(start);
    s3 = await startSimulatedS3();
    s3.state.clock = () => clock.realNow();
    const client = makeOutgoingClient({ allowedNetworks: [], hosts: 'trusted' });
    const objects = isExternal
      ? makeS3Store({ client, bucketUrl: s3.bucketUrl, key: s3.key, now: () => clock.realNow() })
      : undefined;
    deps = {
      ...{ database: bundle.database, clock, log, objects, maxBytes: 1_000, publicUrl: origin, isSandbox: false },
      prepare: async (file) => ({ mediaType: 'image/jpeg', width: 20, height: 10, bytes: file }),
    };
    open = makeServePictures(deps);
  });
  afterEach(async () => {
    await s3.stop();
    await bundle.drop();
  });

  const upload = (text: string) =>
    uploadPicture(deps, { actor, workspaceId, origin: 'http://ignored', file: Buffer.from(text) });
  test('are listed page by page, and the oldest of many can be removed', async () => {
    const uploaded: string[] = [];
    for (let picture = 0; picture < 62; picture += 1) {
      clock.advance(60_000);
      uploaded.unshift((await upload(`p${picture}`)).id);
    }
    const page = async (before?: string) => {
      const { pictures, next } = await listPictures(deps, { workspaceId, origin, before });
      return { ids: pictures.map(({ id }) => id), next };
    };
    const first = await page();
    expect(first).toEqual({ ids: uploaded.slice(0, 60), next: uploaded[59] });
    await removePicture(deps, { actor, workspaceId, id: first.next! });
    const second = await page(first.next!);
    expect(second).toEqual({ ids: uploaded.slice(60), next: null });
    await removePicture(deps, { actor, workspaceId, id: second.ids[1]! });
    expect((await page(first.next!)).ids).toEqual([uploaded[60]]);
    expect((await page()).next).toBeNull();
  });

  const nameIn = (url: string) => parsePictureFile(url.slice(`${origin}/pictures/`.length))!;
  const isServed = (url: string): Promise<boolean> =>
    makeServePictures(deps)(nameIn(url)).then(
      () => true,
      () => false,
    );
  const list = () => listPictures(deps, { workspaceId, origin });
  const remove = (id: string) => removePicture(deps, { actor, workspaceId, id });
  const files = async () => {
    const [row] = await bundle.database<{ count: number }[]>`select count(*)::integer as count from picture_files`;
    return row!.count + s3.objects.size;
  };
  const runJob = async (job = makeRemovePictures({ ...deps, keptDays: 90 })) => {
    while ((await job.runOnce(clock.now())) > 0);
  };
  const contentWith = (url: string) => bundle.database.json({ ANDROID: { title: 'Hello', imageURL: url } });
  const addCampaign = (id: string, { status, url }: { status: string; url: string }) =>
    bundle.database`
      insert into campaigns (id, workspace_id, name, source, delivery_type, audience, platforms, content, timing, status,
        next_at, status_reason, created_by, created_at, updated_at)
      values (${id.repeat(24)}, ${workspaceId}, ${`Campaign ${id}`}, 'PUSH_API',
        ${status === 'RETIRED' ? 'PERIODIC' : 'ONE_TIME'}, 'ALL_USERS', '{ANDROID}', ${contentWith(url)},
        '{"kind": "soon"}', ${status}, ${status === 'SCHEDULED' ? start : null}, ${status === 'FAILED' ? 'x' : null}, 'bench',
        ${start}, ${start})`;
  type AddedRun = { of: string; status: 'QUEUED' | 'SENDING' | 'PAUSED' | 'SENT'; lane?: 0 | 1; url?: string };
  const addRuns = (ids: readonly string[], { of, status, lane = 1, url }: AddedRun) => {
    const at = clock.now();
    return bundle.database`
      insert into runs (id, workspace_id, campaign_id, lane, status, status_reason, content, day, send_until, created_at,
        started_at, ended_at)
      select id, ${workspaceId}, ${of.repeat(24)}, ${lane}, ${status}, ${status === 'PAUSED' ? 'x' : null},
        ${url === undefined ? null : contentWith(url)}, ${at.toISOString().slice(0, 10)}, ${new Date(at.getTime() + day)}, ${at},
        ${status === 'QUEUED' ? null : at}, ${status === 'SENT' ? at : null}
      from unnest(${[...ids]}::text[]) as id`;
  };

  test('are served under an address that cannot be guessed, and listed with it', async () => {
    const picture = await upload('first');
    expect(picture).toMatchObject({ mediaType: 'image/jpeg', width: 20, height: 10, bytes: 5, createdBy: 'Olga' });
    expect(picture.url).toMatch(/^https:\/\/push\.example\.com\/pictures\/[0-9a-f]{32}\.jpg$/);
    expect(await open(nameIn(picture.url))).toEqual({ mediaType: 'image/jpeg', bytes: Buffer.from('first') });
    expect(await list()).toEqual({
      ...{ pictures: [picture], next: null, usedBytes: 5, maxBytes: 1_000, fault: undefined, mayUpload: true },
    });
    expect([await files(), s3.objects.size]).toEqual([1, isExternal ? 1 : 0]);
    await expect(open({ name: '0'.repeat(32), mediaType: 'image/jpeg' })).rejects.toThrow('nothing with that id');
    await expect(open({ ...nameIn(picture.url), mediaType: 'image/png' })).rejects.toThrow('nothing with that id');
  });

  test('are stored once if the same one is uploaded again, by the same workspace', async () => {
    const picture = await upload('same');
    clock.advance(day);
    expect(await upload('same')).toEqual(picture);
    const other = await insertTestWorkspace(bundle.database, clock.now());
    const theirs = await uploadPicture(deps, { actor, workspaceId: other, origin, file: Buffer.from('same') });
    expect(theirs.url).not.toBe(picture.url);
    expect(await files()).toBe(2);
    expect((await list()).pictures).toHaveLength(1);
  });

  test('are limited by the space of the workspace, which a removed one returns', async () => {
    const first = await upload('a'.repeat(600));
    await expect(upload('b'.repeat(401))).rejects.toThrow('use all of its space');
    await upload('c'.repeat(400));
    await remove(first.id);
    await upload('b'.repeat(401));
    expect((await list()).usedBytes).toBe(801);
  });

  test('share their space between two uploads at once', async () => {
    const outcomes = await Promise.allSettled(['a', 'b', 'c'].map((text) => upload(text.repeat(400))));
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'fulfilled', 'rejected']);
  });

  test('are limited to 20 uploads a minute', async () => {
    for (let number = 0; number < 20; number += 1) await upload(`picture ${number}`);
    await expect(upload('one more')).rejects.toMatchObject({
      code: 'PICTURE_RATE_LIMITED',
      context: { retryAfterSeconds: 60 },
    });
    clock.advance(60_000);
    await upload('one more');
  });

  test('cannot be removed while a template or an unfinished campaign contains them', async () => {
    const picture = await upload('used');
    await addCampaign('a', { status: 'SCHEDULED', url: `https://old.example${new URL(picture.url).pathname}` });
    await expect(remove(picture.id)).rejects.toMatchObject({ code: 'PICTURE_IN_USE' });
    await bundle.database`update campaigns set status = 'SENT', next_at = null`;
    const parts = bundle.database.json({ campaign_content: { icon: picture.url } });
    await bundle.database`
      insert into campaign_templates (id, workspace_id, name, parts, created_by, created_at, updated_at)
      values (${'b'.repeat(24)}, ${workspaceId}, 'Monthly', ${parts}, 'bench', ${start}, ${start})`;
    await expect(remove(picture.id)).rejects.toMatchObject({ code: 'PICTURE_IN_USE' });
    await bundle.database`delete from campaign_templates`;
    await remove(picture.id);
    await expect(remove(picture.id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await isServed(picture.url)).toBe(false);
    await runJob();
    expect([await files(), (await bundle.database`select from pictures`).length]).toEqual([0, 0]);
    const actions = await bundle.database`select action from audit_log order by id`;
    expect(actions.map(({ action }) => action).sort()).toEqual(['picture.remove', 'picture.upload']);
  });

  test.each([
    ['QUEUED', 0],
    ['SENDING', 0],
    ['SENDING', 1],
    ['PAUSED', 0],
  ] as const)('cannot be removed while a run in %s of lane %d has them in its own content', async (status, lane) => {
    const picture = await upload('of the request');
    await addCampaign('a', {
      status: status === 'QUEUED' ? 'SCHEDULED' : 'SENT',
      url: 'https://elsewhere.example/a.jpg',
    });
    await addRuns(['r'], { of: 'a', status, lane, url: picture.url });
    await expect(remove(picture.id)).rejects.toMatchObject({ code: 'PICTURE_IN_USE' });
    await bundle.database`
      update runs set status = 'SENT', status_reason = null, started_at = ${clock.now()}, ended_at = ${clock.now()}`;
    await remove(picture.id);
  });

  test.each(['QUEUED', 'SENDING', 'PAUSED'] as const)(
    'cannot be removed while a run in %s sends a version that was replaced',
    async (status) => {
      const [sending, sent] = [await upload('sending'), await upload('sent')] as const;
      await addCampaign('a', { status: 'RETIRED', url: sending.url });
      await addCampaign('b', { status: 'RETIRED', url: sent.url });
      await addRuns(['r'], { of: 'a', status });
      await addRuns(['s'], { of: 'b', status: 'SENT' });
      await expect(remove(sending.id)).rejects.toMatchObject({ code: 'PICTURE_IN_USE' });
      await remove(sent.id);
    },
  );

  test('of another workspace cannot be removed', async () => {
    const picture = await upload('mine');
    const other = await insertTestWorkspace(bundle.database, clock.now());
    const asked = removePicture(deps, { actor, workspaceId: other, id: picture.id });
    await expect(asked).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await isServed(picture.url)).toBe(true);
  });

  test('are deleted 90 days after the last campaign that contains them has ended', async () => {
    const [used, unused, sent] = [await upload('used'), await upload('unused'), await upload('sent')] as const;
    await addCampaign('a', { status: 'SENDING', url: used.url });
    await addCampaign('b', { status: 'SENT', url: sent.url });
    await addRuns(['r'], { of: 'b', status: 'SENT' });
    const served = async () => [await isServed(used.url), await isServed(unused.url), await isServed(sent.url)];
    const lookUpAfter = async (days: number) => {
      clock.advance(days * day);
      // The look-up of a day is due when the one before is more than a day old.
      clock.advance(1);
      await runJob();
    };
    await lookUpAfter(1);
    await lookUpAfter(88);
    expect(await served()).toEqual([true, true, true]);
    await lookUpAfter(1);
    expect([await served(), await files()]).toEqual([[true, false, true], 2]);
    await lookUpAfter(1);
    expect([await served(), await files()]).toEqual([[true, false, false], 1]);
    await bundle.database`update campaigns set status = 'SENT'`;
    await lookUpAfter(89);
    expect(await served()).toEqual([true, false, false]);
    await lookUpAfter(2);
    expect([await served(), await files()]).toEqual([[false, false, false], 0]);
  });

  test('are kept for 90 days after a campaign or a push that began and ended between two look-ups', async () => {
    const [campaign, push, unused] = [await upload('campaign'), await upload('push'), await upload('unused')] as const;
    const served = async () => [await isServed(campaign.url), await isServed(push.url), await isServed(unused.url)];
    clock.advance(60 * day);
    await runJob();
    clock.advance(day / 4);
    await addCampaign('a', { status: 'SENT', url: campaign.url });
    await addCampaign('b', { status: 'SENT', url: 'https://elsewhere.example/b.jpg' });
    await addRuns(['r'], { of: 'a', status: 'SENT' });
    await addRuns(['s'], { of: 'b', status: 'SENT', lane: 0, url: push.url });
    clock.advance(day);
    await runJob();
    clock.advance(89 * day);
    await runJob();
    expect([await served(), await files()]).toEqual([[true, true, false], 2]);
    clock.advance(2 * day);
    await runJob();
    expect([await served(), await files()]).toEqual([[false, false, false], 0]);
  });

  test('are found in the last of more runs than one statement reads', async () => {
    const [inPush, inCampaign] = [await upload('push'), await upload('campaign')] as const;
    await addCampaign('a', { status: 'SENT', url: 'https://elsewhere.example/a.jpg' });
    await addCampaign('b', { status: 'SENT', url: inCampaign.url });
    // All of one instant, as pushes are that were stored together.
    const ids = Array.from({ length: 10_000 }, (_, index) => `r${String(index).padStart(5, '0')}`);
    await addRuns(ids, { of: 'a', status: 'SENT', lane: 0 });
    await addRuns(['s'], { of: 'a', status: 'SENT', lane: 0, url: inPush.url });
    await addRuns(['t'], { of: 'b', status: 'SENT' });
    clock.advance(2 * day);
    await runJob();
    clock.advance(90 * day);
    await runJob();
    expect([await isServed(inPush.url), await isServed(inCampaign.url)]).toEqual([true, true]);
  });

  test('of other workspaces are looked up although the look-up of one fails, which is tried again', async () => {
    const theirs = await upload('theirs');
    clock.advance(1_000);
    const other = await insertTestWorkspace(bundle.database, clock.now());
    const mine = await uploadPicture(deps, { actor, workspaceId: other, origin, file: Buffer.from('mine') });
    await bundle.database.unsafe(
      `alter table pictures add constraint fails check (workspace_id <> '${workspaceId}' or removed_at is null)`,
    );
    clock.advance(91 * day);
    const job = makeRemovePictures({ ...deps, keptDays: 90 });
    await expect(runJob(job)).rejects.toThrow('"fails"');
    expect([await isServed(theirs.url), await isServed(mine.url)]).toEqual([true, false]);
    await bundle.database`alter table pictures drop constraint fails`;
    await runJob(job);
    expect([await isServed(theirs.url), await files()]).toEqual([false, 0]);
  });

  test('are kept if only the clock of a sandbox is moved', async () => {
    const picture = await upload('kept');
    clock.setOffset(400 * day);
    await runJob();
    expect(await isServed(picture.url)).toBe(true);
  });

  test('are kept in memory for the devices that ask at once, for a minute', async () => {
    const { url, id } = await upload('asked for');
    await Promise.all(Array.from({ length: 50 }, () => open(nameIn(url))));
    await remove(id);
    expect((await open(nameIn(url))).bytes.toString()).toBe('asked for');
    clock.advance(61_000);
    await expect(open(nameIn(url))).rejects.toThrow('nothing with that id');
  });
});

describe('uploads', () => {
  let bundle: TestDatabase;
  let workspaceId: string;
  let s3: SimulatedS3;
  let deps: PictureDependencies;
  const clock = makeManualClock(start);
  beforeEach(async () => {
    bundle = await createTestDatabase();
    workspaceId = await insertTestWorkspace(bundle.database, start);
    s3 = await startSimulatedS3();
    s3.state.clock = () => clock.realNow();
    const client = makeOutgoingClient({ allowedNetworks: [], hosts: 'trusted' });
    deps = {
      ...{ database: bundle.database, clock, log, maxBytes: 1_000, publicUrl: origin, isSandbox: false },
      objects: makeS3Store({ client, bucketUrl: s3.bucketUrl, key: s3.key, now: () => clock.realNow() }),
      prepare: async (file) => ({ mediaType: 'image/png', width: 20, height: 10, bytes: file }),
    };
  });
  afterEach(async () => {
    await s3.stop();
    await bundle.drop();
  });
  const upload = (more: Partial<PictureDependencies> = {}) =>
    uploadPicture(
      { ...deps, ...more },
      { actor, workspaceId, origin: 'http://127.0.0.1:8080', file: Buffer.from('x') },
    );

  test('fail while the object store fails, leave no picture, and pass afterwards', async () => {
    s3.state.status = 500;
    await expect(upload()).rejects.toMatchObject({ code: 'PICTURE_STORE_UNAVAILABLE' });
    expect((await listPictures(deps, { workspaceId, origin })).pictures).toEqual([]);
    s3.state.status = undefined;
    const { url } = await upload();
    s3.state.status = 500;
    const open = makeServePictures(deps);
    const asked = parsePictureFile(new URL(url).pathname.slice('/pictures/'.length))!;
    await expect(open(asked)).rejects.toMatchObject({ code: 'PICTURE_STORE_UNAVAILABLE' });
    s3.state.status = undefined;
    expect((await open(asked)).bytes.toString()).toBe('x');
  });

  test('that died half-way are cleaned up after an hour, with the file that the store may have', async () => {
    const died = { ...deps.objects!, put: () => new Promise<never>(() => {}) };
    void upload({ objects: died });
    await expect.poll(async () => (await bundle.database`select from pictures`).length).toBe(1);
    const [row] = await bundle.database<{ name: string }[]>`select name from pictures`;
    await deps.objects!.put(`${workspaceId}/${row!.name}`, { bytes: Buffer.from('x'), mediaType: 'image/png' });
    const runJob = () => makeRemovePictures({ ...deps, keptDays: 90 }).runOnce(clock.now());
    await runJob();
    expect(s3.objects.size).toBe(1);
    clock.advance(61 * 60_000);
    s3.state.status = 500;
    expect(await runJob()).toBe(0);
    s3.state.status = undefined;
    expect(await runJob()).toBe(1);
    expect([s3.objects.size, (await bundle.database`select from pictures`).length]).toEqual([0, 0]);
  });

  test('need the public address; a sandbox uses the one of the call, and says that phones cannot load it', async () => {
    const asked = { workspaceId, origin: 'http://127.0.0.1:8080' };
    const nowhere = { ...deps, publicUrl: undefined };
    await expect(upload({ publicUrl: undefined })).rejects.toMatchObject({ code: 'PICTURE_ADDRESS_UNKNOWN' });
    expect(await listPictures(nowhere, asked)).toMatchObject({ fault: 'NO_PUBLIC_URL', mayUpload: false });
    const { url } = await upload({ publicUrl: undefined, isSandbox: true });
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:8080\/pictures\//);
    const shown = await listPictures({ ...nowhere, isSandbox: true }, asked);
    expect(shown).toMatchObject({ fault: 'NO_PUBLIC_URL', mayUpload: true });
    const plain = await listPictures({ ...deps, publicUrl: 'http://push.example.com' }, asked);
    expect(plain).toMatchObject({ fault: 'NOT_HTTPS', mayUpload: true });
  });
});
