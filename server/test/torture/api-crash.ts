import { auditLoad } from '../rig/audit.ts';
import { withTortureBundle } from '../rig/installation.ts';
import type { TortureOptions } from '../rig/installation.ts';
import { startPushLoad } from '../rig/load.ts';
import { brokenOf } from '../rig/report.ts';
import type { Report } from '../rig/report.ts';

const clients = 64;
const users = 999;
// A round without accepted requests, for instance because a limit of the API is reached, ends after this time.
const maxRoundMilliseconds = 5_000;

/**
 * Reliability R1: many clients send pushes to single users while the API node, the worker or the database is killed at
 * random moments. Every request that was answered Success is on disk and its message was sent; none that is on disk was
 * answered otherwise.
 */
export function apiCrash(options: TortureOptions): Promise<Report> {
  return withTortureBundle({ ...options, devices: users }, async (bundle) => {
    await bundle.importDevices();
    await bundle.startWorker();
    const load = startPushLoad(bundle.caller, { clients, users });
    const kills = { api: 0, worker: 0, database: 0 };
    const kill = {
      async api() {
        await bundle.killApi();
        await bundle.restartApi();
      },
      async worker() {
        await bundle.endWorker(bundle.workers[0]!, 'SIGKILL');
        // It was the only worker, so no living worker loses its lease.
        await bundle.endLeases();
        await bundle.startWorker();
      },
      database: () => bundle.killDatabase(),
    };
    // Also if a round fails: clients that go on calling keep the process alive.
    try {
      for (let round = 0; round < options.rounds; round += 1) {
        const wanted = load.answered.length + bundle.random.between(20, 400);
        const until = performance.now() + maxRoundMilliseconds;
        await bundle.waitFor('answers', () => load.answered.length >= wanted || performance.now() > until);
        const victim = (['api', 'worker', 'database'] as const)[bundle.random.between(0, 2)]!;
        kills[victim] += 1;
        await kill[victim]();
      }
    } finally {
      await load.stop();
    }
    await bundle.waitForAll();
    await bundle.collector.settle();
    const { numbers, stored, broken } = await auditLoad(bundle, [load]);
    return {
      numbers: {
        ...numbers,
        lost: numbers['answered and not sent'],
        stored,
        denied: load.denied.length,
        undocumented5xx: load.undocumented(),
        kills: options.rounds,
        'kills by victim': JSON.stringify(kills),
      },
      broken: [
        ...broken,
        ...brokenOf({
          'some requests are answered': load.answered.length > 0,
          'a caller that is refused for want of the database gets the documented 503': load.undocumented() === 0,
        }),
      ],
    };
  });
}
