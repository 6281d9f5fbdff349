import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { makeManualClock } from '../../../src/clock.ts';
import { makeEncryption } from '../../../src/domain/crypto/encryption.ts';
import { makeId } from '../../../src/domain/ids.ts';
import { makeOutcomeBuffer } from '../../../src/engine/jobs/outcome-buffer.ts';
import { ensureWebhookSecret, makeDeliverCallbacks } from '../../../src/engine/outbox/callbacks.ts';
import { postSigned } from '../../../src/engine/outbox/receivers.ts';
import type { CallbackAnswer, PostCallback } from '../../../src/engine/outbox/receivers.ts';
import { makeLog } from '../../../src/log.ts';
import {
  findMessage,
  insertCallback,
  listCallbackAttempts,
  listMessages,
  resendMessage,
  settleMessage,
} from '../../../src/storage/outbox/outbox.ts';
import { claimCallbacks } from '../../../src/storage/outbox/receivers.ts';
import { findWebhookSecret, storeWebhookSecret } from '../../../src/storage/workspaces.ts';
import { createTestDatabase } from '../../test-database.ts';
import { insertTestWorkspace } from '../../test-workspace.ts';

type Request = Parameters<PostCallback>[0];

describe('callback delivery', () => {
  const start = new Date('2026-03-01T12:00:00.250Z');
  const second = 1000;
  const body = '{"db_name":"db","segment_name":"Zoë ✓","request_id":"r","status":201}';
  const encryption = makeEncryption(new Uint8Array(32).fill(7));
  const ok: CallbackAnswer = { kind: 'answered', status: 200 };

  let bundle: Awaited<ReturnType<typeof makeCallbacksBundle>>;
  beforeEach(async () => {
    bundle = await makeCallbacksBundle();
  });
  afterEach(() => bundle.drop());

  const schedule = [30, 60, 120, 600, 3_600, 21_600];

  describe('the request', () => {
    test('posts the stored body unchanged, as JSON, with the Standard Webhooks headers', async () => {
      const id = await bundle.insert();
      expect(await bundle.run()).toBe(1);
      const [request] = bundle.requests;
      expect(request).toEqual({
        url: 'https://receiver.example/',
        body,
        headers: {
          'content-type': 'application/json',
          'user-agent': 'Carillon',
          'webhook-id': id,
          'webhook-timestamp': String(Date.parse('2026-03-01T12:00:00Z') / 1000),
          'webhook-signature': expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
        },
      });
    });

    test('has the same id and body on every attempt, a new timestamp, and a valid signature', async () => {
      const { clock, database, workspaceId, requests } = bundle;
      const id = await bundle.insert();
      bundle.answer(() => ({ kind: 'answered', status: 500 }));
      await bundle.run();
      const secret = await ensureWebhookSecret({ database, encryption }, workspaceId);
      const verifyNow = (request: Request) => {
        // The package reads the system's clock for its tolerance of five minutes.
        vi.setSystemTime(clock.now());
        try {
          return new Webhook(secret).verify(request.body, request.headers);
        } finally {
          vi.useRealTimers();
        }
      };
      expect(verifyNow(requests[0]!)).toEqual(JSON.parse(body));
      for (const seconds of schedule) {
        await bundle.runAfter(seconds);
        expect(verifyNow(requests.at(-1)!)).toEqual(JSON.parse(body));
      }
      expect(requests.map((request) => request.headers['webhook-id'])).toEqual(Array(7).fill(id));
      expect(requests.map((request) => request.body)).toEqual(Array(7).fill(body));
      expect(new Set(requests.map((request) => request.headers['webhook-timestamp'])).size).toBe(7);
      const changed = { ...requests.at(-1)!, body: body.replace('201', '400') };
      expect(() => verifyNow(changed)).toThrow('No matching signature');
    });

    test('uses one secret even if two nodes create it concurrently, encrypted for its workspace', async () => {
      const { database, workspaceId } = bundle;
      const secrets = await Promise.all(
        Array.from({ length: 8 }, () => ensureWebhookSecret({ database, encryption }, workspaceId)),
      );
      expect(new Set(secrets).size).toBe(1);
      expect(secrets[0]).toMatch(/^whsec_/);
      expect(Buffer.from(secrets[0]!.slice('whsec_'.length), 'base64').length).toBe(32);
      const encrypted = (await findWebhookSecret(database, workspaceId))!;
      expect(await storeWebhookSecret(database, { workspaceId, encrypted: Buffer.from('another') })).toBe(false);
      expect(await ensureWebhookSecret({ database, encryption }, workspaceId)).toBe(secrets[0]);
      expect(encrypted.toString('latin1')).not.toContain('whsec_');
      expect(() => encryption.decrypt(encrypted, 'webhook-secret:another')).toThrow();
      const other = await insertTestWorkspace(database, new Date(start.getTime() + 1));
      expect(await ensureWebhookSecret({ database, encryption }, other)).not.toBe(secrets[0]);
    });
  });

  describe('the outcome of an attempt', () => {
    test('is delivered after a 200 response, and is never sent again', async () => {
      const id = await bundle.insert();
      await bundle.run();
      expect(await bundle.find(id)).toMatchObject({
        state: 'DELIVERED',
        attempts: 1,
        nextAt: null,
        endedAt: start,
        body,
      });
      expect(await bundle.attempts(id)).toEqual([
        { number: 1, at: start, status: 200, error: null, durationMilliseconds: 0 },
      ]);
      bundle.clock.advance(365 * 86_400 * second);
      expect(await bundle.run()).toBe(0);
      expect(bundle.requests.length).toBe(1);
    });

    test('is not delivered after any other response: success, redirect or failure', async () => {
      const ids = new Map<number, string>();
      for (const status of [100, 201, 202, 204, 206, 301, 302, 400, 404, 410, 429, 500, 503]) {
        ids.set(status, await bundle.insert(`https://receiver-${status}.example/`));
      }
      bundle.answer(({ url }) => ({ kind: 'answered', status: Number(url.slice(17, 20)) }));
      expect(await bundle.run()).toBe(ids.size);
      for (const [status, id] of ids) {
        expect(await bundle.find(id)).toMatchObject({ state: 'PENDING', attempts: 1, endedAt: null });
        expect(await bundle.attempts(id)).toEqual([
          { number: 1, at: start, status, error: 'not answered with 200', durationMilliseconds: 0 },
        ]);
      }
    });

    test.each(['timeout', 'unreachable', 'refused'])('is not delivered without a response (%s)', async (error) => {
      const id = await bundle.insert();
      bundle.answer(() => {
        bundle.clock.advance(2 * second);
        return { kind: 'failed', error };
      });
      await bundle.run();
      expect(await bundle.attempts(id)).toEqual([
        { number: 1, at: start, status: null, error, durationMilliseconds: 2000 },
      ]);
      // The wait begins when the attempt ended.
      const { state, nextAt } = await bundle.find(id);
      expect({ state, nextAt }).toEqual({ state: 'PENDING', nextAt: new Date(start.getTime() + 32 * second) });
    });

    test('continues with other callbacks and with the schedule if the sender throws', async () => {
      const broken = await bundle.insert('https://broken.example/');
      const healthy = await bundle.insert('https://healthy.example/');
      bundle.answer(({ url }) => {
        if (url.includes('broken')) throw new TypeError('Invalid URL');
        return ok;
      });
      expect(await bundle.run()).toBe(2);
      expect((await bundle.find(healthy)).state).toBe('DELIVERED');
      expect((await bundle.attempts(broken))[0]).toMatchObject({ status: null, error: 'unreachable' });
      await bundle.runAfter(30);
    });
  });

  describe('the retry schedule', () => {
    test('makes seven attempts: immediately, then after 30, 60, 120 s, 10 min, 1 h, 6 h; then gives up', async () => {
      const id = await bundle.insert();
      bundle.answer(() => ({ kind: 'failed', error: 'unreachable' }));
      await bundle.run();
      for (const seconds of schedule) await bundle.runAfter(seconds);
      expect(await bundle.find(id)).toMatchObject({
        state: 'GIVEN_UP',
        attempts: 7,
        nextAt: null,
        endedAt: bundle.clock.now(),
      });
      expect((await bundle.attempts(id)).map((attempt) => attempt.number)).toEqual([1, 2, 3, 4, 5, 6, 7]);
      bundle.clock.advance(365 * 86_400 * second);
      expect(await bundle.run()).toBe(0);
      expect(bundle.requests.length).toBe(7);
    });

    test('delivers a callback once to a receiver that returns after hours', async () => {
      const id = await bundle.insert();
      const upAt = start.getTime() + 6 * 3_600 * second;
      bundle.answer(() => (bundle.clock.now().getTime() < upAt ? { kind: 'failed', error: 'unreachable' } : ok));
      // A look every minute of eight hours, as the loop's every second.
      for (let minute = 0; minute < 8 * 60; minute += 1) {
        await bundle.run();
        bundle.clock.advance(60 * second);
      }
      expect(await bundle.find(id)).toMatchObject({ state: 'DELIVERED', attempts: 7 });
      expect((await bundle.attempts(id)).filter((attempt) => attempt.status === 200).length).toBe(1);
      expect(bundle.requests.length).toBe(7);
    });

    test('resends a callback that was delivered or given up, with the whole schedule and the same id', async () => {
      const id = await bundle.insert();
      expect(await bundle.resend(id)).toBe(false);
      bundle.answer(() => ({ kind: 'answered', status: 500 }));
      await bundle.run();
      for (const seconds of schedule) await bundle.runAfter(seconds);

      expect(await bundle.resend(id)).toBe(true);
      expect(await bundle.resend(id)).toBe(false);
      expect(await bundle.run()).toBe(1);
      for (const seconds of schedule) await bundle.runAfter(seconds);
      expect((await bundle.find(id)).state).toBe('GIVEN_UP');

      await bundle.resend(id);
      bundle.answer(() => ok);
      await bundle.run();
      expect(await bundle.find(id)).toMatchObject({ state: 'DELIVERED', attempts: 21 });

      // A delivered one again: the receiver may have lost it.
      await bundle.resend(id);
      await bundle.run();
      expect(await bundle.find(id)).toMatchObject({ state: 'DELIVERED', attempts: 31 });
      expect((await bundle.attempts(id)).map((attempt) => attempt.number)).toEqual([
        1, 2, 3, 4, 5, 6, 7, 11, 12, 13, 14, 15, 16, 17, 21, 31,
      ]);
      expect(new Set(bundle.requests.map((request) => request.headers['webhook-id']))).toEqual(new Set([id]));
    });

    test('rejects further resends before the attempt number overflows', async () => {
      const id = await bundle.insert();
      await bundle.run();
      await bundle.database`update callbacks set attempts = 32001 where id = ${id}`;
      expect(await bundle.resend(id)).toBe(false);
      await bundle.database`update callbacks set attempts = 31999 where id = ${id}`;
      expect(await bundle.resend(id)).toBe(true);
    });

    test('neither shows nor resends a callback to another workspace', async () => {
      const { database, workspaceId, clock } = bundle;
      const id = await bundle.insert();
      await bundle.run();
      const other = await insertTestWorkspace(database, new Date(start.getTime() + 1));
      expect(await findMessage(database, { channel: 'callbacks', workspaceId: other, id })).toBeUndefined();
      expect(await resendMessage(database, { channel: 'callbacks', workspaceId: other, id, at: clock.now() })).toBe(
        false,
      );
      expect(await listMessages(database, { channel: 'callbacks', workspaceId: other, limit: 10 })).toEqual([]);
      clock.advance(second);
      const newer = await bundle.insert();
      const ids = async (limit: number) =>
        (await listMessages(database, { channel: 'callbacks', workspaceId, limit })).map((row) => row.id);
      expect(await ids(10)).toEqual([newer, id]);
      expect(await ids(1)).toEqual([newer]);
    });
  });

  describe('concurrency', () => {
    test('sends each callback once from two concurrent nodes', async () => {
      const ids = await Promise.all(
        Array.from({ length: 12 }, (_, number) => bundle.insert(`https://receiver-${number}.example/`)),
      );
      const nodes = [bundle.makeNode(), bundle.makeNode()];
      const counts = await Promise.all(nodes.map((node) => node.runOnce(bundle.clock.now())));
      await Promise.all(nodes.map((node) => node.settled()));
      expect(counts[0]! + counts[1]!).toBe(12);
      expect(bundle.requests.map((request) => request.headers['webhook-id']).toSorted()).toEqual(ids.toSorted());
    });

    test('delays neither the same batch nor later callbacks for a slow receiver', async () => {
      const slow = await bundle.insert('https://slow.example/');
      const quick = await bundle.insert();
      const { promise: slowAnswer, resolve: answerSlowly } = Promise.withResolvers<CallbackAnswer>();
      bundle.answer(({ url }) => (url.includes('slow') ? slowAnswer : ok));
      const delivered = (id: string) =>
        vi.waitFor(async () => expect((await bundle.find(id)).state).toBe('DELIVERED'), 10_000);
      expect(await bundle.round()).toBe(2);
      await delivered(quick);
      const later = await bundle.insert();
      expect(await bundle.round()).toBe(1);
      await delivered(later);
      expect((await bundle.find(slow)).state).toBe('PENDING');
      answerSlowly(ok);
      await bundle.settled();
      expect(await bundle.find(slow)).toMatchObject({ state: 'DELIVERED', attempts: 1 });
    });

    test('sends a receiver one request at first, and doubles after each quick response, up to eight', async () => {
      for (let count = 0; count < 25; count += 1) await bundle.insert();
      const counts: number[] = [];
      for (let count = await bundle.run(); count > 0; count = await bundle.run()) counts.push(count);
      expect(counts).toEqual([1, 2, 8, 8, 6]);
      const [row] = await bundle.database`select count(*) as delivered from callbacks where state = 'DELIVERED'`;
      expect(row!.delivered).toBe(25);
    });

    test('keeps at most 32 requests of a workspace in flight; the rest wait unclaimed', async () => {
      for (let count = 0; count < 40; count += 1) await bundle.insert(`https://receiver-${count}.example/`);
      const { promise, resolve } = Promise.withResolvers<CallbackAnswer>();
      bundle.answer(() => promise);
      expect(await bundle.round()).toBe(32);
      expect(await bundle.round()).toBe(0);
      await vi.waitFor(() => expect(bundle.requests.length).toBe(32), 10_000);
      resolve(ok);
      await bundle.settled();
      expect(await bundle.run()).toBe(8);
    });
  });

  describe('crashed workers', () => {
    /** As a worker does that dies before it settles. */
    const claimAndDie = async () => {
      const at = bundle.clock.now();
      const leaseUntil = new Date(at.getTime() + 60 * second);
      const turns = [{ workspaceId: bundle.workspaceId, key: 'https://receiver.example', count: 1 }];
      return (await claimCallbacks(bundle.database, { turns, at, leasedAt: at, leaseUntil, probeUntil: at }))[0]!;
    };

    test('sends a callback again after the lease, and ignores the late outcome of the first worker', async () => {
      const id = await bundle.insert();
      const lost = await claimAndDie();
      expect(lost).toMatchObject({ id, attempts: 1 });
      await bundle.runAfter(60);
      expect(await bundle.find(id)).toMatchObject({ state: 'DELIVERED', attempts: 2 });
      const outcome = { state: 'PENDING', nextAt: bundle.clock.now() } as const;
      expect(await settleMessage(bundle.database, { channel: 'callbacks', id, attempts: lost.attempts, outcome })).toBe(
        false,
      );
      expect((await bundle.attempts(id)).map((attempt) => attempt.number)).toEqual([2]);
    });

    test('ignores a response after the lease if another node has taken over the callback', async () => {
      const id = await bundle.insert();
      const { promise, resolve } = Promise.withResolvers<CallbackAnswer>();
      bundle.answer(() => (bundle.requests.length === 1 ? promise : { kind: 'answered', status: 503 }));
      await bundle.round();
      bundle.clock.advance(60 * second);
      const other = bundle.makeNode();
      await other.runOnce(bundle.clock.now());
      await other.settled();
      resolve({ kind: 'answered', status: 500 });
      await bundle.settled();
      expect(await bundle.find(id)).toMatchObject({ state: 'PENDING', attempts: 2 });
      expect((await bundle.attempts(id)).map(({ number, status }) => [number, status])).toEqual([[2, 503]]);
    });

    test('gives up a callback that kills its worker on every attempt', async () => {
      const id = await bundle.insert();
      for (let count = 1; count <= 7; count += 1) {
        expect((await claimAndDie()).attempts).toBe(count);
        bundle.clock.advance(60 * second);
      }
      await bundle.run();
      expect((await bundle.find(id)).state).toBe('GIVEN_UP');
      expect(bundle.requests).toEqual([]);
      // A resend begins a whole round.
      await bundle.resend(id);
      await bundle.run();
      expect(await bundle.find(id)).toMatchObject({ state: 'DELIVERED', attempts: 11 });
    });
  });

  async function makeCallbacksBundle() {
    const { database, drop } = await createTestDatabase();
    const clock = makeManualClock(start);
    const workspaceId = await insertTestWorkspace(database, start);
    const log = makeLog({ level: 'silent', pretty: false });
    const outcomes = makeOutcomeBuffer({ log, pause: async () => {} });
    const requests: Request[] = [];
    let answer: (request: Request) => CallbackAnswer | Promise<CallbackAnswer> = () => ok;
    const post: PostCallback = async (request) => {
      requests.push(request);
      return answer(request);
    };
    const makeNode = () => makeDeliverCallbacks({ database, clock, encryption, log, post, outcomes });
    const job = makeNode();
    const operationId = makeId(start);
    const segmentId = makeId(start);
    await database`
      insert into segments (id, workspace_id, name, kind, state, source, attribute_name, attribute_type, created_by,
        created_at, updated_at)
      values (${segmentId}, ${workspaceId}, 'S', 'FILE', 'READY', 'API', 'uid', 'string', 'test', ${start}, ${start})`;
    await database`
      insert into segment_operations (id, workspace_id, segment_id, number, kind, request_id, state, not_before,
        requested_by, created_at)
      values (${operationId}, ${workspaceId}, ${segmentId}, 1, 'CREATE', ${'a'.repeat(32)}, 'QUEUED', ${start}, 'test',
        ${start})`;

    return {
      database,
      clock,
      workspaceId,
      requests,
      makeNode,
      answer(next: typeof answer) {
        answer = next;
      },
      async insert(url = 'https://receiver.example/'): Promise<string> {
        const id = makeId(clock.now());
        await insertCallback(database, { id, workspaceId, operationId, url, body, at: clock.now() });
        return id;
      },
      /** A round, and all that it sent has ended. */
      async run(): Promise<number> {
        const count = await job.runOnce(clock.now());
        await job.settled();
        return count;
      },
      /** A round alone: it leaves slow receivers under way. */
      round: () => job.runOnce(clock.now()),
      settled: () => job.settled(),
      find: async (id: string) => (await findMessage(database, { channel: 'callbacks', workspaceId, id }))!,
      attempts: (id: string) => listCallbackAttempts(database, id),
      resend: (id: string) => resendMessage(database, { channel: 'callbacks', workspaceId, id, at: clock.now() }),
      /** Moves the clock to just before the wait is over, sees that nothing is sent, and to its end. */
      async runAfter(seconds: number): Promise<void> {
        const before = requests.length;
        clock.advance(seconds * second - 1);
        expect(await this.run()).toBe(0);
        expect(requests.length).toBe(before);
        clock.advance(1);
        expect(await this.run()).toBe(1);
      },
      drop,
    };
  }
});

describe('signed posts', () => {
  const start = new Date('2026-03-01T12:00:00.700Z');
  const key = Buffer.alloc(32, 5);
  const signedPost = {
    id: 'msg_1',
    url: 'https://x.example/hook',
    body: '{"a":1}',
    secret: `whsec_${key.toString('base64')}`,
  };

  test('signs a callback per Standard Webhooks with real time, and reports its times by the service clock', async () => {
    const { requests, posted, lines } = await post({ kind: 'answered', status: 204 });
    const timestamp = String(Math.floor(start.getTime() / 1_000));
    const signature = createHmac('sha256', key).update(`msg_1.${timestamp}.{"a":1}`).digest('base64');
    expect(requests).toEqual([
      {
        ...{ url: 'https://x.example/hook', body: '{"a":1}' },
        headers: {
          ...{ 'content-type': 'application/json', 'user-agent': 'Carillon', 'webhook-id': 'msg_1' },
          ...{ 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` },
        },
      },
    ]);
    expect(posted).toEqual({
      answer: { kind: 'answered', status: 204 },
      startedAt: new Date(start.getTime() + 3_600_000),
      endedAt: new Date(start.getTime() + 3_600_250),
      durationMilliseconds: 250,
    });
    expect(lines).toEqual([]);
  });

  test('counts an internal failure of a request as unreachable, and logs it', async () => {
    const { posted, lines } = await post(new Error('broken'));
    expect(posted.answer).toEqual({ kind: 'failed', error: 'unreachable' });
    expect(lines).toMatchObject([{ callbackId: 'msg_1' }]);
  });

  async function post(answer: CallbackAnswer | Error) {
    const clock = makeManualClock(start);
    clock.setOffset(3_600_000);
    const lines: Record<string, unknown>[] = [];
    const log = makeLog(
      { level: 'info', pretty: false },
      { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
    );
    const requests: unknown[] = [];
    const posted = await postSigned(
      {
        ...{ clock, log },
        async post(request) {
          requests.push(request);
          clock.advance(250);
          if (answer instanceof Error) throw answer;
          return answer;
        },
      },
      signedPost,
    );
    return { requests, posted, lines };
  }
});
