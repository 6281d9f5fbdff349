import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { makeClock, makeManualClock } from '../../src/clock.ts';
import { makeJobBook } from '../../src/engine/jobs/job.ts';
import type { JobBook } from '../../src/engine/jobs/job.ts';
import { buildServer } from '../../src/http/server/build-server.ts';
import { healthRoutes } from '../../src/http/health.ts';
import { makeLog } from '../../src/log.ts';
import { findJobTroubles, makeReadiness } from '../../src/start/node/readiness.ts';
import type { Readiness } from '../../src/start/node/readiness.ts';
import { openDatabase } from '../../src/storage/database.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';

let own: TestDatabase;
let readiness: Readiness;
let book: JobBook;
let clock: ReturnType<typeof makeManualClock>;
const at = new Date('2026-01-01T00:00:00Z');
beforeAll(async () => {
  own = await createTestDatabase();
});
afterAll(() => own.drop());
beforeEach(() => {
  clock = makeManualClock(at);
  readiness = makeReadiness({ database: own.database, clock });
  book = makeJobBook();
  readiness.watch(() => findJobTroubles(book));
});

async function ask(query = ''): Promise<{ status: number; body: unknown }> {
  const log = makeLog({ level: 'silent', pretty: false });
  const server = await buildServer({ log, clock: makeClock(), trustProxy: false }, [healthRoutes(readiness)]);
  const { statusCode, body } = await server.inject({ url: `/readyz${query}` });
  await server.close();
  return { status: statusCode, body: JSON.parse(body) as unknown };
}

const full = Object.assign(new Error('could not extend file'), { code: '53100' });

test('is not ready after a job failed three times in a row, names the job, and recovers when it succeeds', async () => {
  for (let time = 0; time < 2; time += 1) book.note('release-runs', { at, error: full });
  expect(await ask()).toEqual({ status: 200, body: { status: 'ok' } });
  book.note('release-runs', { at, error: full });
  book.note('end-runs', { at, done: 0 });
  const red = { status: 503, body: { status: 'not ready', troubles: ['jobs: release-runs (53100)'] } };
  expect(await ask()).toEqual(red);
  book.note('release-runs', { at, done: 0 });
  expect(await ask('?verbose')).toEqual({ status: 200, body: { status: 'ok', troubles: [] } });
});

test('shows the outgoing proxy with `verbose`, and stays ready despite its faults', async () => {
  const log = makeLog({ level: 'silent', pretty: false });
  const health = healthRoutes({ ...readiness, proxyState: () => 'PROXY_AUTH' });
  const server = await buildServer({ log, clock: makeClock(), trustProxy: false }, [health]);
  const answers = await Promise.all(['/readyz', '/readyz?verbose'].map((url) => server.inject({ url })));
  await server.close();
  expect(answers.map((answer) => [answer.statusCode, answer.json()])).toEqual([
    [200, { status: 'ok' }],
    [200, { status: 'ok', troubles: [], proxy: 'PROXY_AUTH' }],
  ]);
});

test('stays ready if a success separates the failures', async () => {
  for (let time = 0; time < 5; time += 1) {
    book.note('release-runs', { at, error: full });
    book.note('release-runs', { at, error: full });
    book.note('release-runs', { at, done: 1 });
  }
  expect((await ask()).status).toBe(200);
});

test('is not ready for 15 seconds after the database rejected a write', async () => {
  readiness.noteRefusedWrite();
  clock.advance(14_999);
  expect(await ask()).toEqual({ status: 503, body: { status: 'not ready', troubles: ['writes'] } });
  clock.advance(1);
  expect((await ask()).status).toBe(200);
});

test('reports a stopping node without ?verbose', async () => {
  readiness.noteStopping();
  expect(await ask()).toEqual({ status: 503, body: { status: 'not ready', troubles: ['stopping'] } });
});

test('is not ready with a read-only database, such as a replica that was not promoted', async () => {
  const name = new URL(own.url).pathname.slice(1);
  await own.database.unsafe(`alter database ${name} set default_transaction_read_only = on`);
  const copy = openDatabase({ url: own.url, connections: 1, name: 'copy' });
  readiness = makeReadiness({ database: copy, clock });
  const answer = await ask();
  await copy.end();
  expect(answer).toEqual({ status: 503, body: { status: 'not ready', troubles: ['read-only'] } });
});
