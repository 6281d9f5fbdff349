import { findKept } from '../rig/audit.ts';
import { makeTortureBundle } from '../rig/installation.ts';
import type { TortureOptions } from '../rig/installation.ts';
import { startPushLoad } from '../rig/load.ts';
import type { Report } from '../rig/report.ts';

const clients = 64;
const users = 999;
// A round without answers (the limit of the API is reached, say) is not waited out.
const maxRoundMilliseconds = 5_000;

/**
 * Reliability R1: many clients send pushes to single users while the API node, the worker or the database is killed at
 * random moments. Every request that was answered Success is on disk and its message was sent; none that is on disk was
 * answered otherwise.
 */
export async function apiCrash(options: TortureOptions): Promise<Report> {
  const bundle = await makeTortureBundle({ ...options, devices: users });
  try {
    await bundle.importDevices();
    await bundle.startWorker();
    const load = startPushLoad(bundle.caller, { clients, users });
    const kills = { api: 0, worker: 0, database: 0 };
    // Also when a round fails: what goes on calling keeps the process.
    try {
      for (let round = 0; round < options.rounds; round += 1) {
        const wanted = load.answered.length + bundle.random.between(20, 400);
        const until = performance.now() + maxRoundMilliseconds;
        await bundle.waitFor('answers', () =>
          load.answered.length >= wanted || performance.now() > until ? true : undefined,
        );
        const victim = (['api', 'worker', 'database'] as const)[bundle.random.between(0, 2)]!;
        kills[victim] += 1;
        if (victim === 'api') {
          await bundle.killApi();
          await bundle.restartApi();
        } else if (victim === 'worker') {
          await bundle.endWorker(bundle.workers[0]!, 'SIGKILL');
          // It was the only one, so nobody lives whose lease would seem to have ended.
          await bundle.endLeases();
          await bundle.startWorker();
        } else await bundle.killDatabase();
      }
    } finally {
      await load.stop();
    }
    await bundle.waitFor('the end of every run', async () => {
      const [row] = await bundle.database<{ open: number }[]>`
        select count(*) as open from runs where status in ('QUEUED', 'SENDING')`;
      return row!.open === 0 ? true : undefined;
    });
    await bundle.collector.settle();
    const { kept, sent, requests, deniedAndKept } = await findKept(bundle, load);
    return {
      numbers: {
        answered: load.answered.length,
        answeredNotStored: load.answered.length - kept,
        lost: kept - sent,
        stored: requests,
        unanswered: load.unanswered(),
        denied: load.denied.length,
        storedNotAnswered: deniedAndKept,
        undocumented5xx: load.undocumented(),
        kills: options.rounds,
        'kills of api': kills.api,
        'kills of worker': kills.worker,
        'kills of database': kills.database,
      },
      broken: [
        ...(load.answered.length > 0 ? [] : ['some requests are answered']),
        ...(kept === load.answered.length ? [] : ['an answered request is on disk']),
        ...(deniedAndKept === 0 ? [] : ['what is on disk was not answered as failed']),
        ...(load.undocumented() === 0 ? [] : ['whoever is refused for want of the database gets the documented 503']),
        ...(sent === load.answered.length ? [] : ['the message of an answered request was sent']),
      ],
    };
  } finally {
    await bundle.stop();
  }
}
