/**
 * A soak: mixed load on one node for some minutes, at a rate that two cores bear with ease. Memory, file descriptors and
 * connections are flat, no answer is a 5xx, and what was accepted is sent at the end. Prints the numbers as a page, and ends
 * with 1 when a promise was broken. Linux only.
 *
 * Usage: npm run test:soak -- --minutes 15 --seed 1
 */
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { readNumbers, refuse } from '../rig/report.ts';
import { auditSoak, makeLedger } from './audit.ts';
import { makeSoakBundle } from './bundle.ts';
import type { SoakBundle } from './bundle.ts';
import { consoleLoad, hostileLoad, sandboxLoad, tokenLoad } from './callers.ts';
import { dataLoad, makeMainSegment, segmentLoad } from './data.ts';
import { sampleQueues, sampleSessions, sampleTables } from './node-sample.ts';
import type { NodeSample, TableSample } from './node-sample.ts';
import { campaignLoad, pushLoad } from './pushes.ts';
import { reportSoak } from './report.ts';
import type { SoakReport } from './report.ts';
import { makeSandboxTime, runLoad } from './run-actions.ts';
import type { LoadContext } from './run-actions.ts';

type SoakOptions = { minutes: number; seed: number };

export type SoakSample = NodeSample & {
  sessions: number;
  maxTransactionSeconds: number;
  at: number;
  tables: Record<string, TableSample>;
  queues: Record<string, number>;
};

/** The first fifth is for caches, pools and compiled code to fill; it is not judged. */
const warmUpPart = 0.2;
// A full collection takes some tens of milliseconds, which requests of that moment wait.
const sampleMilliseconds = 8_000;

/** Mixed load on one node for some minutes, and what the node was like meanwhile. */
async function soak({ minutes, seed }: SoakOptions, say: (line: string) => void): Promise<SoakReport> {
  const bundle = await makeSoakBundle({ seed });
  try {
    const { callNode, random, tally } = bundle;
    const pause = (seconds: number): Promise<void> => wait(seconds * 1_000);
    const time = makeSandboxTime(callNode, pause);
    const ledger = makeLedger();
    const context: LoadContext = { bundle, ledger, time };
    await bundle.importUsers();
    await makeMainSegment(context);
    ledger.segmentOperations += 1;
    await time.follow();
    const families = [tokenLoad, pushLoad, campaignLoad, dataLoad, segmentLoad, consoleLoad, hostileLoad, sandboxLoad];
    const startedAt = performance.now();
    const endAt = startedAt + minutes * 60_000;
    const load = runLoad(
      families.flatMap((family) => family(context)),
      { random, tally },
    );
    const samples: SoakSample[] = [];
    while (performance.now() < endAt && !bundle.hasEnded()) {
      await wait(sampleMilliseconds);
      const sample = await takeSample(bundle, time.now()).catch((error: unknown) => {
        tally.fault(`the node could not be looked at: ${(error as Error).message}`);
        return undefined;
      });
      if (!sample) break;
      samples.push(sample);
      say(lineOf(sample, startedAt));
    }
    await load.stop();
    const open = await settle(bundle, (seconds) => time.advance(seconds));
    const audit = await auditSoak(bundle, ledger);
    const from = startedAt + warmUpPart * minutes * 60_000;
    return reportSoak({ minutes, seed, samples, from, endAt, open, audit, bundle });
  } finally {
    await bundle.stop();
  }
}

async function takeSample(bundle: SoakBundle, now: Date): Promise<SoakSample> {
  const tables = await sampleTables(bundle.database, now);
  const queues = await sampleQueues(bundle.database);
  const sessions = await sampleSessions(bundle.login);
  return { at: performance.now(), ...(await bundle.sample()), ...sessions, tables, queues };
}

function lineOf(sample: SoakSample, startedAt: number): string {
  const seconds = Math.round((sample.at - startedAt) / 1_000);
  const { rssMegabytes, heapMegabytes, externalMegabytes, fileDescriptors, callerConnections, timers, queues } = sample;
  return (
    `${seconds} s: rss ${rssMegabytes.toFixed(1)} MB, heap ${heapMegabytes.toFixed(1)} MB, ` +
    `external ${externalMegabytes.toFixed(1)} MB, ${fileDescriptors} descriptors, ${callerConnections} callers, ` +
    `${sample.databaseConnections} to the database, ${sample.distinctStatements} statements, ${timers} timers, ` +
    `longest transaction ${sample.maxTransactionSeconds.toFixed(1)} s, ` +
    `${queues['runs open']} open runs`
  );
}

// An advance lets what is due run; attempts that wait are due within minutes, callbacks and erasures within a day.
const settleSteps = 40;
const settleStepSeconds = 6 * 3600;

/** Ends all faults and moves the clock until nothing waits. @returns what waits all the same */
async function settle(
  bundle: SoakBundle,
  advance: (seconds: number) => Promise<void>,
): Promise<Record<string, number>> {
  const call = { kind: 'faults', method: 'POST', path: '/sandbox/faults', body: {} };
  await bundle.callNode({ ...call, expected: [204] });
  for (let step = 1; ; step += 1) {
    const queues = await sampleQueues(bundle.database);
    const [due] = await bundle.database<{ scheduled: number }[]>`
      select count(*) as scheduled from campaigns where next_at is not null and status in ('SCHEDULED', 'ACTIVE')`;
    const open = Object.entries({ ...queues, 'campaigns scheduled': due!.scheduled }).filter(([, rows]) => rows > 0);
    if (open.length === 0 || step > settleSteps || bundle.hasEnded()) return Object.fromEntries(open);
    await advance(settleStepSeconds);
  }
}

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '15' }, seed: { type: 'string', default: '1' } },
});
const command = 'test:soak';
const { minutes, seed } = readNumbers(values, { command });
if (process.platform !== 'linux') refuse(command, 'reads /proc, which only Linux has');

const { text, broken } = await soak({ minutes, seed }, (line) => process.stderr.write(`${line}\n`));
process.stdout.write(text);
for (const promise of broken) process.stdout.write(`BROKEN: ${promise} (--seed ${seed})\n`);
if (broken.length > 0) process.exitCode = 1;
