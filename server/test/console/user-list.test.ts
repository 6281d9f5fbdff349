import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listUsers } from '../../src/app/users/list-users.ts';
import { makeManualClock } from '../../src/clock.ts';
import { inTransaction, beyondPolicies, planByValues } from '../../src/storage/database.ts';
import type { Transaction } from '../../src/storage/database.ts';
import { findUsersByPartOfId, findUsersByPartOfName, listNewestUsers } from '../../src/storage/users/user-list.ts';
import { collectPlans } from '../collect-plans.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { vacuumWhole } from '../vacuum-whole.ts';

const users = 6_000;
const workspaceId = 'W';
const idOf = (number: number) => number.toString(16).padStart(24, '0');

describe('the list of users', () => {
  let bundle: TestDatabase;
  const clock = makeManualClock(new Date('2026-03-20T09:00:00Z'));

  /** User 7 has a phone, an app and an event; every user has an address, the first three have names. */
  beforeAll(async () => {
    bundle = await createTestDatabase();
    const { database } = bundle;
    await database`
      insert into workspaces (id, db_name, name, created_at)
      values ('W', 'w', 'W', '2026-01-01'), ('V', 'v', 'V', '2026-01-01')`;
    await database`
      insert into users (workspace_id, bucket, id, customer_id, attributes, created_at, updated_at)
      select workspace, number % 256, lpad(to_hex(number), 24, '0'), 'Person-' || number,
        jsonb_build_object('u_em', number || '.mail@example.com')
          || case number when 1 then '{"u_n": "Ada Lovelace"}' when 2 then '{"u_fn": "Édith", "u_ln": "Piaf"}'
            when 3 then '{"u_n": "100% sure"}' else '{}' end::jsonb, '2026-03-01', '2026-03-01'
      from generate_series(1, ${users}) as number, unnest('{W,V}'::text[]) as workspace`;
    await database`
      insert into identifiers (workspace_id, bucket, user_id, attribute, type, value)
      select workspace_id, bucket, id, key, 'string', value from users, jsonb_each_text(attributes)`;
    await database`
      insert into devices (workspace_id, bucket, id, user_id, device_id, platform, push_id, state, registered_at, created_at, updated_at)
      select 'W', 7, number, ${idOf(7)}, 'device ' || number, platform, 'p' || number, state, '2026-03-05', '2026-03-05', '2026-03-05'
      from (values ('1', 'WEB', 'ACTIVE'), ('2', 'ANDROID', 'OPTED_OUT')) as given (number, platform, state)`;
    await database`select make_day_partition('events', '2026-03-18')`;
    await database`
      insert into events (day, workspace_id, bucket, id, user_id, name, attributes, occurred_at, received_at)
      values ('2026-03-18', 'W', 7, 'e1', ${idOf(7)}, 'Opened', '{}', '2026-03-18T10:00Z', '2026-03-18T10:00Z')`;
    await vacuumWhole(database);
  });
  afterAll(() => bundle.drop());

  const database = () => bundle.application.forWorkspace(workspaceId);
  const list = async (word?: string, after?: string) => {
    const page = await listUsers({ database: database(), clock }, { workspaceId, word, after });
    if (page.kind !== 'page') throw new Error('the search took too long');
    return page;
  };
  const namesOf = async (word: string) => (await list(word)).users.map(({ customerId }) => customerId);

  test('begins with the newest, and its pages have every user once', async () => {
    const seen: string[] = [];
    for (let after: string | undefined; ;) {
      const page = await list(undefined, after);
      seen.push(...page.users.map(({ customerId }) => customerId));
      if (!page.hasMore) break;
      expect(page.users).toHaveLength(50);
      after = page.users.at(-1)!.userId;
    }
    expect(seen).toEqual(Array.from({ length: users }, (_, index) => `Person-${users - index}`));
  });

  test('shows name, address, devices and when a user was last seen', async () => {
    const [user] = (await list('person-7', idOf(8))).users;
    expect(user).toMatchObject({
      ...{ customerId: 'Person-7', name: null, email: '7.mail@example.com' },
      ...{ devices: 1, platforms: ['ANDROID', 'WEB'], lastSeenAt: new Date('2026-03-18T10:00Z') },
    });
    expect((await list('piaf')).users[0]).toMatchObject({
      name: 'Édith Piaf',
      devices: 0,
      platforms: [],
      lastSeenAt: null,
    });
  });

  test.each([
    ['a part of the id', 'son-4999', ['Person-4999']],
    ['a part of the address', '1234.MAIL', ['Person-1234']],
    ['a part of the name', 'lovel', ['Person-1']],
    ['a part of a name in another script, in either case', 'éDITH', ['Person-2']],
    ['a whole name, of which two attributes have a part each', 'édith piaf', ['Person-2']],
    ['a whole name in the wrong order', 'piaf édith', []],
    ['something that is too long for a part', 'x'.repeat(201), []],
    ['signs that are no wildcards', '0% s', ['Person-3']],
    ['a sign that would be one', 'Person_1', []],
    ['nothing', 'nobody at all', []],
    ['two characters', 'so', []],
  ])('finds users by %s', async (_case, word, expected) => {
    expect(await namesOf(word)).toEqual(expected);
  });

  test('pages through a frequent word, and through what the trigram index finds, without gaps', async () => {
    for (const [word, count] of [
      ['example.com', users],
      ['person-12', 111],
    ] as const) {
      const seen = new Set<string>();
      for (let after: string | undefined; ;) {
        const page = await list(word, after);
        for (const { userId } of page.users) seen.add(userId);
        if (!page.hasMore) break;
        after = page.users.at(-1)!.userId;
      }
      expect([word, seen.size]).toEqual([word, count]);
    }
  });

  test('ends a search that takes too long, and says so', async () => {
    const deps = { database: database(), clock, searchSeconds: 0.001 };
    const search = { workspaceId, word: 'nobody at all', after: undefined };
    expect(await listUsers(deps, search)).toEqual({ kind: 'too slow', afterSeconds: 0.001 });
  });

  test('reads through indexes, however many users there are', async () => {
    const plans: string[] = [];
    await inTransaction(bundle.application.forWorkspace(workspaceId), async (tx) => {
      const collecting = collectPlans(tx, plans) as Transaction;
      await listNewestUsers(collecting, { workspaceId, after: idOf(500), limit: 51 });
      await planByValues(tx);
      await beyondPolicies(tx, async () => {
        const search = { workspaceId, after: undefined, word: 'lovelace', limit: 51 };
        await findUsersByPartOfId(collecting, search);
        await findUsersByPartOfName(collecting, search);
      });
    });
    expect(plans[0]).toContain('users_newest');
    expect(plans[1]).toContain('users_search');
    expect(plans[2]).toContain('identifiers_search');
  });
});
