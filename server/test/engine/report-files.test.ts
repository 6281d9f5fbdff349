import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { makeManualClock } from '../../src/clock.ts';
import { makeWriteReportFiles } from '../../src/engine/report-files.ts';
import type { ReadReport } from '../../src/engine/report-files.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';

const now = new Date('2026-03-02T12:00:00Z');
const later = (seconds: number): Date => new Date(now.getTime() + seconds * 1000);

let testDatabase: TestDatabase;
let workspaceId: string;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  workspaceId = await insertTestWorkspace(testDatabase.database, now);
});
afterAll(() => testDatabase.drop());
beforeEach(async () => {
  clock.anchor(now);
  await testDatabase.database`delete from report_files`;
});

async function addReport(id: string, { nextAt = now, attempts = 0 } = {}): Promise<void> {
  await testDatabase.database`
    insert into report_files (id, workspace_id, name, request, signature_hash, attempts, next_at, created_at, expires_at)
    values (${id}, ${workspaceId}, ${id}, '{"metric": "TOTAL"}', sha256('a'), ${attempts}, ${nextAt}, ${now}, ${later(9e5)})`;
}

const clock = makeManualClock(now);
const logged: Record<string, unknown>[] = [];
function makeJob(readReport: ReadReport) {
  logged.length = 0;
  const log = { error: (line: Record<string, unknown>) => void logged.push(line) } as never;
  return makeWriteReportFiles({ database: testDatabase.database, clock, log, readReport });
}

const readLines = (...lines: string[]): ReadReport =>
  async function* () {
    yield* lines;
  };
const failing: ReadReport = async function* () {
  yield 'a line\n';
  throw new Error('cannot be read');
};

async function readReports() {
  const rows = await testDatabase.database`
    select state, attempts, reason, campaigns, bytes::int as bytes, next_at as "nextAt", ended_at as "endedAt",
      lease_until as "leaseUntil" from report_files order by id`;
  return [...rows];
}

async function readPieces(): Promise<Buffer[]> {
  const rows = await testDatabase.database<{ bytes: Buffer }[]>`select bytes from report_file_pieces order by number`;
  return rows.map(({ bytes }) => bytes);
}

test('creates a requested file from the lines of its report, with their number and its size', async () => {
  const asked: unknown[] = [];
  await addReport('report');
  const job = makeJob(async function* (report) {
    asked.push(report);
    yield* ['one\n', 'two\n', 'three\n'];
  });
  expect(await job.runOnce(now)).toBe(1);
  expect(asked).toEqual([{ metric: 'TOTAL', workspaceId }]);
  const pieces = await readPieces();
  expect(pieces).toHaveLength(1);
  expect(gunzipSync(pieces[0]!).toString()).toBe('one\ntwo\nthree\n');
  expect(await readReports()).toEqual([
    {
      ...{ state: 'READY', attempts: 1, reason: null, campaigns: 3, bytes: pieces[0]!.length },
      ...{ nextAt: null, endedAt: now, leaseUntil: null },
    },
  ]);
  expect(logged).toEqual([]);
});

test('creates one file at a time, the one that waited longest, and only due ones', async () => {
  await addReport('second', { nextAt: later(-1) });
  await addReport('first', { nextAt: later(-2) });
  await addReport('third', { nextAt: later(1) });
  const job = makeJob(readLines());
  const states = async () => (await readReports()).map(({ state }) => state as string);
  expect(await job.runOnce(now)).toBe(1);
  expect(await states()).toEqual(['READY', 'WAITING', 'WAITING']);
  expect(await job.runOnce(now)).toBe(1);
  expect(await job.runOnce(now)).toBe(0);
  expect(await states()).toEqual(['READY', 'READY', 'WAITING']);
});

/** A line that stays 8 KiB when it is compressed. */
const incompressible = (number: number): string =>
  createHash('shake256', { outputLength: 8_192 }).update(String(number)).digest('base64');

test('stores a large file in ordered pieces of at least 256 KiB, except the last', async () => {
  await addReport('report');
  const lines = Array.from({ length: 100 }, (_, number) => incompressible(number));
  await makeJob(readLines(...lines)).runOnce(now);
  const pieces = await readPieces();
  expect(pieces.length).toBeGreaterThan(2);
  for (const piece of pieces.slice(0, -1)) {
    expect(piece.length).toBeGreaterThanOrEqual(256 * 1024);
    // No more than a chunk of the compressor's beyond.
    expect(piece.length).toBeLessThan(320 * 1024);
  }
  expect(pieces.at(-1)!.length).toBeLessThan(256 * 1024);
  expect(gunzipSync(Buffer.concat(pieces)).toString()).toBe(lines.join(''));
  const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
  expect(await readReports()).toMatchObject([{ state: 'READY', campaigns: 100, bytes }]);
});

test('retries a failed file after a minute, and logs its fault', async () => {
  await addReport('report');
  const job = makeJob(failing);
  expect(await job.runOnce(now)).toBe(1);
  expect(await readReports()).toEqual([
    {
      ...{ state: 'WAITING', attempts: 1, reason: 'a fault of the service', campaigns: null, bytes: null },
      ...{ nextAt: later(60), endedAt: null, leaseUntil: null },
    },
  ]);
  expect(logged).toEqual([{ reportId: 'report', err: new Error('cannot be read') }]);
  expect(await job.runOnce(later(59.999))).toBe(0);
  expect(await job.runOnce(later(60))).toBe(1);
});

test('gives up after the fifth failed attempt', async () => {
  await addReport('report', { attempts: 3 });
  await makeJob(failing).runOnce(now);
  expect(await readReports()).toMatchObject([{ state: 'WAITING', attempts: 4 }]);
  await testDatabase.database`update report_files set next_at = ${now}`;
  await makeJob(failing).runOnce(now);
  expect(await readReports()).toMatchObject([
    { state: 'FAILED', attempts: 5, reason: 'a fault of the service', nextAt: null, endedAt: now },
  ]);
});

test('may succeed in the fifth attempt, and gives up a file whose five workers died', async () => {
  await addReport('a', { attempts: 4 });
  await makeJob(readLines('a\n')).runOnce(now);
  await addReport('b', { attempts: 5 });
  await makeJob(() => {
    throw new Error('is not read');
  }).runOnce(now);
  expect(await readReports()).toMatchObject([{ state: 'READY' }, { state: 'FAILED', attempts: 6 }]);
  expect(logged).toEqual([{ reportId: 'b', err: new Error('no attempt came to an end') }]);
});

test('stores nothing and does not settle the file if the worker lost it', async () => {
  await addReport('report');
  await makeJob(async function* () {
    yield 'a\n';
    await testDatabase.database`update report_files set attempts = 2`;
  }).runOnce(now);
  expect(await readPieces()).toEqual([]);
  expect(await readReports()).toMatchObject([{ state: 'WAITING', attempts: 2 }]);
  expect(logged).toEqual([]);
});

test('leases a file for five minutes, and for as long again with each stored piece', async () => {
  await addReport('report');
  const leases: unknown[] = [];
  const noteLease = async () => void leases.push((await readReports())[0]!.leaseUntil);
  await makeJob(async function* () {
    await noteLease();
    clock.advance(100_000);
    for (let number = 0; number < 100; number += 1) yield incompressible(number);
    await noteLease();
  }).runOnce(now);
  expect(leases).toEqual([later(300), later(400)]);
});
