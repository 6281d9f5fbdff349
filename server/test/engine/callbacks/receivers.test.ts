import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeClock, makeManualClock } from '../../../src/clock.ts';
import { makeEncryption } from '../../../src/domain/crypto/encryption.ts';
import { makeId } from '../../../src/domain/ids.ts';
import { makeDropOldRecords } from '../../../src/engine/housekeeping/old-records.ts';
import { startJob } from '../../../src/engine/jobs/job.ts';
import { makeOutcomeBuffer } from '../../../src/engine/jobs/outcome-buffer.ts';
import { makeDeliverCallbacks } from '../../../src/engine/outbox/callbacks.ts';
import { makeReceiverSlots } from '../../../src/engine/outbox/receiver-slots.ts';
import type { ContactKind, Receiver, ReceiverSlots, Slot } from '../../../src/engine/outbox/receiver-slots.ts';
import type { CallbackAnswer, PostCallback } from '../../../src/engine/outbox/receivers.ts';
import { makeLog } from '../../../src/log.ts';
import type { Logger } from '../../../src/log.ts';
import { makeOutgoingClient, postOnce } from '../../../src/outgoing/client.ts';
import { readMetricFigures } from '../../../src/storage/installation/metrics.ts';
import { hasDueWork, readQueues } from '../../../src/storage/installation/queues.ts';
import { findMessage, insertCallback } from '../../../src/storage/outbox/outbox.ts';
import { awaitArrival, startReceiver, startSilentReceiver } from '../../receivers/silent-server.ts';
import type { TestReceiver } from '../../receivers/silent-server.ts';
import { createTestDatabase } from '../../test-database.ts';
import { insertTestWorkspace } from '../../test-workspace.ts';

describe('an unresponsive receiver of callbacks', () => {
  const start = new Date('2026-03-01T12:00:00Z');
  const second = 1000;
  const ok: CallbackAnswer = { kind: 'answered', status: 200 };
  const silent: CallbackAnswer = { kind: 'failed', error: 'timeout' };

  let bundle: Awaited<ReturnType<typeof makePauseBundle>>;
  beforeEach(async () => {
    bundle = await makePauseBundle();
  });
  afterEach(() => bundle.drop());

  const after = (seconds: number): Date => new Date(bundle.clock.now().getTime() + seconds * second);

  test('is paused after three failed attempts in a row, without using attempts of the callbacks behind it', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 10; count += 1) ids.push(await bundle.insert());
    expect(await bundle.run()).toBe(3);
    expect(await bundle.pausedUntil()).toEqual(after(5));
    const found = await Promise.all(ids.map((id) => bundle.find(id)));
    expect(found.filter(({ attempts }) => attempts === 1)).toHaveLength(3);
    const waiting = found.filter(({ attempts }) => attempts === 0);
    expect(waiting).toHaveLength(7);
    for (const { state, nextAt } of waiting) expect({ state, nextAt }).toEqual({ state: 'PENDING', nextAt: start });
  });

  test('gets one trial callback after each pause, which doubles from 5 s to 60 s', async () => {
    for (let count = 0; count < 30; count += 1) await bundle.insert();
    await bundle.run();
    for (const seconds of [5, 10, 20, 40, 60, 60]) {
      expect(await bundle.pausedUntil()).toEqual(after(seconds));
      bundle.clock.advance(seconds * second - 1);
      expect(await bundle.run()).toBe(0);
      bundle.clock.advance(1);
      expect(await bundle.run()).toBe(1);
    }
  });

  test('is probed by one node at a time', async () => {
    for (let count = 0; count < 10; count += 1) await bundle.insert();
    await bundle.run();
    bundle.clock.advance(5 * second);
    const { promise, resolve } = Promise.withResolvers<CallbackAnswer>();
    bundle.answer(() => promise);
    const others = [bundle.makeNode(), bundle.makeNode()];
    const counts = await Promise.all([bundle.round(), ...others.map((node) => node.runOnce(bundle.clock.now()))]);
    expect(counts.toSorted()).toEqual([0, 0, 1]);
    expect(await bundle.round()).toBe(0);
    resolve(silent);
    await Promise.all([bundle.settled(), ...others.map((node) => node.settled())]);
    expect(await bundle.pausedUntil()).toEqual(after(10));
  });

  test('is probed by another node 20 s after the probing node died', async () => {
    for (let count = 0; count < 10; count += 1) await bundle.insert();
    await bundle.run();
    bundle.clock.advance(5 * second);
    const { promise, resolve } = Promise.withResolvers<CallbackAnswer>();
    bundle.answer(() => promise);
    expect(await bundle.round()).toBe(1);
    bundle.clock.advance(20 * second - 1);
    const other = bundle.makeNode();
    expect(await other.runOnce(bundle.clock.now())).toBe(0);
    bundle.clock.advance(1);
    expect(await other.runOnce(bundle.clock.now())).toBe(1);
    resolve(silent);
    await Promise.all([bundle.settled(), other.settled()]);
  });

  test('gets all waiting callbacks once it responds, each once', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 40; count += 1) ids.push(await bundle.insert());
    await bundle.run();
    bundle.clock.advance(5 * second);
    bundle.answer(() => ok);
    expect(await bundle.run()).toBe(37);
    expect(await bundle.pausedUntil()).toBeUndefined();
    bundle.clock.advance(30 * second);
    expect(await bundle.run()).toBe(3);
    for (const id of ids) expect((await bundle.find(id)).state).toBe('DELIVERED');
  });

  test.each([500, 404, 302])('is not paused by a response of %i, which holds no slot', async (status) => {
    for (let count = 0; count < 10; count += 1) await bundle.insert();
    bundle.answer(() => ({ kind: 'answered', status }));
    expect(await bundle.run()).toBe(10);
    expect(await bundle.pausedUntil()).toBeUndefined();
  });

  test('is not paused by addresses that the guard rejects', async () => {
    for (let count = 0; count < 10; count += 1) await bundle.insert();
    bundle.answer(() => ({ kind: 'failed', error: 'refused' }));
    expect(await bundle.run()).toBe(10);
    expect(await bundle.pausedUntil()).toBeUndefined();
  });

  test('is not paused while another path of it responds in between', async () => {
    for (let count = 0; count < 6; count += 1) await bundle.insert(count % 2 === 0 ? 'hangs' : 'healthy');
    bundle.answer((url) => (url.endsWith('hangs') ? silent : ok));
    expect(await bundle.run()).toBe(6);
    expect((await bundle.pausedUntil()) ?? null).toBeNull();
  });

  test('is not paused for another workspace that posts to the same host', async () => {
    for (let count = 0; count < 10; count += 1) await bundle.insert('hangs');
    bundle.answer((url) => (url.endsWith('hangs') ? silent : ok));
    await bundle.run();
    expect(await bundle.pausedUntil()).not.toBeNull();
    for (let count = 0; count < 10; count += 1) await bundle.insert('healthy', bundle.otherWorkspaceId);
    expect(await bundle.run()).toBe(10);
  });

  test('has its pause not extended by attempts that began before it', async () => {
    for (let count = 0; count < 40; count += 1) await bundle.insert();
    bundle.answer(() => ok);
    for (let round = 0; round < 2; round += 1) {
      await bundle.round();
      await bundle.settled();
    }
    const answers: (() => void)[] = [];
    bundle.answer(() => new Promise((resolve) => answers.push(() => resolve(silent))));
    expect(await bundle.round()).toBe(8);
    await expect.poll(() => answers.length).toBe(8);
    bundle.clock.advance(15 * second);
    for (const end of answers.slice(0, 3)) end();
    await expect.poll(() => bundle.pausedUntil()).toEqual(after(5));
    const until = after(5);
    bundle.clock.advance(1);
    for (const end of answers.slice(3)) end();
    await bundle.settled();
    expect(await bundle.pausedUntil()).toEqual(until);
  });

  test('does not delay the schedule of its only callback (decision D27)', async () => {
    const id = await bundle.insert();
    await bundle.run();
    for (const seconds of [30, 60, 120, 600, 3_600, 21_600]) {
      bundle.clock.advance(seconds * second);
      expect(await bundle.run()).toBe(1);
    }
    expect(await bundle.find(id)).toMatchObject({ state: 'GIVEN_UP', attempts: 7 });
  });

  test('has its callbacks given up after they have been due for a day', async () => {
    const old: string[] = [];
    for (let count = 0; count < 10; count += 1) old.push(await bundle.insert());
    await bundle.run();
    bundle.clock.advance(86_400 * second + 1);
    const young = await bundle.insert();
    await bundle.run();
    const states = await Promise.all(old.map(async (id) => (await bundle.find(id)).state));
    // One of the seven is the probe. The three of the first attempts have been due for 30 s less.
    expect(states.filter((state) => state === 'GIVEN_UP')).toHaveLength(6);
    expect(await bundle.find(young)).toMatchObject({ state: 'PENDING', attempts: 0 });
  });

  test('has its callbacks counted as scheduled for later, not as waiting for a worker', async () => {
    for (let count = 0; count < 10; count += 1) await bundle.insert();
    const { database, clock } = bundle;
    const read = async () => (await readQueues(database, clock.now())).find(({ name }) => name === 'callbacks')!;
    expect(await read()).toMatchObject({ waiting: 10, later: 0, oldestAt: start });
    expect(await hasDueWork(database, clock.now())).toBe(true);
    await bundle.run();
    expect(await read()).toMatchObject({ waiting: 0, later: 10, oldestAt: null });
    expect(await hasDueWork(database, clock.now())).toBe(false);
    // When the pause is over, the sandbox waits for the probe.
    expect(await hasDueWork(database, after(5))).toBe(true);
    const figures = await readMetricFigures(database, { at: start, realAt: start, aliveSince: start });
    expect(figures).toContainEqual({ name: 'receivers-paused', of: 'callbacks', value: 1 });
    expect((await bundle.find(await bundle.insert())).silentSince).toEqual(start);
  });

  test('is forgotten two days after the last attempt', async () => {
    await bundle.insert();
    await bundle.run();
    const job = makeDropOldRecords({ database: bundle.database, clock: bundle.clock, inboxMessages: 10 });
    await job.runOnce(after(2 * 86_400));
    expect(await bundle.pausedUntil()).toBeNull();
    await job.runOnce(after(2 * 86_400 + 1));
    expect(await bundle.pausedUntil()).toBeUndefined();
  });

  test('is named in the log when it is paused and when it responds again', async () => {
    for (let count = 0; count < 10; count += 1) await bundle.insert();
    await bundle.run();
    bundle.clock.advance(5 * second);
    await bundle.run();
    bundle.clock.advance(10 * second);
    bundle.answer(() => ok);
    await bundle.run();
    expect(bundle.lines).toEqual([
      { level: 'warn', message: 'receiver paused: it does not answer' },
      { level: 'info', message: 'receiver answers again' },
    ]);
  });

  async function makePauseBundle() {
    const { database, drop } = await createTestDatabase();
    const clock = makeManualClock(start);
    const encryption = makeEncryption(new Uint8Array(32).fill(7));
    const [workspaceId, otherWorkspaceId] = [
      await insertTestWorkspace(database, start),
      await insertTestWorkspace(database, new Date(start.getTime() + 1)),
    ];
    const lines: { level: string; message: string }[] = [];
    const quiet = makeLog({ level: 'silent', pretty: false });
    const log = Object.assign(Object.create(quiet) as Logger, {
      warn: (_: object, message: string) => lines.push({ level: 'warn', message }),
      info: (_: object, message: string) => lines.push({ level: 'info', message }),
    });
    const requests: string[] = [];
    let answer: (url: string) => CallbackAnswer | Promise<CallbackAnswer> = () => silent;
    const post: PostCallback = async ({ url }) => {
      requests.push(url);
      return answer(url);
    };
    const makeNode = () =>
      makeDeliverCallbacks({
        ...{ database, clock, encryption, log, post },
        outcomes: makeOutcomeBuffer({ log: quiet, pause: async () => {} }),
      });
    const node = makeNode();
    return {
      ...{ database, clock, workspaceId, otherWorkspaceId, requests, lines, makeNode, drop },
      answer(next: typeof answer) {
        answer = next;
      },
      async insert(path = '', of = workspaceId): Promise<string> {
        const id = makeId(clock.now());
        const url = `https://receiver.example/${path}`;
        await insertCallback(database, { id, workspaceId: of, operationId: null, url, body: '{}', at: clock.now() });
        return id;
      },
      /** Looks until nothing is to be done now. @returns how many were posted */
      async run(): Promise<number> {
        const before = requests.length;
        while ((await node.runOnce(clock.now())) > 0) await node.settled();
        return requests.length - before;
      },
      round: () => node.runOnce(clock.now()),
      settled: () => node.settled(),
      find: async (id: string) => (await findMessage(database, { channel: 'callbacks', workspaceId, id }))!,
      async pausedUntil(): Promise<Date | null | undefined> {
        const [row] = await database<{ until: Date | null }[]>`select paused_until as until from callback_receivers`;
        return row?.until;
      },
    };
  }
});

describe('a callback to a responsive receiver', () => {
  let node: Awaited<ReturnType<typeof makeNodeBundle>>;
  beforeEach(async () => {
    node = await makeNodeBundle();
  });
  afterEach(() => node.end());

  const times = (count: number, of: (number: number) => string): string[] =>
    Array.from({ length: count }, (_, n) => of(n));

  test.each([1, 10])('does not wait for 1,000 callbacks of another workspace to %i silent hosts', async (hosts) => {
    const [noisy, quiet] = [await node.addWorkspace(), await node.addWorkspace()];
    const silent = await Promise.all(times(hosts, String).map(() => node.silent()));
    const healthy = await node.receiver();
    await node.addDue(
      noisy,
      times(1_000, (n) => `${silent[n % hosts]!.origin}/${n}`),
    );
    node.start();
    await Promise.all(silent.map((receiver) => receiver.arrived(1)));
    await node.addDue(quiet, [`${healthy.origin}/`]);
    node.wake();
    await awaitArrival(healthy, '/');
  });

  test('does not wait for 1,000 callbacks of another workspace to as many silent hosts', async () => {
    const [noisy, quiet] = [await node.addWorkspace(), await node.addWorkspace()];
    const silent = await node.silent();
    const healthy = await node.receiver();
    await node.addDue(
      noisy,
      times(1_000, (n) => `${silent.originOf(n)}/${n}`),
    );
    node.start();
    await silent.arrived(32);
    await node.addDue(quiet, [`${healthy.origin}/`]);
    await awaitArrival(healthy, '/');
    // What one workspace may have under way.
    expect(silent.maxOpen()).toBe(32);
  });

  test.each([1, 10])('does not wait for 1,000 callbacks of its own workspace to %i silent hosts', async (hosts) => {
    const workspace = await node.addWorkspace();
    const silent = await Promise.all(times(hosts, String).map(() => node.silent()));
    const healthy = await node.receiver();
    await node.addDue(
      workspace,
      times(1_000, (n) => `${silent[n % hosts]!.origin}/${n}`),
    );
    node.start();
    await Promise.all(silent.map((receiver) => receiver.arrived(1)));
    await node.addDue(workspace, [`${healthy.origin}/`]);
    node.wake();
    await awaitArrival(healthy, '/');
  });

  test('does not wait for 1,000 callbacks of thirty workspaces that hang on another path of its host', async () => {
    const host = await node.receiver((path) => path.startsWith('/hangs'));
    for (const _ of times(30, String))
      await node.addDue(
        await node.addWorkspace(),
        times(34, (n) => `${host.origin}/hangs/${n}`),
      );
    const quiet = await node.addWorkspace();
    node.start();
    await host.arrived(10);
    await node.addDue(quiet, [`${host.origin}/healthy`]);
    node.wake();
    await awaitArrival(host, '/healthy');
  });
});

const limits = { total: 16, perWorkspace: 8, perHost: 12, perReceiver: 4 };
const receiver = (workspaceId: string, host: string): Receiver => ({ workspaceId, key: `https://${host}`, host });
const hosts = (workspaceId: string, count: number): Receiver[] =>
  Array.from({ length: count }, (_, number) => receiver(workspaceId, `host-${number}.example`));
const countBy = (slots: Slot[], of: (receiver: Receiver) => string): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const slot of slots) counts[of(slot.receiver)] = (counts[of(slot.receiver)] ?? 0) + 1;
  return counts;
};

describe('a receiver', () => {
  const one = receiver('a', 'one.example');

  test.each<{ contacts: [ContactKind, number][]; slots: number }>([
    { contacts: [], slots: 1 },
    { contacts: [['answered', 10]], slots: 2 },
    {
      contacts: [
        ['answered', 10],
        ['answered', 10],
        ['answered', 10],
      ],
      slots: 4,
    },
    {
      contacts: [
        ['answered', 10],
        ['answered', 3_000],
      ],
      slots: 2,
    },
    {
      contacts: [
        ['answered', 10],
        ['answered', 10],
        ['answered', 9_000],
      ],
      slots: 2,
    },
    {
      contacts: [
        ['answered', 10],
        ['answered', 10],
        ['silent', 15_000],
      ],
      slots: 1,
    },
    {
      contacts: [
        ['answered', 10],
        ['none', 0],
      ],
      slots: 2,
    },
  ])('gets $slots slots after $contacts', ({ contacts, slots: expected }) => {
    const slots = makeReceiverSlots(limits);
    end(slots, one, ...contacts);
    expect(slots.take([one])).toHaveLength(expected);
  });

  test('gets no more slots while it holds its maximum', () => {
    const slots = makeReceiverSlots(limits);
    const [held] = slots.take([one]);
    expect(slots.take([one])).toEqual([]);
    slots.giveBack(held!, { kind: 'none', milliseconds: 0 });
    expect(slots.take([one])).toHaveLength(1);
  });
});

describe('slots', () => {
  test('are given to workspaces in turn, starting with those that hold the fewest', () => {
    const slots = makeReceiverSlots(limits);
    slots.take(hosts('a', 3));
    const taken = slots.take([...hosts('a', 20).slice(3), ...hosts('b', 20), ...hosts('c', 1)]);
    expect(countBy(taken, ({ workspaceId }) => workspaceId)).toEqual({ a: 5, b: 7, c: 1 });
    expect(slots.free()).toBe(0);
  });

  test('are limited per workspace, whatever the number of its receivers', () => {
    const slots = makeReceiverSlots(limits);
    expect(slots.take(hosts('a', 20))).toHaveLength(8);
    expect(slots.free()).toBe(8);
  });

  test('are limited per host, whatever the number of workspaces that post to it', () => {
    const slots = makeReceiverSlots(limits);
    const relay = Array.from({ length: 20 }, (_, number) => receiver(`workspace-${number}`, 'relay.example'));
    expect(slots.take(relay)).toHaveLength(12);
    expect(slots.take([receiver('other', 'other.example')])).toHaveLength(1);
  });

  test('are held by doubtful receivers up to half: of the workspace, of the host, and of the total', () => {
    const slots = makeReceiverSlots(limits);
    const silent = ['a', 'b', 'c'].flatMap((workspaceId) => hosts(workspaceId, 8));
    for (const each of silent) end(slots, each, ['silent', 15_000]);
    const taken = slots.take(silent);
    expect(taken).toHaveLength(8);
    expect(Math.max(...Object.values(countBy(taken, ({ workspaceId }) => workspaceId)))).toBeLessThanOrEqual(4);
    // Workspace `a` has room for a receiver that nothing is known of, and so has each host.
    expect(slots.take([receiver('a', 'new.example')])).toHaveLength(1);
    expect(slots.take([receiver('d', 'host-0.example')])).toHaveLength(1);
  });

  test('are returned as doubtful slots when a doubtful receiver responds again', () => {
    const slots = makeReceiverSlots(limits);
    const silent = hosts('a', 8);
    for (const each of silent) end(slots, each, ['silent', 15_000]);
    for (let round = 0; round < 3; round += 1) {
      const taken = slots.take(silent);
      expect(taken.filter(({ isDoubtful }) => isDoubtful).length).toBeLessThanOrEqual(4);
      for (const slot of taken) slots.giveBack(slot, { kind: 'answered', milliseconds: 5 });
      expect(slots.free()).toBe(limits.total);
    }
  });
});

/** One node with real time and real sockets. */
async function makeNodeBundle() {
  const { database, drop } = await createTestDatabase();
  const clock = makeClock();
  const log = makeLog({ level: 'silent', pretty: false });
  const outgoing = makeOutgoingClient({ allowedNetworks: ['127.0.0.0/8'] });
  const receivers: TestReceiver[] = [];
  const job = makeDeliverCallbacks({
    ...{ database, clock, log, encryption: makeEncryption(new Uint8Array(32).fill(7)) },
    outcomes: makeOutcomeBuffer({ log, pause: async () => {} }),
    post: (request) => postOnce(outgoing, request),
    onFreed: () => running?.wake(),
  });
  let running: ReturnType<typeof startJob> | undefined;
  let made = 0;
  const keep = (receiver: TestReceiver): TestReceiver => {
    receivers.push(receiver);
    return receiver;
  };
  return {
    database,
    addWorkspace: () => insertTestWorkspace(database, new Date(Date.UTC(2026, 2, 1, 12, 0, (made += 1)))),
    silent: async () => keep(await startSilentReceiver()),
    receiver: async (isSilent?: (path: string) => boolean) =>
      keep(await startReceiver(isSilent === undefined ? {} : { isSilent })),
    /** Callbacks that have been due for an hour: older than anything that is inserted later. */
    async addDue(workspaceId: string, urls: readonly string[]): Promise<void> {
      const at = new Date(clock.now().getTime() - 3_600_000);
      await database`
        insert into callbacks (id, workspace_id, url, body, state, next_at, created_at)
        select due.id, ${workspaceId}, due.url, '{}', 'PENDING', ${at}, ${at}
        from jsonb_to_recordset(${JSON.stringify(urls.map((url) => ({ id: makeId(at), url })))}::text::jsonb)
          as due (id text, url text)`;
    },
    start() {
      running = startJob(job, { clock, log });
    },
    wake: () => running?.wake(),
    async end(): Promise<void> {
      await running?.stop();
      for (const receiver of receivers) receiver.close();
      await job.settled();
      await outgoing.close();
      await drop();
    },
  };
}

/** Lets attempts at a receiver end, one after another. */
function end(slots: ReceiverSlots, to: Receiver, ...contacts: [ContactKind, number][]): void {
  for (const [kind, milliseconds] of contacts) {
    const [slot, ...others] = slots.take([to]);
    for (const other of others) slots.giveBack(other, { kind: 'none', milliseconds: 0 });
    slots.giveBack(slot!, { kind, milliseconds });
  }
}
