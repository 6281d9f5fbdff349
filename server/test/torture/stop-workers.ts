import { auditRun, findBrokenPromises } from '../rig/audit.ts';
import { makeTortureBundle } from '../rig/installation.ts';
import type { TortureOptions } from '../rig/installation.ts';
import { pickOccurrences } from '../rig/random.ts';
import type { Report } from '../rig/report.ts';

/**
 * Fault F2: workers are asked to stop (SIGTERM) in the middle of a campaign to everybody. Nothing is lost or repeated.
 */
export async function stopWorkers(options: TortureOptions & { workers: number }): Promise<Report> {
  const bundle = await makeTortureBundle({ ...options, answers: 'of the field' });
  try {
    await bundle.importDevices();
    for (let number = 0; number < options.workers; number += 1) await bundle.startWorker();
    const startedAt = performance.now();
    const campaignId = await bundle.pushToAll('Torture: workers are stopped');
    let uncleanExits = 0;
    for (const occurrence of pickOccurrences(bundle)) {
      await bundle.waitForReached(occurrence);
      const worker = bundle.workers[bundle.random.between(0, bundle.workers.length - 1)]!;
      if ((await bundle.endWorker(worker, 'SIGTERM')) !== 0) uncleanExits += 1;
      await bundle.startWorker();
    }
    const run = await bundle.waitForRunEnd(campaignId);
    const audit = await auditRun(bundle, campaignId);
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    return {
      numbers: { ...audit, kills: options.rounds, bound: 0, uncleanExits, seconds },
      broken: [
        ...findBrokenPromises(audit, run),
        ...(audit.repeats === 0 ? [] : ['nothing is repeated']),
        ...(uncleanExits === 0 ? [] : ['a stop ends with code 0']),
      ],
    };
  } finally {
    await bundle.stop();
  }
}
