/**
 * Measures access tokens (budget P5): client credentials of many keys from 64 connections, every token durable (fsync on). The
 * peers are `oidc-provider`, which keeps its tokens in memory only, and a Fastify route with nothing behind it (the limit).
 * They run in turn; results are medians of the rounds. A key gets five tokens a minute (interface 4.1), so each has its own
 * requests.
 *
 * Usage: npm run bench -- tokens [--connections 64] [--seconds 5] [--rounds 5] [--keys 8000]
 *        [--profile FOLDER]: writes a CPU profile of the node there. Needs wrk (Debian: wrk).
 */
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createKey } from '../../server/src/app/keys/keys.ts';
import { inTransaction } from '../../server/src/storage/database.ts';
import { makeTortureBundle } from '../../server/test/rig/installation.ts';
import type { TortureBundle } from '../../server/test/rig/installation.ts';
import { readProcessSeconds, readServerSeconds } from '../../server/test/rig/processor-time.ts';
import { tellComparison } from './comparison.ts';
import { median } from './median.ts';
import { presentShares, watchProcessor } from './processor-shares.ts';
import { endByItself, profilingNodes } from './profiling.ts';
import { requireWrk, runWrk } from './run-wrk.ts';
import type { HttpRequest, Load } from './run-wrk.ts';
import { startPeer } from './start-peer.ts';

const { values } = parseArgs({
  args: process.argv.slice(2).filter((word) => word !== 'tokens'),
  options: {
    connections: { type: 'string', default: '64' },
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '5' },
    keys: { type: 'string', default: '8000' },
    profile: { type: 'string' },
  },
});
const [connections, seconds, rounds, keyCount] = [values.connections, values.seconds, values.rounds, values.keys].map(
  Number,
) as [number, number, number, number];
const goalRate = 4_000;

requireWrk('tokens');
process.stdout.write(`machine: ${cpus().length} × ${cpus()[0]!.model}, Node ${process.version}\n`);
const script = (name: string): string => join(import.meta.dirname, name);
const bare = await startPeer(script('bare-route.ts'), ['token']);
const peer = await startPeer(script('oidc-peer.ts'), [String(keyCount)]);
const bundle = await makeTortureBundle({
  ...{ seed: 1, devices: 0, rounds: 0, windowDevices: 250, parallelChunks: 4 },
  ...profilingNodes(values.profile),
});
try {
  const keys = await makeKeys(bundle);
  const ours = keys.map(({ id, secret }) => formOf('/v1/oauth/token', { id, secret }));
  const theirs = keys.map((_, number) =>
    formOf('/token', { id: `client-${number}`, secret: `secret-of-client-${number}` }),
  );
  const how = { connections, seconds };
  await runWrk(peer.origin, { requests: theirs, connections, seconds: 2 });
  await runWrk(bare.origin, { requests: ours, connections, seconds: 2 });
  const [us, oidc, limit]: [Load[], Load[], Load[]] = [[], [], []];
  for (let round = 0; round <= rounds; round += 1) {
    const load = await issueRound(bundle, { round, requests: ours });
    // The first round warms up the node.
    if (round === 0) continue;
    us.push(load);
    oidc.push(await runWrk(peer.origin, { requests: theirs, ...how }));
    limit.push(await runWrk(bare.origin, { requests: ours, ...how }));
  }
  const [rate, oidcRate, bareRate] = [us, oidc, limit].map((loads) => median(loads.map((load) => load.rate))) as [
    number,
    number,
    number,
  ];
  process.stdout.write(`a Fastify route with nothing behind it: ${Math.round(bareRate)}/s\n`);
  tellComparison({
    ...{ budget: 'P5', work: `access tokens of ${keyCount} keys, ${connections} connections, ours durable` },
    ours: `${Math.round(rate)}/s`,
    peer: `oidc-provider in memory ${Math.round(oidcRate)}/s`,
    ratio: rate / oidcRate,
    goal: `≥ 1 ×, ≥ ${goalRate}/s`,
    isMet: rate >= oidcRate && rate >= goalRate,
  });
} finally {
  if (values.profile !== undefined) await endByItself(bundle.api());
  await bundle.stop();
  await Promise.all([peer.stop(), bare.stop()]);
}

async function makeKeys({
  database,
  encryption,
  workspaceId,
  now,
}: TortureBundle): Promise<{ id: string; secret: string }[]> {
  return inTransaction(database, async (tx) => {
    const made: { id: string; secret: string }[] = [];
    for (let number = 0; number < keyCount; number += 1) {
      const command = { workspaceId, kind: 'oauth', name: `Bench ${number}`, at: now() } as const;
      const { secret } = await createKey({ encryption }, tx, command);
      made.push({ id: workspaceId, secret });
    }
    return made;
  });
}

function formOf(path: string, { id, secret }: { id: string; secret: string }): HttpRequest {
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: id, client_secret: secret });
  return { path, headers: { 'Content-Type': 'application/x-www-form-urlencoded' }, body: form.toString() };
}

/** Checks that the issued tokens are in the database. */
async function issueRound(
  { url, api, database, advanceClock }: TortureBundle,
  { round, requests }: { round: number; requests: readonly HttpRequest[] },
): Promise<Load> {
  // The longest limit of a key is ten minutes; the node sees the moved clock within a second.
  await advanceClock(601_000);
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  const countTokens = async (): Promise<number> =>
    (await database<{ tokens: number }[]>`select count(*) as tokens from access_tokens`)[0]!.tokens;
  const tokensBefore = await countTokens();
  const endWatch = await watchProcessor([
    { name: 'node', readSeconds: () => readProcessSeconds(api().process.pid!) },
    { name: 'database', readSeconds: () => readServerSeconds(database) },
  ]);
  const load = await runWrk(url, { requests, connections, seconds });
  const shares = await endWatch(load.requests);
  const stored = (await countTokens()) - tokensBefore;
  // wrk stops at the end of its time, with up to one request in flight per connection.
  if (stored < load.requests || stored > load.requests + connections)
    throw new Error(`${load.requests} were answered, ${stored} are stored`);
  process.stdout.write(
    `round ${round}: ${Math.round(load.rate)}/s, ${presentShares(shares)}, ` +
      `waited ${load.medianMilliseconds.toFixed(1)} ms (median), ${load.p99Milliseconds.toFixed(1)} ms (99 of 100)\n`,
  );
  return load;
}
