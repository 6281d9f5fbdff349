import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeClock } from '../../../src/clock.ts';
import { makeId } from '../../../src/domain/ids.ts';
import { startJob } from '../../../src/engine/jobs/job.ts';
import { makeOutcomeBuffer } from '../../../src/engine/jobs/outcome-buffer.ts';
import { makeOutgoingClient } from '../../../src/outgoing/client.ts';
import { makeFillSegments } from '../../../src/engine/segment-fill/fill-segments.ts';
import { makeLog } from '../../../src/log.ts';
import { awaitArrival, startReceiver, startSilentReceiver } from '../../receivers/silent-server.ts';
import type { TestReceiver } from '../../receivers/silent-server.ts';
import { createTestDatabase } from '../../test-database.ts';
import { insertTestWorkspace } from '../../test-workspace.ts';

/** One node with real time and real sockets. */
async function makeNodeBundle() {
  const { database, drop } = await createTestDatabase();
  const clock = makeClock();
  const log = makeLog({ level: 'silent', pretty: false });
  const outgoing = makeOutgoingClient({ allowedNetworks: ['127.0.0.0/8'] });
  const servers: TestReceiver[] = [];
  let running: ReturnType<typeof startJob> | undefined;
  const job = makeFillSegments({
    ...{ database, clock, log, outgoing, owner: 'node', usersPerDay: 1_000_000, emailState: 'KEPT' },
    outcomes: makeOutcomeBuffer({ log, pause: async () => {} }),
    onEnded() {},
    onFreed: () => running?.wake(),
  });
  let made = 0;
  const keep = (server: TestReceiver): TestReceiver => {
    servers.push(server);
    return server;
  };
  return {
    database,
    addWorkspace: () => insertTestWorkspace(database, new Date(Date.UTC(2026, 2, 1, 12, 0, (made += 1)))),
    silent: async () => keep(await startSilentReceiver()),
    server: async () => keep(await startReceiver()),
    /** Files that have been due for an hour, each of a segment of its own. */
    async addDue(workspaceId: string, urls: readonly string[]): Promise<void> {
      const at = new Date(clock.now().getTime() - 3_600_000);
      const rows = urls.map((url, number) => ({ id: makeId(at), url, name: `Segment ${number}` }));
      await database`
        insert into segments (id, workspace_id, name, kind, state, source, attribute_name, attribute_type, created_by,
          created_at, updated_at)
        select id, ${workspaceId}, name, 'FILE', 'FILLING', 'API', 'uid', 'string', 'test', ${at}, ${at}
        from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) as row (id text, name text)`;
      await database`
        insert into segment_operations (id, workspace_id, segment_id, number, kind, request_id, file_url, state,
          not_before, requested_by, created_at)
        select id, ${workspaceId}, id, 1, 'CREATE', md5(id), url, 'QUEUED', ${at}, 'test', ${at}
        from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) as row (id text, url text)`;
    },
    start() {
      running = startJob(job, { clock, log });
    },
    wake: () => running?.wake(),
    async end(): Promise<void> {
      job.abort();
      await running?.stop();
      for (const server of servers) server.close();
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
  Array.from({ length: count }, (_, number) => of(number));

describe('a file at a server that answers', () => {
  test.each([1, 10])('does not wait for 200 files of another workspace at %i silent hosts', async (hosts) => {
    const [noisy, quiet] = [await node.addWorkspace(), await node.addWorkspace()];
    const silent = await Promise.all(times(hosts, String).map(() => node.silent()));
    const healthy = await node.server();
    await node.addDue(
      noisy,
      times(200, (number) => `${silent[number % hosts]!.origin}/${number}.csv`),
    );
    node.start();
    await Promise.race(silent.map((server) => server.arrived(1)));
    await node.addDue(quiet, [`${healthy.origin}/file.csv`]);
    node.wake();
    await awaitArrival(healthy, '/file.csv');
    await expect
      .poll(() => node.database`select state from segment_operations where workspace_id = ${quiet}`, {
        timeout: 10_000,
      })
      .toEqual([{ state: 'SUCCEEDED' }]);
  });

  test('does not wait for 20 files of its own workspace at a silent host', async () => {
    const workspaceId = await node.addWorkspace();
    const silent = await node.silent();
    const healthy = await node.server();
    const late = times(1, () => `${healthy.origin}/file.csv`);
    await node.addDue(workspaceId, [...times(20, (number) => `${silent.origin}/${number}.csv`), ...late]);
    node.start();
    await awaitArrival(healthy, '/file.csv');
  });
});
