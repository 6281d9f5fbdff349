import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { makeCallRecorder } from '../../src/app/api-log.ts';
import type { RecordedCall } from '../../src/app/api-log.ts';
import { makeManualClock } from '../../src/clock.ts';
import { toStorable } from '../../src/domain/storable-text.ts';
import { makeLog } from '../../src/log.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';

let bundle: TestDatabase;
beforeAll(async () => {
  bundle = await createTestDatabase();
});
afterAll(() => bundle.drop());

const now = new Date('2026-01-01T00:00:00Z');
const aCall = (path: string, more: Partial<RecordedCall> = {}): RecordedCall => ({
  ...{ workspaceId: null, receivedAt: now, method: 'POST', path, route: path, status: 400, durationMilliseconds: 1 },
  ...{ keyId: null, errorName: 'BODY_MALFORMED', errorDetail: null, warnings: [], requestBody: null },
  ...{ responseBody: null, headers: null },
  ...more,
});

const here = { address: '192.0.2.1' };

/** Records calls, and says which are in the log afterwards. */
async function store(calls: RecordedCall[], from = ['192.0.2.1']): Promise<Record<string, string | null>[]> {
  const { database } = bundle;
  const lines: string[] = [];
  const log = makeLog({ level: 'warn', pretty: false }, { write: (line: string) => void lines.push(line) });
  const recorder = makeCallRecorder({ database, clock: makeManualClock(now), log });
  for (const [index, call] of calls.entries()) recorder.record(call, { address: from[index % from.length]! });
  await recorder.stop();
  const rows = await database`
    with taken as (delete from api_log returning *)
    select path, error_detail as "errorDetail", request_body as "requestBody", warnings from taken order by path`;
  return [...rows, { path: `${lines.length} lines in the log`, errorDetail: null, requestBody: null }] as never;
}

test('stores a call with NUL and lone surrogates, and the other calls of its batch', async () => {
  const stored = await store([
    aCall('/1'),
    aCall('/2', { errorDetail: `Unexpected token '\0'`, requestBody: '\0{"a"\ud800', warnings: ['\0', '\udc00 a'] }),
    aCall('/3'),
  ]);
  expect(stored.map(({ path }) => path)).toEqual(['/1', '/2', '/3', '0 lines in the log']);
  expect(stored[1]).toEqual({
    path: '/2',
    errorDetail: `Unexpected token '\u{FFFD}'`,
    requestBody: '\u{FFFD}{"a"\u{FFFD}',
    warnings: ['\u{FFFD}', '\u{FFFD} a'],
  });
});

test('leaves out only a call that the database rejects, and logs it', async () => {
  const calls = Array.from({ length: 20 }, (_, index) =>
    aCall(`/${index + 10}`, { status: index === 7 ? 99_999 : 200 }),
  );
  const stored = await store(calls);
  expect(stored).toHaveLength(19 + 1);
  expect(stored.at(-1)!.path).toBe('1 lines in the log');
  expect(stored.map(({ path }) => path)).not.toContain('/17');
});

test('keeps 600 unauthenticated calls a minute per address, and all calls with a key', async () => {
  const flood = Array.from({ length: 700 }, (_, index) => aCall(`/flood/${index}`));
  const proven = Array.from({ length: 700 }, (_, index) => aCall(`/proven/${index}`, { keyId: 'a'.repeat(24) }));
  const stored = await store([...flood, ...proven]);
  const count = (prefix: string) => stored.filter(({ path }) => path?.startsWith(prefix)).length;
  expect([count('/flood/'), count('/proven/')]).toEqual([600, 700]);
  expect(stored.at(-1)!.path).toBe('1 lines in the log');
  const ofTwo = await store(flood, ['192.0.2.1', '192.0.2.2']);
  expect(ofTwo).toHaveLength(700 + 1);
});

test('makes names and texts storable at any depth, and changes nothing else', () => {
  const date = new Date(0);
  expect(toStorable({ 'a\0': ['\ud800', { b: '\0' }], n: 1, none: null, date })).toEqual({
    'a\u{FFFD}': ['\u{FFFD}', { b: '\u{FFFD}' }],
    n: 1,
    none: null,
    date,
  });
});

test('returns every call recorded before the wait, without the half second of the batch', async () => {
  const { database } = bundle;
  const log = makeLog({ level: 'silent', pretty: false });
  const recorder = makeCallRecorder({ database, clock: makeManualClock(now), log });
  recorder.record(aCall('/before'), here);
  const firstWait = recorder.settle();
  recorder.record(aCall('/later'), here);
  await Promise.all([firstWait, recorder.settle()]);
  const rows = await database`delete from api_log returning path`;
  expect(rows.map(({ path }) => String(path)).toSorted()).toEqual(['/before', '/later']);
  await recorder.stop();
});

test('stores a hundred calls at once, and later calls with the next hundred or half second', async () => {
  const { database } = bundle;
  // Its half second never comes.
  vi.useFakeTimers({ toFake: ['setInterval'] });
  const recorder = makeCallRecorder({
    ...{ database, clock: makeManualClock(now), log: makeLog({ level: 'silent', pretty: false }) },
  });
  try {
    const countStored = async () => Number((await database`select count(*) as calls from api_log`)[0]!.calls);
    for (let call = 0; call < 250; call += 1) {
      recorder.record(aCall(`/${call}`), here);
      if (call === 98) expect(await countStored()).toBe(0);
      if (call === 99) while ((await countStored()) < 100);
    }
    while ((await countStored()) < 250);
    for (let call = 0; call < 20; call += 1) recorder.record(aCall(`/few-${call}`), here);
    expect(await countStored()).toBe(250);
    vi.advanceTimersByTime(500);
    while ((await countStored()) < 270);
  } finally {
    vi.useRealTimers();
    await recorder.stop();
    await database`delete from api_log`;
  }
});
