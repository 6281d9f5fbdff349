import { createKey } from '../../../server/src/app/keys/keys.ts';
import { inTransaction } from '../../../server/src/storage/database.ts';
import { inTurn, median, quantile } from '../kit/bench.ts';
import type { Bench, Case } from '../kit/bench.ts';
import {
  insertWorkspaces,
  makePushes,
  partsOf,
  passLimit,
  pushedUsers,
  startInstallation,
} from '../kit/installation.ts';
import type { BenchWorkspace, Installation } from '../kit/installation.ts';
import { paceCalls, runWrk } from '../kit/load.ts';
import type { HttpRequest, Load } from '../kit/load.ts';
import { startPeer } from '../kit/peers.ts';
import { presentShares, watchProcessor } from '../kit/processor-shares.ts';

const minuteMilliseconds = 61_000;
const bundleOptions = { windowDevices: 250, parallelChunks: 4 };
const goals = { acceptTimes: 0.4, waitMilliseconds: 50, tokenTimes: 1.5, tokenMilliseconds: 20 };

type Accepting = { bare: string; installation: Installation; workspaces: readonly BenchWorkspace[] };

/** Pushes to one user each. Every request with a response must be in the database exactly once. */
export const acceptCase: Case<'accept', Accepting> = {
  async prepare(bench) {
    const bare = await startPeer(bench, ['bare-route.ts', 'push']);
    const { profile, workspaces } = bench.options;
    const installation = await startInstallation(bench, { devices: pushedUsers, ...bundleOptions, profile });
    await installation.importDevices();
    return { bare, installation, workspaces: await insertWorkspaces(installation, workspaces) };
  },

  async run(bench, subject) {
    const { bare, installation } = subject;
    const { connections, seconds, rounds } = bench.options;
    const pushes = pushesOfRound(bench.options, subject);
    await runWrk(installation.url, { requests: pushes('warm-up'), connections, seconds: 3 });
    const { limit, ours } = await inTurn(rounds, {
      limit: (round) => runWrk(bare, { requests: pushes(`round ${round}`), connections, seconds }),
      ours: async (round) => {
        await passLimit(installation, minuteMilliseconds);
        const requests = pushes(`round ${round}`);
        return loadRound(bench, { installation, round, requests, count: () => countPushes(installation, round) });
      },
    });
    const [rate, bareRate] = [ours, limit].map((loads) => median(loads.map((load) => load.rate))) as [number, number];
    bench.compare({
      work: `sendpush for one user, ${connections} connections, every answer durable`,
      ...{ ours: `${Math.round(rate)}/s`, peer: `a Fastify route with nothing behind it ${Math.round(bareRate)}/s` },
      ...{ ratio: rate / bareRate, goal: `≥ ${goals.acceptTimes} ×`, isMet: rate / bareRate >= goals.acceptTimes },
    });
    await waitAtHalf(bench, { subject, rate: rate / 2 });
  },
};

/** Makes more pushes than a round can use, and no more than the workspaces may push in a minute. */
function pushesOfRound(
  { workspaces: count, seconds }: { workspaces: number; seconds: number },
  { workspaces }: Accepting,
): (name: string) => HttpRequest[] {
  return (name) => makePushes(name, { workspaces, count: Math.min(count * 10_000, 40_000 * seconds) });
}

async function countPushes({ database }: Installation, round: number): Promise<number> {
  const [stored] = await database<{ requests: number }[]>`
    select count(*) as requests from push_requests where request_id like ${`round ${round} %`}`;
  return stored!.requests;
}

/** Measures how long each caller waits at half of the rate. */
async function waitAtHalf(
  bench: Bench<'accept'>,
  { subject, rate }: { subject: Accepting; rate: number },
): Promise<void> {
  const { connections, seconds, rounds } = bench.options;
  const pushes = pushesOfRound(bench.options, subject);
  const waits: [number, number][] = [];
  for (let round = 1; round <= rounds; round += 1) {
    await passLimit(subject.installation, minuteMilliseconds);
    const pace = { rate, seconds, connections, requests: pushes(`half, ${round}`), words: '"status":"Success"' };
    const waited = await paceCalls(subject.installation.url, pace);
    const [half, most] = [quantile(waited, 0.5), quantile(waited, 0.99)];
    bench.say(`at half, round ${round}: waited ${half.toFixed(1)} ms (median), ${most.toFixed(1)} ms (99 of 100)`);
    waits.push([half, most]);
  }
  const [p50, p99] = ([0, 1] as const).map((index) => median(waits.map((wait) => wait[index]))) as [number, number];
  bench.compare({
    ...{
      work: 'the wait of a caller at half of that rate',
      ours: `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`,
    },
    ...{ goal: `p99 < ${goals.waitMilliseconds} ms`, isMet: p99 < goals.waitMilliseconds },
  });
}

type Issuing = { bare: string; peer: string; installation: Installation; keys: readonly Key[] };
type Key = { id: string; secret: string };

/**
 * Tokens for client credentials. A key gets five tokens a minute (interface 4.1), so each has its own requests, and every token must
 * be counted against its limit.
 */
export const tokensCase: Case<'tokens', Issuing> = {
  async prepare(bench) {
    const bare = await startPeer(bench, ['bare-route.ts', 'token']);
    const peer = await startPeer(bench, ['oidc-peer.ts', String(bench.options.keys)]);
    const { profile } = bench.options;
    const installation = await startInstallation(bench, { devices: 0, ...bundleOptions, profile });
    return { bare, peer, installation, keys: await makeKeys(installation, bench.options.keys) };
  },

  async run(bench, { bare, peer, installation, keys }) {
    const { connections, seconds, rounds } = bench.options;
    const ours = keys.map((key) => formOf('/v1/oauth/token', key));
    const theirs = keys.map((_, number) =>
      formOf('/token', { id: `client-${number}`, secret: `secret-of-client-${number}` }),
    );
    const issue = async (round: number): Promise<Load> => {
      await forgetIssues(installation);
      const count = (): Promise<number> => countIssues(installation);
      return loadRound(bench, { installation, round, requests: ours, count });
    };
    await runWrk(peer, { requests: theirs, connections, seconds: 2 });
    await runWrk(bare, { requests: ours, connections, seconds: 2 });
    // Warms up the node.
    await issue(0);
    const loads = await inTurn(rounds, {
      ours: issue,
      oidc: () => runWrk(peer, { requests: theirs, connections, seconds }),
      limit: () => runWrk(bare, { requests: ours, connections, seconds }),
    });
    const rateOf = (name: keyof typeof loads): number => median(loads[name].map(({ rate }) => rate));
    bench.say(`a Fastify route with nothing behind it: ${Math.round(rateOf('limit'))}/s`);
    const [rate, oidcRate] = [rateOf('ours'), rateOf('oidc')];
    const p99Of = (name: keyof typeof loads): number =>
      median(loads[name].map(({ p99Milliseconds }) => p99Milliseconds));
    const p99 = p99Of('ours');
    bench.say(`rows of tokens in the database: ${await countTokenRows(installation)}`);
    const { tokenTimes, tokenMilliseconds } = goals;
    bench.compare({
      work: `access tokens of ${keys.length} keys, ${connections} connections, limits on`,
      ...{
        ours: `${Math.round(rate)}/s, p99 ${p99.toFixed(1)} ms`,
        peer: `oidc-provider in memory ${Math.round(oidcRate)}/s, p99 ${p99Of('oidc').toFixed(1)} ms`,
      },
      ...{ ratio: rate / oidcRate, goal: `≥ ${tokenTimes} ×, p99 < ${tokenMilliseconds} ms` },
      isMet: rate >= tokenTimes * oidcRate && p99 < tokenMilliseconds,
    });
  },
};

async function makeKeys({ database, encryption, workspaceId, now }: Installation, count: number): Promise<Key[]> {
  return inTransaction(database, async (tx) => {
    const made: Key[] = [];
    for (let number = 0; number < count; number += 1) {
      const command = { workspaceId, kind: 'oauth', name: `Bench ${number}`, at: now() } as const;
      made.push({ id: workspaceId, secret: (await createKey({ encryption }, tx, command)).secret });
    }
    return made;
  });
}

function formOf(path: string, { id, secret }: Key): HttpRequest {
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: id, client_secret: secret });
  return { path, headers: { 'Content-Type': 'application/x-www-form-urlencoded' }, body: form.toString() };
}

/** Empties the windows of all keys, as if ten minutes had passed. */
async function forgetIssues({ database }: Installation): Promise<void> {
  await database`delete from limit_windows where operation = 'token'`;
}

/** Returns the number of requests that the limits have counted: one for each token. */
async function countIssues({ database }: Installation): Promise<number> {
  const [row] = await database<{ issues: number }[]>`
    select coalesce(sum(cardinality(events)), 0)::bigint as issues from limit_windows where operation = 'token'`;
  return row!.issues;
}

async function countTokenRows({ database }: Installation): Promise<number> {
  const [row] = await database<{ rows: number }[]>`
    select (select count(*) from access_tokens) + (select count(*) from refresh_tokens)
      + (select count(*) from token_revocations) as rows`;
  return row!.rows;
}

type LoadRound = {
  installation: Installation;
  round: number;
  requests: readonly HttpRequest[];
  /** Returns what the requests of this round have stored. */
  count: () => Promise<number>;
};

/** Sends a round of requests and checks that the database has what was answered. */
async function loadRound(
  bench: Bench<'accept'> | Bench<'tokens'>,
  { installation, round, requests, count }: LoadRound,
): Promise<Load> {
  const { connections, seconds } = bench.options;
  const endWatch = await watchProcessor(partsOf(installation, { node: () => installation.api().process.pid! }));
  const load = await runWrk(installation.url, { requests, connections, seconds });
  const shares = await endWatch(load.requests);
  const stored = await count();
  // wrk stops at the end of its time, with up to one request in flight per connection.
  if (stored < load.requests || stored > load.requests + connections)
    throw new Error(`${load.requests} were answered, ${stored} are stored`);
  bench.say(
    `round ${round}: ${Math.round(load.rate)}/s, ${presentShares(shares)}, ` +
      `waited ${load.medianMilliseconds.toFixed(1)} ms (median), ${load.p99Milliseconds.toFixed(1)} ms (99 of 100)`,
  );
  return load;
}
