import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeClock } from '../../../src/clock.ts';
import { makeEncryption } from '../../../src/domain/crypto/encryption.ts';
import { makeId } from '../../../src/domain/ids.ts';
import { makeDeliverCallbacks } from '../../../src/engine/outbox/callbacks.ts';
import { startJob } from '../../../src/engine/jobs/job.ts';
import { makeOutcomeBuffer } from '../../../src/engine/jobs/outcome-buffer.ts';
import { makeOutgoingClient, postOnce } from '../../../src/outgoing/client.ts';
import { makeLog } from '../../../src/log.ts';
import { createTestDatabase } from '../../test-database.ts';
import { insertTestWorkspace } from '../../test-workspace.ts';
import { awaitArrival, startReceiver, startSilentReceiver } from '../../receivers/silent-server.ts';
import type { TestReceiver } from '../../receivers/silent-server.ts';

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

let node: Awaited<ReturnType<typeof makeNodeBundle>>;
beforeEach(async () => {
  node = await makeNodeBundle();
});
afterEach(() => node.end());

const times = (count: number, of: (number: number) => string): string[] =>
  Array.from({ length: count }, (_, n) => of(n));

describe('a callback to a receiver that answers', () => {
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
