import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { acceptDeletion, acceptDevice, acceptMerge, acceptUser } from '../../src/app/data.ts';
import type { DataDependencies } from '../../src/app/data.ts';
import { makeEnsureToday } from '../../src/app/users/events.ts';
import { deviceIdentifiersOf } from '../../src/domain/users/devices.ts';
import type { Attributes } from '../../src/domain/users/user-attributes.ts';
import { identifiersOf } from '../../src/domain/users/users.ts';
import { makeEraseDueUsers } from '../../src/engine/housekeeping/erase-users.ts';
import { openDatabase } from '../../src/storage/database.ts';
import type { Database } from '../../src/storage/database.ts';
import { propertyRuns } from '../property-runs.ts';
import { insertTestWorkspace } from '../test-workspace.ts';
import { addHistory, addMember, addRun, addSegment } from './add-history.ts';
import { makeDataBundle, start } from './data-bundle.ts';
import type { DataBundle } from './data-bundle.ts';

describe('a merge of users', () => {
  let bundle: DataBundle;
  beforeAll(async () => {
    bundle = await makeDataBundle({ requestsPerMinute: 100_000 });
  });
  afterAll(() => bundle.end());

  const merge = (...pairs: [merged: string, retained: string][]) =>
    bundle.call('/v1/customer/merge', {
      merge_data: pairs.map(([merged, retained]) => ({ merged_user: merged, retained_user: retained })),
    });
  const keyOf = async (customerId: string) => {
    const [row] = await bundle.database`select bucket, id from users where customer_id = ${customerId}`;
    return row as unknown as { bucket: number; id: string };
  };
  /** Rows of a table under a user's key. */
  const rowsOf = async (table: string, { bucket, id }: { bucket: number; id: string }): Promise<number> => {
    const [row] = await bundle.database`
      select count(*) as rows from ${bundle.database(table === 'deliveries' ? 'readable_deliveries' : table)} where bucket = ${bucket} and user_id = ${id}`;
    return row!.rows as number;
  };
  const tables = ['devices', 'identifiers', 'events', 'conversions', 'deliveries', 'segment_members'];

  test('moves everything of the merged user to the retained one, in its bucket', async () => {
    await addHistory(bundle, 'from');
    await bundle.addUser('to', { both: 'to', mine: 1 });
    await bundle.addDevice('to', 'tablet');
    const [from, to] = [await keyOf('from'), await keyOf('to')];
    expect(from.bucket).not.toBe(to.bucket);
    const answer = await merge(['from', 'to']);
    expect([answer.status, answer.body]).toEqual([200, { status: 'success', operation: 'created' }]);
    for (const table of tables) expect([table, await rowsOf(table, from)]).toEqual([table, 0]);
    const counts = await Promise.all(tables.map((table) => rowsOf(table, to)));
    expect(Object.fromEntries(tables.map((table, index) => [table, counts[index]]))).toEqual({
      devices: 2,
      identifiers: 7,
      events: 1,
      conversions: 1,
      deliveries: 2,
      segment_members: 1,
    });
    expect(await keyOf('from')).toBeUndefined();
    expect(await bundle.attributes('to')).toEqual({ u_em: 'from@example.com', only: 'from', both: 'to', mine: 1 });
    expect(await bundle.identifiers('to')).toEqual([
      'both:string=to',
      'device:gaid:string=gaid-of-from',
      'device:push_id:string=token-from-phone-of-from',
      'device:push_id:string=token-to-tablet',
      'mine:double=1',
      'only:string=from',
      'u_em:string=from@example.com',
    ]);
    const orphans = await bundle.database`
      with claimed as materialized (select workspace_id, bucket, device_row_id from push_addresses),
        owned as materialized (select workspace_id, bucket, id from devices)
      select 1 from claimed left join owned on owned.workspace_id = claimed.workspace_id
        and owned.bucket = claimed.bucket and owned.id = claimed.device_row_id
      where owned.id is null`;
    expect(orphans).toHaveLength(0);
    const [event] = await bundle.database`
      select events.device_row_id = devices.id as same from events
      join devices on devices.bucket = events.bucket and devices.push_id = 'token-from-phone-of-from'
      where events.user_id = ${to.id}`;
    expect(event!.same).toBe(true);
  });

  test('hides a moved device from a current run, because its row is newer than the audience', async () => {
    await bundle.addUser('moving');
    await bundle.addDevice('moving', 'd');
    await bundle.addUser('staying');
    const [before] = await bundle.database`select id from devices where push_id = 'token-moving-d'`;
    bundle.clock.advance(1);
    await merge(['moving', 'staying']);
    const [after] = await bundle.database`select id from devices where push_id = 'token-moving-d'`;
    expect((after!.id as string) > (before!.id as string)).toBe(true);
  });

  test('allows keeping a suspect that left the audience, and clears strikes that were not enough', async () => {
    for (const user of ['suspects', 'keeper']) await bundle.addUser(user);
    for (const device of ['suspect-left', 'suspect-stays']) await bundle.addDevice('suspects', device);
    await bundle.database`
      update devices set suspected_code = '404', suspected_sends = 3, suspected_since = '2026-02-01', suspected_at = '2026-02-05'
      where user_id = (select id from users where customer_id = 'suspects')`;
    await bundle.database`
      update devices set state = 'GONE', gone_at = '2026-02-05', gone_reason = '404' where device_id = 'suspect-left'`;
    await merge(['suspects', 'keeper']);
    const moved = await bundle.database`
      select device_id, state, suspected_code, suspected_sends, suspected_since is null as is_forgotten from devices
      where device_id in ('suspect-left', 'suspect-stays') order by device_id`;
    expect([...moved]).toEqual([
      {
        ...{ device_id: 'suspect-left', state: 'GONE', suspected_code: '404', suspected_sends: 3, is_forgotten: false },
      },
      {
        ...{
          device_id: 'suspect-stays',
          state: 'ACTIVE',
          suspected_code: null,
          suspected_sends: null,
          is_forgotten: true,
        },
      },
    ]);
  });

  test('moves a waiting delivery with its device, and keeps the device id of a sent one', async () => {
    await bundle.addUser('waits');
    await bundle.addDevice('waits', 'd');
    await bundle.addUser('waits-no-more');
    const [old] = await bundle.database`select id from devices where push_id = 'token-waits-d'`;
    await addRun(bundle, 'waits', 'WAITING');
    await addRun(bundle, 'waits', 'ACCEPTED');
    await merge(['waits', 'waits-no-more']);
    const [now] = await bundle.database`select id from devices where push_id = 'token-waits-d'`;
    const { id } = await keyOf('waits-no-more');
    const rows = await bundle.database`
      select outcome, device_id from readable_deliveries as deliveries where user_id = ${id} order by outcome`;
    expect([...rows]).toEqual([
      { outcome: 'ACCEPTED', device_id: old!.id },
      { outcome: 'WAITING', device_id: now!.id },
    ]);
  });

  describe('the merged customer id', () => {
    test('identifies the retained user for changes, devices, events, exports and further merges', async () => {
      for (const name of ['old', 'new', 'third']) await bundle.addUser(name);
      await merge(['old', 'new']);
      await bundle.addUser('old', { told: 'by the old id' });
      await bundle.addDevice('old', 'd');
      await bundle.call('/v1/event/', { type: 'event', customer_id: 'old', actions: [{ action: 'Late' }] });
      expect(await bundle.attributes('new')).toEqual({ told: 'by the old id' });
      expect(await bundle.attributes('old')).toBeUndefined();
      expect((await bundle.devices()).find((row) => row.push === 'token-old-d')!.customer).toBe('new');
      expect(await rowsOf('events', await keyOf('new'))).toBe(1);
      const identifiers = [{ identifier_type: 'customer_id', identifier: 'old' }];
      const exported = await bundle.call('/v1/customers/export', { data: { identifiers } });
      expect(exported.body.data.users[0]!.user_attributes.customer_id).toBe('new');
      await merge(['new', 'third']);
      await bundle.addUser('old', { chain: true });
      expect(await bundle.attributes('third')).toEqual({ told: 'by the old id', chain: true });
    });

    test('makes a repeated merge change nothing', async () => {
      for (const name of ['repeat-a', 'repeat-b']) await bundle.addUser(name, { label: name });
      await merge(['repeat-a', 'repeat-b']);
      expect((await merge(['repeat-a', 'repeat-b'])).status).toBe(200);
      expect(await bundle.attributes('repeat-b')).toEqual({ label: 'repeat-b' });
    });

    test('loses no data that arrives for it during the merge, and creates no new user', async () => {
      await bundle.addUser('busy');
      await bundle.addUser('calm');
      const changes = Array.from({ length: 30 }, (_, n) => bundle.addUser('busy', { [`k${n}`]: n }));
      const events = Array.from({ length: 10 }, () =>
        bundle.call('/v1/event/', { type: 'event', customer_id: 'busy', actions: [{ action: 'Busy' }] }),
      );
      const answers = await Promise.all([...changes, merge(['busy', 'calm']), ...events]);
      expect(answers.map((answer) => ('statusCode' in answer ? answer.statusCode : answer.status))).toEqual(
        Array.from({ length: 41 }, () => 200),
      );
      expect(await keyOf('busy')).toBeUndefined();
      expect(Object.keys((await bundle.attributes('calm'))!)).toHaveLength(30);
      const [named] = await bundle.database`select count(*) as events from events where name = 'Busy'`;
      expect([named!.events, await rowsOf('events', await keyOf('calm'))]).toEqual([10, 10]);
    });
  });

  test('keeps the later registered of two devices with one name, and a blocked one whatever its age', async () => {
    for (const name of ['clash-a', 'clash-b']) await bundle.addUser(name);
    await bundle.addDevice('clash-a', 'newer-there');
    await bundle.addDevice('clash-b', 'blocked');
    await bundle.database`
      update devices set state = 'BLOCKED', blocked_state = 'ACTIVE', blocked_at = registered_at
      where push_id = 'token-clash-b-blocked'`;
    bundle.clock.advance(1_000);
    for (const device of ['newer-there', 'blocked'])
      await bundle.addDevice(device === 'blocked' ? 'clash-a' : 'clash-b', device);
    await bundle.addDevice('clash-b', 'newer-here');
    bundle.clock.advance(1_000);
    await bundle.addDevice('clash-a', 'newer-here');
    await merge(['clash-a', 'clash-b']);
    const kept = (await bundle.devices()).filter((row) => row.customer === 'clash-b');
    expect(Object.fromEntries(kept.map((row) => [row.device, `${row.push} ${row.state}`]))).toEqual({
      blocked: 'token-clash-b-blocked BLOCKED',
      'newer-here': 'token-clash-a-newer-here ACTIVE',
      'newer-there': 'token-clash-b-newer-there ACTIVE',
    });
    const addresses = await bundle.database`
      select encode(address_hash, 'hex') from push_addresses
      where address_hash in (sha256('token-clash-a-newer-there'), sha256('token-clash-a-blocked'))`;
    expect(addresses).toHaveLength(0);
  });

  test('reduces the size of a segment if both were members, and keeps one membership', async () => {
    const [shared, only] = [await addSegment(bundle, 'Shared'), await addSegment(bundle, 'Only')];
    for (const name of ['member-a', 'member-b']) {
      await bundle.addUser(name);
      await addMember(bundle, shared, name);
    }
    await addMember(bundle, only, 'member-a');
    // member-b was in the segment before: the new membership begins where that one ended.
    const { bucket, id } = await keyOf('member-b');
    await bundle.database`
      insert into segment_members (workspace_id, bucket, segment_id, user_id, added_in, removed_in)
      values (${bundle.workspaceId}, ${bucket}, ${only}, ${id}, 1, 5)`;
    await merge(['member-a', 'member-b']);
    const segments = await bundle.database`
      select segments.name, segments.user_count as users, array_agg(member.added_in order by added_in) as since
      from segments join segment_members as member on member.segment_id = segments.id
      where segments.id in (${shared}, ${only}) group by 1, 2 order by 1`;
    expect([...segments]).toEqual([
      { name: 'Only', users: 1, since: [1, 5] },
      { name: 'Shared', users: 1, since: [1] },
    ]);
  });

  describe('a rejected merge that changes nothing', () => {
    test.each([
      ['an unknown user', [['nobody', 'kept']], 'ValueError', "'merge_data[0].merged_user' must exist"],
      ['an unknown one to be kept', [['kept', 'nobody']], 'ValueError', "'merge_data[0].retained_user' must exist"],
      ['one user twice', [['kept', 'kept']], 'ValueError', /another user/],
      ['a reserved id', [['guest', 'kept']], 'ValueError', /reserved/],
      [
        'a good pair and a bad one',
        [
          ['other', 'kept'],
          ['nobody', 'kept'],
        ],
        'ValueError',
        /merge_data\[1\]/,
      ],
    ] as const)('is reported for %s', async (...[, pairs, type, message]) => {
      await bundle.addUser('kept', { kept: true });
      await bundle.addUser('other', { other: true });
      const answer = await merge(...(pairs as unknown as [string, string][]));
      expect([answer.status, answer.body.error.type]).toEqual([400, type]);
      expect(answer.body.error.message).toMatch(message);
      expect([await bundle.attributes('kept'), await bundle.attributes('other')]).toEqual([
        { kept: true },
        { other: true },
      ]);
    });

    test('is reported for more than 50 pairs', async () => {
      const answer = await merge(...Array.from({ length: 51 }, (_, n): [string, string] => [`a${n}`, `b${n}`]));
      expect(answer.body.error).toMatchObject({ type: 'LimitBreached', message: 'max limit allowed is 50' });
    });

    test('is reported for a user who is due for deletion', async () => {
      await bundle.addUser('doomed');
      await bundle.addUser('heir');
      await bundle.call('/v1/customer/delete', { identity_type: 'customer_id', identity_value: 'doomed' });
      for (const pair of [
        ['doomed', 'heir'],
        ['heir', 'doomed'],
      ] as [string, string][])
        expect((await merge(pair)).body.error.message).toMatch(/to be deleted/);
    });
  });

  test('combines the messages sent to both for the retained user, newest last', async () => {
    await addMessage('twofold-a', ['r1', 'r3'], [1, 3]);
    await addMessage('twofold-b', ['r2', 'r3'], [2, 3]);
    await merge(['twofold-a', 'twofold-b']);
    const rows = await bundle.database`
      select run_ids as runs, campaign_ids as campaigns, is_counted as counted, users.customer_id as customer
      from user_messages join users on users.bucket = user_messages.bucket and users.id = user_messages.user_id
      where users.customer_id like 'twofold-%'`;
    expect([...rows]).toEqual([
      {
        runs: ['r1', 'r2', 'r3'],
        campaigns: ['c-r1', 'c-r2', 'c-r3'],
        counted: [true, true, true],
        customer: 'twofold-b',
      },
    ]);
  });

  test('ends with one user for concurrent merges in opposite directions', async () => {
    for (const name of ['ring-a', 'ring-b']) await bundle.addUser(name, { [name]: true });
    const answers = await Promise.all([merge(['ring-a', 'ring-b']), merge(['ring-b', 'ring-a'])]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const left = [await bundle.attributes('ring-a'), await bundle.attributes('ring-b')].filter(Boolean);
    expect(left).toEqual([{ 'ring-a': true, 'ring-b': true }]);
  });

  async function addMessage(customerId: string, runs: string[], hours: number[]): Promise<void> {
    await bundle.addUser(customerId, {});
    await bundle.database`
      insert into user_messages (workspace_id, bucket, user_id, revision, run_ids, campaign_ids, sent_at, is_counted)
      select workspace_id, bucket, id, 1, ${runs}::text[], ${runs.map((run) => `c-${run}`)}::text[],
        ${hours.map((hour) => new Date(start.getTime() + hour * 3_600_000).toISOString())}::timestamptz[], array_fill(true, array[${runs.length}::int])
      from users where workspace_id = ${bundle.workspaceId} and customer_id = ${customerId}`;
  }
});

type Device = { push: string; gaid: string | undefined; registered: number };
type User = { attributes: Attributes; devices: Map<string, Device> };

describe('users, devices and identifiers', () => {
  let bundle: DataBundle;
  let second: Database;
  let nodes: DataDependencies[];
  beforeAll(async () => {
    bundle = await makeDataBundle();
    second = openDatabase({ url: bundle.url, connections: 5, name: 'second node' });
    const deps = { clock: bundle.clock, encryption: bundle.encryption, erasureDelayHours: 0 };
    nodes = [bundle.database, second].map((database) => ({
      ...deps,
      database,
      ensureToday: makeEnsureToday({ ...deps, database }),
    }));
  });
  afterAll(async () => {
    await second.end();
    await bundle.end();
  });

  const names = ['p0', 'p1', 'p2'] as const;
  type Name = (typeof names)[number];
  const name = fc.constantFrom(...names);
  const attribute = fc.constantFrom('a', 'b', 'c');
  const plain = fc.oneof(
    fc.constantFrom('x', 'y', 'Zu\u0308rich', '2026-03-01T12:00:00Z', ''),
    fc.constantFrom(0, -0, 7, 7.5, 1e21),
    fc.boolean(),
    fc.constantFrom({ deep: [1] }, { deep: [1], more: null }),
  );
  const list = fc.array(plain, { maxLength: 3 });
  const change = fc.oneof(
    { weight: 4, arbitrary: plain },
    { weight: 2, arbitrary: list },
    { weight: 1, arbitrary: fc.constant(null) },
    { weight: 2, arbitrary: list.map((values) => ({ addValueToArrayField: values })) },
    { weight: 2, arbitrary: fc.oneof(list, plain).map((values) => ({ removeValueFromArrayField: values })) },
  );
  const command = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('customer' as const),
        who: name,
        attributes: fc.dictionary(attribute, change, { noNullPrototype: true }),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('device' as const),
        who: name,
        device: fc.constantFrom('phone', 'tablet'),
        push: fc.nat(4),
        gaid: fc.constantFrom(undefined, 'g1', 'g2'),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('merge' as const), who: name, into: name }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), who: name }) },
  );
  type Command = typeof command extends fc.Arbitrary<infer T> ? T : never;
  /** Each step: commands that run at once, each on one of the nodes. */
  const steps = fc.array(fc.array(fc.record({ node: fc.nat(1), command }), { minLength: 1, maxLength: 3 }), {
    minLength: 1,
    maxLength: 16,
  });

  /** What people, merges and deletions mean, in the plainest words: no buckets, no rows, no order of locks. */
  class Model {
    readonly users = new Map<Name, User>();
    readonly merged = new Map<Name, Name>();
    private registered = 0;

    find(who: Name): Name | undefined {
      const meant = this.merged.get(who) ?? who;
      return this.users.has(meant) ? meant : undefined;
    }

    apply(given: Command): void {
      const meant = this.find(given.who);
      switch (given.kind) {
        case 'customer': {
          if (!meant) this.users.set(given.who, { attributes: {}, devices: new Map() });
          const user = this.users.get(meant ?? given.who)!;
          for (const [key, value] of Object.entries(given.attributes)) this.change(user.attributes, key, value);
          return;
        }
        case 'device': {
          if (!meant) return;
          const wasOwned = this.users.get(meant)!.devices.get(given.device);
          for (const { devices } of this.users.values())
            for (const [device, { push }] of devices) if (push === `push-${given.push}`) devices.delete(device);
          this.registered += 1;
          const { devices: owned } = this.users.get(meant)!;
          const gaid = given.gaid ?? (wasOwned ? wasOwned.gaid : undefined);
          owned.set(given.device, { push: `push-${given.push}`, gaid, registered: this.registered });
          return;
        }
        case 'merge': {
          const into = this.find(given.into);
          if (given.who === given.into || !meant || !into || meant === into) return;
          const [from, to] = [this.users.get(meant)!, this.users.get(into)!];
          to.attributes = { ...from.attributes, ...to.attributes };
          for (const [device, theirs] of from.devices)
            if (theirs.registered > (to.devices.get(device)?.registered ?? 0)) to.devices.set(device, theirs);
          this.users.delete(meant);
          for (const [old, now] of this.merged) if (now === meant) this.merged.set(old, into);
          this.merged.set(meant, into);
          return;
        }
        case 'delete':
          if (!meant) return;
          this.users.delete(meant);
          for (const [old, now] of this.merged) if (now === meant) this.merged.delete(old);
          return;
        default: {
          const never: never = given;
          throw new Error(JSON.stringify(never));
        }
      }
    }

    private change(attributes: Attributes, key: string, value: unknown): void {
      const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
      const toList = (given: unknown): unknown[] => (Array.isArray(given) ? given : [given]);
      if (value === null) delete attributes[key];
      else if (typeof value === 'object' && 'addValueToArrayField' in value) {
        const items = attributes[key] === undefined ? [] : [...toList(attributes[key])];
        for (const item of toList(value.addValueToArrayField))
          if (!items.some((other) => same(other, item))) items.push(item);
        attributes[key] = items;
      } else if (typeof value === 'object' && 'removeValueFromArrayField' in value) {
        const gone = toList(value.removeValueFromArrayField);
        const items = attributes[key] === undefined ? [] : toList(attributes[key]);
        attributes[key] = items.filter((item) => !gone.some((other) => same(other, item)));
      } else attributes[key] = JSON.parse(JSON.stringify(value));
    }
  }

  /** Member order and the two zeros are no difference in JSON. */
  const plainJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

  test('match the model after any commands on two nodes', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (given) => {
        const workspaceId = await insertTestWorkspace(bundle.database, start);
        const model = new Model();
        for (const step of given) {
          const taken = new Set<string>();
          const together = step.filter(({ command: one }) => {
            const whom = concerned(model, one);
            if (whom.some((who) => taken.has(who))) return false;
            for (const who of whom) taken.add(who);
            return true;
          });
          await Promise.all(together.map(({ node, command: one }) => carryOut(nodes[node]!, workspaceId, one)));
          for (const { command: one } of together) model.apply(one);
          bundle.clock.advance(1_000);
        }
        expect(plainJson(await readUsers(workspaceId))).toEqual(plainJson(expected(model)));
      }),
      { numRuns: propertyRuns(300) },
    );
  }, 120_000);

  /** Whom a command concerns: commands at one time are about different people, so that their order does not matter. */
  function concerned(model: Model, given: Command): string[] {
    const whos = given.kind === 'merge' ? [given.who, given.into] : [given.who];
    const users = whos.flatMap((who) => [who, model.find(who) ?? who]);
    return given.kind === 'device' ? [...users, 'addresses'] : users;
  }

  async function carryOut(node: DataDependencies, workspaceId: string, given: Command): Promise<void> {
    const once = { key: undefined, rawBody: '', requestId: 'x' };
    const [identity, customerId] = [{ kind: 'customer-id' as const, value: given.who }, given.who];
    switch (given.kind) {
      case 'customer':
        await acceptUser(node, {
          command: { workspaceId, customerId, attributes: given.attributes as Attributes },
          once,
        });
        return;
      case 'device': {
        const device = { deviceId: given.device, platform: 'ANDROID' as const, pushId: `push-${given.push}` };
        const gaid = given.gaid === undefined ? {} : { gaid: given.gaid };
        await acceptDevice(node, { command: { workspaceId, customerId, ...device, ...gaid }, once }).catch(
          unlessUnknown,
        );
        return;
      }
      case 'merge': {
        if (given.who === given.into) return;
        const command = { workspaceId, pairs: [{ merged: given.who, retained: given.into }] };
        await acceptMerge(node, { command, once }).catch(unlessUnknown);
        return;
      }
      case 'delete':
        await acceptDeletion(node, { command: { workspaceId, identity }, once }).catch(unlessUnknown);
        while ((await makeEraseDueUsers(bundle).runOnce(bundle.clock.now())) > 0);
    }
  }

  async function readUsers(workspaceId: string) {
    const { database } = bundle;
    const rows = await database`
      select users.customer_id as name, users.attributes, coalesce((
          select jsonb_object_agg(device_id, push_id) from devices
          where devices.workspace_id = users.workspace_id and devices.bucket = users.bucket and devices.user_id = users.id
        ), '{}') as devices
      from users where workspace_id = ${workspaceId} order by 1`;
    const identifiers = await database`
      select users.customer_id as name, attribute, type, value from identifiers
      left join users on users.workspace_id = identifiers.workspace_id and users.bucket = identifiers.bucket
        and users.id = identifiers.user_id
      where identifiers.workspace_id = ${workspaceId}`;
    return {
      users: rows.map((row) => ({ ...row })),
      identifiers: identifiers.map((row) => JSON.stringify({ ...row })).sort(),
    };
  }

  function expected(model: Model) {
    const users = [...model.users].sort(([a], [b]) => (a < b ? -1 : 1));
    return {
      users: users.map(([who, { attributes, devices }]) => ({
        name: who,
        attributes: plainJson(attributes),
        devices: Object.fromEntries([...devices].map(([device, { push }]) => [device, push])),
      })),
      identifiers: users
        .flatMap(([who, { attributes, devices }]) =>
          [
            ...identifiersOf(attributes),
            ...[...devices.values()].flatMap(({ push, gaid }) => deviceIdentifiersOf({ pushId: push, gaid })),
          ].map(({ attribute: named, type, value }) => JSON.stringify({ name: who, attribute: named, type, value })),
        )
        .filter((text, index, all) => all.indexOf(text) === index)
        .sort(),
    };
  }
});

function unlessUnknown(error: { code?: string }): void {
  if (error.code !== 'DATA_USER_NOT_FOUND') throw error;
}
