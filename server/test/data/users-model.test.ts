import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { acceptDeletion, acceptDevice, acceptMerge, acceptUser } from '../../src/app/data.ts';
import type { DataDependencies } from '../../src/app/data.ts';
import { makeEnsureToday } from '../../src/app/users/events.ts';
import { deviceIdentifiersOf } from '../../src/domain/users/devices.ts';
import { identifiersOf } from '../../src/domain/users/users.ts';
import type { Attributes } from '../../src/domain/users/user-attributes.ts';
import { makeEraseDueUsers } from '../../src/engine/housekeeping/erase-users.ts';
import { openDatabase } from '../../src/storage/database.ts';
import type { Database } from '../../src/storage/database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';
import { makeDataBundle, start } from './data-bundle.ts';
import type { DataBundle } from './data-bundle.ts';
import { propertyRuns } from '../property-runs.ts';

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

type Device = { push: string; gaid: string | undefined; registered: number };
type User = { attributes: Attributes; devices: Map<string, Device> };

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
      await acceptDevice(node, { command: { workspaceId, customerId, ...device, ...gaid }, once }).catch(unlessUnknown);
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

function unlessUnknown(error: { code?: string }): void {
  if (error.code !== 'DATA_USER_NOT_FOUND') throw error;
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

/** Member order and the two zeros are no difference in JSON. */
const plainJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

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

test('people, devices and identifiers are what the model says, whatever comes, over two nodes', async () => {
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
