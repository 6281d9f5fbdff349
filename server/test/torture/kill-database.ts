import { auditRun, findBrokenPromises } from '../rig/audit.ts';
import { makeTortureBundle } from '../rig/installation.ts';
import type { TortureOptions } from '../rig/installation.ts';
import { pickOccurrences } from '../rig/random.ts';
import type { Report } from '../rig/report.ts';

/**
 * Fault F17: all processes of the database are killed in the middle of a campaign and it starts again. The nodes live
 * on, and because a worker remembers what it sent until that is stored, hardly anything is repeated; the bound is what
 * open windows may hold.
 */
export async function killDatabase(options: TortureOptions & { workers: number }): Promise<Report> {
  const bundle = await makeTortureBundle({ ...options, answers: 'of the field' });
  try {
    await bundle.importDevices();
    for (let number = 0; number < options.workers; number += 1) await bundle.startWorker();
    const startedAt = performance.now();
    const campaignId = await bundle.pushToAll('Torture: the database is killed');
    for (const occurrence of pickOccurrences(bundle)) {
      await bundle.waitForReached(occurrence);
      await bundle.killDatabase();
    }
    const run = await bundle.waitForRunEnd(campaignId);
    const audit = await auditRun(bundle, campaignId);
    const bound = options.rounds * options.workers * options.parallelChunks * options.windowDevices;
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    // A push after all of it: the API has its connections again.
    const answer = await bundle.push({ campaignName: 'Torture: after the kills', targetAudience: 'All Users' });
    return {
      numbers: { ...audit, kills: options.rounds, bound, seconds, apiAnswers: answer.status },
      broken: [
        ...findBrokenPromises(audit, run),
        ...(audit.repeats <= bound ? [] : ['repeats stay within kills × workers × chunks × window']),
        ...(bundle.api().process.exitCode === null ? [] : ['the API node lives on']),
        ...(answer.status === 'Success' ? [] : ['the API answers again']),
      ],
    };
  } finally {
    await bundle.stop();
  }
}
