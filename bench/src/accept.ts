/**
 * Measures accepting (budget P4): pushes to one user each, from 64 connections that wait for their responses, twelve
 * workspaces, every response durable (fsync on), compared with a Fastify route with the same shape and nothing behind it. The
 * two alternate; results are medians of the rounds. Then it measures the callers' wait at half of that rate, for the same
 * number of rounds. One node of role `api` and no worker.
 *
 * Usage: npm run bench -- accept [--connections 64] [--seconds 5] [--rounds 5] [--workspaces 12]
 *        [--profile FOLDER]: writes a CPU profile of the node there. Needs wrk (Debian: wrk).
 */
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { signPush } from '../../server/src/domain/crypto/signatures.ts';
import { pushContent } from '../../server/test/rig/caller.ts';
import { makeTortureBundle } from '../../server/test/rig/installation.ts';
import type { TortureBundle } from '../../server/test/rig/installation.ts';
import { readProcessSeconds, readServerSeconds } from '../../server/test/rig/processor-time.ts';
import { tellComparison } from './comparison.ts';
import { insertWorkspaces } from './insert-workspaces.ts';
import type { BenchWorkspace } from './insert-workspaces.ts';
import { median, quantile } from './median.ts';

import { paceCalls } from './pace-calls.ts';
import type { Pace } from './pace-calls.ts';
import { presentShares, watchProcessor } from './processor-shares.ts';
import { endByItself, profilingNodes } from './profiling.ts';
import { requireWrk, runWrk } from './run-wrk.ts';
import type { HttpRequest, Load } from './run-wrk.ts';
import { startPeer } from './start-peer.ts';

const { values } = parseArgs({
  args: process.argv.slice(2).filter((word) => word !== 'accept'),
  options: {
    connections: { type: 'string', default: '64' },
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '5' },
    workspaces: { type: 'string', default: '12' },
    profile: { type: 'string' },
  },
});
const [connections, seconds, rounds, workspaceCount] = [
  values.connections,
  values.seconds,
  values.rounds,
  values.workspaces,
].map(Number) as [number, number, number, number];
const goal = 0.4;
const goalP99Milliseconds = 50;
const users = 1_000;
/** More than a round can use, and within the workspaces' pushes per minute. */
const requestsPerRound = Math.min(workspaceCount * 10_000, 40_000 * seconds);

requireWrk('accept');
process.stdout.write(`machine: ${cpus().length} × ${cpus()[0]!.model}, Node ${process.version}\n`);
const bare = await startPeer(join(import.meta.dirname, 'bare-route.ts'), ['push']);
const bundle = await makeTortureBundle({
  ...{ seed: 1, devices: users, rounds: 0, windowDevices: 250, parallelChunks: 4 },
  ...profilingNodes(values.profile),
});
try {
  await bundle.importDevices();
  const workspaces = await insertWorkspaces(bundle, workspaceCount);
  await runWrk(bundle.url, { requests: makeRequests('warm-up', workspaces), connections, seconds: 3 });
  const [ours, limit]: [Load[], Load[]] = [[], []];
  for (let round = 1; round <= rounds; round += 1) {
    const requests = makeRequests(`round ${round}`, workspaces);
    limit.push(await runWrk(bare.origin, { requests, connections, seconds }));
    ours.push(await acceptRound(bundle, { round, requests }));
  }
  const [rate, bareRate] = [ours, limit].map((loads) => median(loads.map((load) => load.rate))) as [number, number];
  const ratio = rate / bareRate;
  tellComparison({
    ...{ budget: 'P4', work: `sendpush for one user, ${connections} connections, every answer durable` },
    ours: `${Math.round(rate)}/s`,
    peer: `a Fastify route with nothing behind it ${Math.round(bareRate)}/s`,
    ...{ ratio, goal: `≥ ${goal} ×`, isMet: ratio >= goal },
  });
  const waits: number[][] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const waited = await waitAtHalf(bundle, { rate: rate / 2, requests: makeRequests(`half, ${round}`, workspaces) });
    const [half, most] = [quantile(waited, 0.5), quantile(waited, 0.99)];
    process.stdout.write(
      `at half, round ${round}: waited ${half.toFixed(1)} ms (median), ${most.toFixed(1)} ms (99 of 100)\n`,
    );
    waits.push([half, most]);
  }
  const [p50, p99] = [0, 1].map((place) => median(waits.map((wait) => wait[place]!))) as [number, number];
  tellComparison({
    ...{ budget: 'P4', work: 'the wait of a caller at half of that rate' },
    ours: `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`,
    ...{ peer: '–', ratio: null, goal: `p99 < ${goalP99Milliseconds} ms`, isMet: p99 < goalP99Milliseconds },
  });
} finally {
  await bare.stop();
  if (values.profile !== undefined) await endByItself(bundle.api());
  await bundle.stop();
}

function makeRequests(name: string, workspaces: readonly BenchWorkspace[]): HttpRequest[] {
  return Array.from({ length: requestsPerRound }, (_, number) => {
    const { id: appId, pushKey: key } = workspaces[number % workspaces.length]!;
    const requestId = `${name} ${number}`;
    const attributeValue = `demo-user-${(number * 7919) % users}`;
    const target = { attribute: 'USER_ATTRIBUTE_UNIQUE_ID', comparisonParameter: 'is', attributeValue };
    const body = {
      requestId,
      campaignName: name,
      targetAudience: 'User',
      targetUserAttributes: target,
      ...pushContent,
    };
    return {
      path: '/v2.1/transaction/sendpush',
      headers: {
        'Content-Type': 'application/json',
        'X-SVC-APPKEY': appId,
        'X-SVC-PushAPI-Signature': signPush({ appId, campaignName: name, key }),
        'X-SVC-Query-Type': 'user',
      },
      body: JSON.stringify(body),
    };
  });
}

/** Checks that each request with a response is in the database exactly once. */
async function acceptRound(
  { url, api, database, advanceClock }: TortureBundle,
  { round, requests }: { round: number; requests: readonly HttpRequest[] },
): Promise<Load> {
  // A workspace may push 10,000 times a minute; the node sees the moved clock within a second.
  await advanceClock(61_000);
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  const endWatch = await watchProcessor([
    { name: 'node', readSeconds: () => readProcessSeconds(api().process.pid!) },
    { name: 'database', readSeconds: () => readServerSeconds(database) },
  ]);
  const load = await runWrk(url, { requests, connections, seconds });
  const shares = await endWatch(load.requests);
  const [stored] =
    await database`select count(*) as requests from push_requests where request_id like ${`round ${round} %`}`;
  // wrk stops at the end of its time, with up to one request in flight per connection.
  if (stored!.requests < load.requests || stored!.requests > load.requests + connections)
    throw new Error(`${load.requests} were answered, ${stored!.requests} are stored`);
  process.stdout.write(
    `round ${round}: ${Math.round(load.rate)}/s, ${presentShares(shares)}, ` +
      `waited ${load.medianMilliseconds.toFixed(1)} ms (median), ${load.p99Milliseconds.toFixed(1)} ms (99 of 100)\n`,
  );
  return load;
}

/** @returns the milliseconds that each caller waited */
async function waitAtHalf(
  { url, advanceClock }: TortureBundle,
  load: Pick<Pace, 'rate' | 'requests'>,
): Promise<number[]> {
  await advanceClock(61_000);
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  return paceCalls(url, { ...load, seconds, connections, words: '"status":"Success"' });
}
