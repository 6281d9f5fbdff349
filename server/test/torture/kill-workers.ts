import { auditRun, findBrokenPromises } from '../rig/audit.ts';
import { makeTortureBundle } from '../rig/installation.ts';
import type { TortureOptions } from '../rig/installation.ts';
import { pickOccurrences } from '../rig/random.ts';
import type { Report } from '../rig/report.ts';

export type KillWorkersOptions = TortureOptions & {
  workers: number;
  /** `ended`: nobody waits them out, when one worker is all there is. */
  leases: 'waited out' | 'ended';
};

/**
 * Reliability R2, R3, fault F1: workers are killed with SIGKILL at random moments of a campaign to everybody and
 * started again. Nobody is lost; what is repeated was in the open windows of the dead, and carries the same identity.
 */
export async function killWorkers(options: KillWorkersOptions): Promise<Report> {
  const bundle = await makeTortureBundle({ ...options, answers: 'of the field' });
  try {
    await bundle.importDevices();
    for (let number = 0; number < options.workers; number += 1) await bundle.startWorker();
    const startedAt = performance.now();
    const campaignId = await bundle.pushToAll('Torture: workers are killed');
    for (const occurrence of pickOccurrences(bundle)) {
      await bundle.waitForReached(occurrence);
      const worker = bundle.workers[bundle.random.between(0, bundle.workers.length - 1)]!;
      await bundle.endWorker(worker, 'SIGKILL');
      // Nobody lives whose lease would seem to have ended with those of the dead.
      if (options.leases === 'ended') await bundle.endLeases();
      await bundle.startWorker();
    }
    const run = await bundle.waitForRunEnd(campaignId);
    const audit = await auditRun(bundle, campaignId);
    const bound = options.rounds * options.parallelChunks * options.windowDevices;
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    return {
      numbers: { ...audit, kills: options.rounds, bound, seconds },
      broken: [
        ...findBrokenPromises(audit, run),
        ...(audit.repeats <= bound ? [] : ['repeats stay within kills × chunks × window']),
      ],
    };
  } finally {
    await bundle.stop();
  }
}
