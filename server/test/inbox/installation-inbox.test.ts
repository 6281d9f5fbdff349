import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mergeUsers } from '../../src/app/users/users.ts';
import { exportRows } from '../../src/app/export.ts';
import { makeId } from '../../src/domain/ids.ts';
import { inboxContentId } from '../../src/domain/inbox.ts';
import { maxInboxMarks } from '../../src/domain/limits/inbox.ts';
import { makeDropOldRecords } from '../../src/engine/housekeeping/old-records.ts';
import { inTransaction } from '../../src/storage/database.ts';
import { makeInstallationBundle, secretOf } from '../installations/installation-bundle.ts';
import type { InstallationBundle, Phone } from '../installations/installation-bundle.ts';

let bundle: InstallationBundle;
const [phone, tablet, other]: [Phone, Phone, Phone] = [
  { id: 'phone-of-the-inbox-test', secret: secretOf('a') },
  { id: 'tablet-of-the-inbox-test', secret: secretOf('b') },
  { id: 'other-of-the-inbox-test', secret: secretOf('c') },
];
beforeAll(async () => {
  bundle = await makeInstallationBundle();
  for (const one of [phone, tablet, other]) await bundle.register(one);
  for (const one of [phone, tablet]) await bundle.signIn(one, 'ada');
  await bundle.signIn(other, 'eve');
});
afterAll(() => bundle?.stop());
beforeEach(() => bundle.database`delete from inbox_messages`);

const path = ({ id }: Phone) => `/v1/app/installations/${id}/inbox`;
const read = (one: Phone, query = '', secret = one.secret) => bundle.app('GET', `${path(one)}${query}`, { secret });
const mark = (one: Phone, body: object, secret = one.secret) => bundle.app('PATCH', path(one), { secret, body });
const unread = async (one: Phone) =>
  (await bundle.app('GET', `${path(one)}/unread`, { secret: one.secret })).body.unread_count as number;
const titles = ({ body }: { body: any }): string[] => body.messages.map(({ title }: any) => title);

type Keeping = { hours?: number; tags?: string[]; ago?: number; isShared?: boolean };

/** Puts a message into the inbox of a user, as a run does. @returns its id */
async function keep(customerId: string, title: string, { hours = 24, tags, ago = 0, isShared }: Keeping = {}) {
  const { database, workspaceId, clock } = bundle;
  const at = new Date(clock.now().getTime() - ago);
  const runId = makeId(at);
  const content = { title, message: 'Text', link: 'shop://cart', imageUrl: null, data: { cart: '7' } };
  const id = inboxContentId(content);
  const expiresAt = new Date(at.getTime() + hours * 3_600_000);
  if (isShared)
    await database`
      insert into inbox_contents (workspace_id, run_id, id, content, expires_at)
      values (${workspaceId}, ${runId}, ${id}, ${database.json(content)}, ${expiresAt})`;
  await database`
    insert into inbox_messages (workspace_id, bucket, user_id, run_id, campaign_id, content_id, content, tags, kept_at,
      expires_at, changed_at)
    select workspace_id, bucket, id, ${runId}, 'campaign', ${isShared ? id : null},
      ${isShared ? null : database.json(content)}, ${tags ?? null}, ${at}, ${expiresAt}, ${at}
    from users where customer_id = ${customerId}`;
  return runId;
}

describe('the inbox of an installation', () => {
  test('is that of its signed-in user, on all of the installations of the user', async () => {
    const id = await keep('ada', 'One', { tags: ['news'] });
    for (const one of [phone, tablet]) {
      const { status, body } = await read(one);
      expect(status).toBe(200);
      expect(body).toMatchObject({ unread_count: 1, next_cursor: null });
      expect(body.messages).toEqual([
        {
          ...{ id, title: 'One', message: 'Text', link: 'shop://cart', image_url: null, data: { cart: '7' } },
          ...{ tags: ['news'], campaign_id: 'campaign', read_at: null, archived_at: null },
          ...{ sent_at: expect.stringMatching(/Z$/), expires_at: expect.stringMatching(/Z$/) },
        },
      ]);
    }
    expect((await read(other)).body).toEqual({ messages: [], unread_count: 0, next_cursor: null });
  });

  test('is read page by page, newest first, also of messages of one instant', async () => {
    for (let n = 0; n < 7; n += 1)
      await keep('ada', `Message ${n}`, { ago: n < 3 ? 1_000 : n * 1_000, isShared: n % 2 === 0 });
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: any = await read(phone, `?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
      expect(page).toMatchObject({ status: 200 });
      expect(page.body.messages.length).toBeLessThanOrEqual(2);
      seen.push(...titles(page));
      cursor = page.body.next_cursor;
    }
    expect(seen.slice(3)).toEqual(['Message 3', 'Message 4', 'Message 5', 'Message 6']);
    expect(seen.toSorted()).toEqual(Array.from({ length: 7 }, (_, n) => `Message ${n}`));
  });

  test('shows messages of one tag, and archived ones apart', async () => {
    const news = await keep('ada', 'News', { tags: ['news', 'shop'] });
    await keep('ada', 'Other');
    expect(titles(await read(phone, '?tag=shop'))).toEqual(['News']);
    expect((await mark(phone, { ids: [news], archived: true })).body).toEqual({ unread_count: 1 });
    expect(titles(await read(phone))).toEqual(['Other']);
    expect(titles(await read(phone, '?archived=true'))).toEqual(['News']);
    await mark(phone, { ids: [news], archived: false });
    expect((await read(phone)).body.unread_count).toBe(2);
  });

  test('that is read on one device is read on the other, and a repeat changes nothing', async () => {
    const id = await keep('ada', 'One');
    await keep('ada', 'Two');
    expect((await mark(phone, { ids: [id], read: true })).body).toEqual({ unread_count: 1 });
    const { messages } = (await read(tablet)).body;
    const readAt = messages.find((message: any) => message.id === id).read_at;
    expect(readAt).not.toBeNull();
    bundle.clock.advance(60_000);
    await mark(tablet, { ids: [id], read: true });
    expect((await read(phone)).body.messages.find((message: any) => message.id === id).read_at).toBe(readAt);
    expect((await mark(tablet, { ids: [id], read: false })).body).toEqual({ unread_count: 2 });
    expect((await mark(phone, { all: true, read: true })).body).toEqual({ unread_count: 0 });
    const [counts] = await bundle.database`select sum(read)::int as read from inbox_counts where run_id = ${id}`;
    expect(counts!.read).toBe(1);
  });

  test('marks all messages up to a time, so that newer ones stay unread', async () => {
    await keep('ada', 'Old', { ago: 10_000 });
    await keep('ada', 'New');
    const until = new Date(bundle.clock.now().getTime() - 5_000).toISOString();
    expect((await mark(phone, { all: true, until, read: true })).body).toEqual({ unread_count: 1 });
  });

  test('does not let a user mark the messages of another', async () => {
    const id = await keep('ada', 'One');
    await mark(other, { ids: [id], read: true });
    expect(await unread(phone)).toBe(1);
  });

  test('rejects wrong requests', async () => {
    const id = makeId(bundle.clock.now());
    const wrong = [
      read(phone, '?limit=0'),
      read(phone, '?limit=101'),
      read(phone, '?cursor=none'),
      read(phone, '?archived=maybe'),
      mark(phone, {}),
      mark(phone, { ids: [id] }),
      mark(phone, { ids: ['x'], read: true }),
      mark(phone, { ids: [id], all: true, read: true }),
      mark(phone, { ids: [id], until: bundle.clock.now().toISOString(), read: true }),
      mark(phone, { ids: Array.from({ length: maxInboxMarks + 1 }, () => id), read: true }),
    ];
    expect((await Promise.all(wrong)).map(({ status }) => status)).toEqual(wrong.map(() => 400));
  });

  test('ends with its expiry, and its contents are deleted then', async () => {
    await keep('ada', 'Short', { hours: 1, isShared: true });
    await keep('ada', 'Long', { hours: 3 });
    bundle.clock.advance(2 * 3_600_000);
    expect(titles(await read(phone))).toEqual(['Long']);
    expect(await unread(phone)).toBe(1);
    const now = bundle.clock.now();
    const clock = { now: () => now, realNow: () => now };
    await makeDropOldRecords({ database: bundle.database, clock, inboxMessages: 10 }).runOnce(now);
    const left = await bundle.database`select (select count(*)::int from inbox_messages) as messages,
      (select count(*)::int from inbox_contents where expires_at < ${now}) as contents`;
    expect(left[0]).toEqual({ messages: 1, contents: 0 });
  });

  test('is exported, with the contents that users share', async () => {
    await keep('ada', 'Shared', { isShared: true });
    await keep('eve', 'Own');
    const lines: string[] = [];
    const { workspaceId, database } = bundle;
    const at = bundle.clock.now();
    const write = async (piece: string) => void lines.push(piece);
    await exportRows(database, { workspaceId, subject: { kind: 'inbox' }, format: 'ndjson', at, write });
    const rows = lines
      .join('')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(rows.map(({ customer_id, title }: any) => `${customer_id} ${title}`).sort()).toEqual([
      'ada Shared',
      'eve Own',
    ]);
  });
});

describe('what a device kept', () => {
  test('opens nothing without the right secret, and nothing once the user is signed out', async () => {
    const id = await keep('ada', 'Private');
    const codes = async (calls: Promise<{ status: number; body: any }>[]) =>
      (await Promise.all(calls)).map(({ status, body }) => `${status} ${body.code}`);
    const all = (secret: string) => [
      read(phone, '', secret),
      bundle.app('GET', `${path(phone)}/unread`, { secret }),
      mark(phone, { ids: [id], read: true }, secret),
    ];
    expect(await codes(all(other.secret))).toEqual(Array.from({ length: 3 }, () => '401 INSTALLATION_UNKNOWN'));
    await bundle.signOut(phone);
    expect(await codes(all(phone.secret))).toEqual(Array.from({ length: 3 }, () => '409 INSTALLATION_SIGNED_OUT'));
    expect(await unread(tablet)).toBe(1);
    await bundle.signIn(phone, 'eve');
    expect(titles(await read(phone))).toEqual([]);
    await bundle.signIn(phone, 'ada');
  });

  test('follows a user who is merged into another, and a message that both have stays once', async () => {
    const { workspaceId, database } = bundle;
    await bundle.signIn(other, 'old');
    await keep('ada', 'Both');
    await keep('old', 'Only the old one');
    await database`
      insert into inbox_messages (workspace_id, bucket, user_id, run_id, campaign_id, content, kept_at, expires_at, changed_at)
      select workspace_id, bucket, (select id from users where customer_id = 'old'), run_id, campaign_id, content, kept_at,
        expires_at, changed_at
      from inbox_messages where user_id = (select id from users where customer_id = 'ada')`;
    await database`
      update inbox_messages set bucket = (select bucket from users where customer_id = 'old')
      where user_id = (select id from users where customer_id = 'old')`;
    const pairs = [{ retained: 'ada', merged: 'old' }];
    await inTransaction(database, (tx) => mergeUsers(tx, { workspaceId, pairs, at: bundle.clock.now() }));
    expect(titles(await read(phone)).sort()).toEqual(['Both', 'Only the old one']);
    await bundle.signIn(other, 'eve');
  });
});
