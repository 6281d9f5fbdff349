import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeClock } from '../../src/clock.ts';
import { makeDoorbell, ringAfterCommit } from '../../src/engine/doorbell.ts';
import type { Bell } from '../../src/engine/doorbell.ts';
import { makeInteractionTokens } from '../../src/domain/events/interactions.ts';
import type { Delivery } from '../../src/providers/deliver.ts';
import { makeOutcomeBuffer } from '../../src/engine/jobs/outcome-buffer.ts';
import { makeEraseDueUsers } from '../../src/engine/housekeeping/erase-users.ts';
import { startWorker } from '../../src/engine/start-worker.ts';
import type { Worker, WorkerDependencies } from '../../src/engine/start-worker.ts';
import { makeLog } from '../../src/log.ts';
import { inTransaction } from '../../src/storage/database.ts';
import { findFreePort } from '../find-free-port.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';

let bundle: TestDatabase;
let worker: Worker | undefined;
const silent = makeLog({ level: 'silent', pretty: false });
const ran = new Map<string, number>();

beforeEach(async () => {
  ran.clear();
  bundle = await createTestDatabase();
});
afterEach(async () => {
  await worker?.stop();
  worker = undefined;
  await bundle.drop();
});

async function start(more: Partial<WorkerDependencies> = {}): Promise<void> {
  worker = await startWorker({
    ...{ database: bundle.database, sessionUrl: bundle.url, clock: makeClock(), log: silent },
    doorbell: makeDoorbell(bundle),
    book: { note: (name: string) => void ran.set(name, (ran.get(name) ?? 0) + 1) } as never,
    // No look comes of itself.
    rest: { beginCall: () => () => {}, stretch: (milliseconds) => milliseconds * 20, onWoken: () => {} },
    encryption: {} as never,
    delivery: {} as Delivery,
    interactionTokens: makeInteractionTokens(Buffer.alloc(32, 1)),
    phoneDefaults: {} as never,
    ...{ owner: 'one', parallelChunks: 1, windowDevices: 10, lateSendMinutes: 10, inboxMessages: 10 },
    retention: { deliveries: 30, events: 30 } as never,
    ...{ allowedNetworks: [], smtpClient: undefined, segmentUsersPerDay: 10, abbreviation: 'svc' },
    ...{ conversionSettleSeconds: 1, async *readReport() {} },
    outcomes: makeOutcomeBuffer({ log: silent, pause: async () => {} }),
    ...more,
  });
}
const erase = makeEraseDueUsers({ database: {} as never }).name;
const byTime = ['fire-due-campaigns', 'release-due-triggers', 'expire-segments', erase];
const fanOut = [
  ...['release-runs', 'retry-deliveries', 'continue-mended-runs', 'probe-held-keys', 'send-live-activities'],
  'end-runs',
];
const receivers = [
  ...['fill-segments', 'deliver-callbacks', 'note-event-batches', 'post-event-batches', 'send-mails'],
  'write-report-files',
];
const housekeeping = [
  ...['archive-ended-keys', 'drop-old-records', 'drop-old-receipts', 'drop-segment-leftovers', 'prepare-days'],
  ...['drop-old-days', 'trim-old-records', 'attribute-conversions'],
];
const all = [...byTime, ...fanOut, ...receivers, ...housekeeping];

/** Nothing runs any more. */
async function rest(): Promise<void> {
  const count = (): number => [...ran.values()].reduce((sum, times) => sum + times, 0);
  for (let before = -1; before !== count();) {
    before = count();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Which jobs ran, once all that are expected did. */
async function expectRuns(expected: string[], act: () => void | Promise<void>): Promise<void> {
  await rest();
  ran.clear();
  await act();
  await expect.poll(() => expected.filter((name) => !ran.has(name)), { interval: 5 }).toEqual([]);
  expect([...ran.keys()].sort()).toEqual([...expected].sort());
}

test('a worker looks for all work when it starts, and for what is due or all of it when it is told to', async () => {
  await expectRuns(all, () => start());
  await expectRuns([...byTime, ...fanOut, ...receivers], () => worker!.wakeDue());
  await expectRuns(all, () => worker!.wake());
});

const ring = (bell: Bell) => inTransaction(bundle.database, async (tx) => ringAfterCommit(tx, bell));

test('a ring wakes what sends, or what reads files', async () => {
  await expectRuns(all, () => start());
  await expectRuns(fanOut, () => ring('fan-out'));
  await expectRuns(receivers, () => ring('segments'));
});

test('a worker that has stopped does nothing more, and what could not be stored is given up in time', async () => {
  let stops = 0;
  const closed: string[] = [];
  await start({
    outcomes: { ...makeOutcomeBuffer({ log: silent, pause: async () => {} }), noteStopping: () => void (stops += 1) },
    smtpClient: { send: () => Promise.reject(new Error('not asked for')), close: () => void closed.push('smtp') },
  });
  await worker!.stop();
  ran.clear();
  worker!.wake();
  await ring('fan-out');
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect([ran.size, stops, closed]).toEqual([0, 1, ['smtp']]);
});

test('alerts are watched for where somebody says what they are of', async () => {
  const watching = { readAlertIssues: async () => [], recheck: async () => {}, consoleUrl: undefined };
  await expectRuns([...all, 'watch-alerts'], () => start({ alerts: watching as never }));
});

test('a worker that hears no ring finds the work with its next look', async () => {
  const url = new URL(bundle.url);
  url.port = String(await findFreePort());
  // The looks come at their usual distance.
  await start({ rest: undefined, sessionUrl: url.href });
  await expect.poll(() => ran.has('release-runs'), { interval: 5 }).toBe(true);
  await ring('fan-out');
  ran.clear();
  await expect.poll(() => ran.has('release-runs'), { timeout: 10_000 }).toBe(true);
});
