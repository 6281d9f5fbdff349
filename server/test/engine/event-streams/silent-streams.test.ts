import { afterEach, beforeEach, describe, test } from 'vitest';
import { makeClock } from '../../../src/clock.ts';
import { encryptionContext, makeEncryption } from '../../../src/domain/crypto/encryption.ts';
import { makeId } from '../../../src/domain/ids.ts';
import { makePostEventBatches } from '../../../src/engine/outbox/event-streams.ts';
import { startJob } from '../../../src/engine/jobs/job.ts';
import { makeOutcomeBuffer } from '../../../src/engine/jobs/outcome-buffer.ts';
import { makeOutgoingClient, postOnce } from '../../../src/outgoing/client.ts';
import { makeLog } from '../../../src/log.ts';
import { awaitArrival, startReceiver, startSilentReceiver } from '../../receivers/silent-server.ts';
import type { TestReceiver } from '../../receivers/silent-server.ts';
import { createTestDatabase } from '../../test-database.ts';
import { insertTestWorkspace } from '../../test-workspace.ts';

const encryption = makeEncryption(Buffer.alloc(32, 9));

/** One node with real time and real sockets. */
async function makeNodeBundle() {
  const { database, drop } = await createTestDatabase();
  const clock = makeClock();
  const log = makeLog({ level: 'silent', pretty: false });
  const outgoing = makeOutgoingClient({ allowedNetworks: ['127.0.0.0/8'] });
  const receivers: TestReceiver[] = [];
  let running: ReturnType<typeof startJob> | undefined;
  const job = makePostEventBatches({
    ...{ database, clock, log, encryption, abbreviation: 'SVC' },
    outcomes: makeOutcomeBuffer({ log, pause: async () => {} }),
    post: (request) => postOnce(outgoing, request),
    onFreed: () => running?.wake(),
  });
  let made = 0;
  const keep = (receiver: TestReceiver): TestReceiver => {
    receivers.push(receiver);
    return receiver;
  };
  return {
    addWorkspace: () => insertTestWorkspace(database, new Date(Date.UTC(2026, 2, 1, 12, 0, (made += 1)))),
    silent: async () => keep(await startSilentReceiver()),
    receiver: async (isSilent?: (path: string) => boolean) =>
      keep(await startReceiver(isSilent === undefined ? {} : { isSilent })),
    /** A stream with batches that have been due for an hour. */
    async addStream(workspaceId: string, { url, batches }: { url: string; batches: number }): Promise<void> {
      const at = new Date(clock.now().getTime() - 3_600_000);
      const id = makeId(at);
      const encrypted = encryption.encrypt(
        Buffer.from(`whsec_${Buffer.alloc(32, 1).toString('base64')}`),
        encryptionContext.eventStreamSecret({ workspaceId, id }),
      );
      await database`
        insert into event_streams (id, workspace_id, url, secret_sealed, events, user_attributes, device_attributes,
          created_at, updated_at)
        values (${id}, ${workspaceId}, ${url}, ${encrypted}, '{clicked}', '{}', '{}', ${at}, ${at})`;
      await database`
        insert into event_stream_batches (id, stream_id, workspace_id, events, state, next_at, created_at)
        select ${id} || number, ${id}, ${workspaceId}, '[]', 'PENDING', ${at}, ${at}
        from generate_series(1, ${batches}::int) as number`;
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

let node: Awaited<ReturnType<typeof makeNodeBundle>>;
beforeEach(async () => {
  node = await makeNodeBundle();
});
afterEach(() => node.end());

describe('a batch for a stream that answers', () => {
  test.each([3, 30])('does not wait for %i streams of other workspaces that never answer', async (streams) => {
    const silent = await Promise.all(Array.from({ length: streams }, () => node.silent()));
    const healthy = await node.receiver();
    for (const [number, { origin }] of silent.entries()) {
      // A workspace has five streams at most.
      const workspaceId = number % 5 === 0 ? await node.addWorkspace() : lastWorkspace;
      lastWorkspace = workspaceId;
      await node.addStream(workspaceId, { url: `${origin}/events`, batches: 200 });
    }
    node.start();
    await silent[0]!.arrived(1);
    await node.addStream(await node.addWorkspace(), { url: `${healthy.origin}/events`, batches: 1 });
    node.wake();
    await awaitArrival(healthy, '/events');
  });
  let lastWorkspace = '';

  test('does not wait for three streams of its workspace that never answer at the same host', async () => {
    const host = await node.receiver((path) => path.startsWith('/hangs'));
    const workspaceId = await node.addWorkspace();
    for (const number of [1, 2, 3])
      await node.addStream(workspaceId, { url: `${host.origin}/hangs/${number}`, batches: 200 });
    node.start();
    await host.arrived(3);
    await node.addStream(workspaceId, { url: `${host.origin}/healthy`, batches: 1 });
    node.wake();
    await awaitArrival(host, '/healthy');
  });
});
