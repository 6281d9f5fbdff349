import { describe, expect, inject, test } from 'vitest';
import { findCitus, startKillableCluster } from '../rig/citus-cluster.ts';
import type { Report } from '../rig/report.ts';
import { apiCrash } from './api-crash.ts';
import { cappedCampaigns, killDatabase, killWorkers, stopWorkers } from './disturbed-campaigns.ts';
import { killNode } from './sole-node.ts';

// Small, so that every change is tried in CI; `npm run test:torture` does the same with 100,000 devices and 20 rounds.
const citus = inject('workerUrls') === null ? undefined : findCitus();
/** Where the tests run on a cluster, these run on a separate one, whose coordinator may be killed. */
const startDatabase = citus && ((folder: string) => startKillableCluster(citus, { folder }));
const options = { seed: 7, devices: 2_000, rounds: 2, windowDevices: 50, parallelChunks: 4, startDatabase };
const maxMilliseconds = 180_000;

const scenarios: [string, () => Promise<Report>][] = [
  [
    'workers killed at random moments lose nobody (reliability R2)',
    () => killWorkers({ ...options, workers: 1, leases: 'ended' }),
  ],
  ['workers that are stopped lose and repeat nothing (reliability R3)', () => stopWorkers({ ...options, workers: 2 })],
  ['a database killed under its nodes loses nobody (fault F17)', () => killDatabase({ ...options, workers: 2 })],
  [
    'a request that was answered is on disk and sent, whatever was killed (reliability R1)',
    () => apiCrash({ ...options, rounds: 4 }),
  ],
  [
    'the only node, killed with its database, goes on at once when it is started again (fault F1)',
    () => killNode({ ...options, rounds: 1 }),
  ],
  ['two campaigns under a cap, and workers killed: everybody gets one', () => cappedCampaigns(options)],
];

describe.runIf(process.env.FULL === '1')('nodes that are killed (FULL=1)', () => {
  test.each(scenarios)('%s', { timeout: maxMilliseconds }, async (name, run) => {
    const { numbers, broken } = await run();
    process.stdout.write(`${name}: ${JSON.stringify(numbers)}\n`);
    expect(broken).toEqual([]);
  });
});
