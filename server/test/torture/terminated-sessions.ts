import { openDatabase } from '../../src/storage/database.ts';
import { auditFills, auditRun, findBrokenPromises, findKept, isAllEnded } from '../rig/audit.ts';
import type { Caller } from '../rig/caller.ts';
import { makeTortureBundle } from '../rig/installation.ts';
import type { TortureOptions } from '../rig/installation.ts';
import { startPushLoad } from '../rig/load.ts';
import { startFileHost } from '../rig/receivers.ts';
import type { Report } from '../rig/report.ts';

const clients = 16;
const everyMilliseconds = 1_000;

/**
 * Every session of the application in the database is ended once a second (`pg_terminate_backend`), as by a fail-over
 * that does not settle, while a campaign, pushes to single users, a segment's fill and other calls go on. Nobody gets a
 * 500, what was answered Success is stored and sent, and everything ends.
 */
export async function terminatedSessions(options: TortureOptions): Promise<Report> {
  const bundle = await makeTortureBundle(options);
  const host = await startFileHost(options.devices);
  const killer = openDatabase({ url: bundle.databaseUrl, connections: 1, name: 'torture killer' });
  try {
    await bundle.importDevices();
    for (let number = 0; number < 2; number += 1) await bundle.startWorker();
    const campaignId = await bundle.pushToAll('Torture: sessions are ended');
    const file = { name: 'Torture', fileUrl: host.fileUrl, callbackUrl: host.callbackUrl };
    const fill = await bundle.caller.fillSegment(file);
    if (fill.httpStatus >= 300) throw new Error(`segment: ${JSON.stringify(fill)}`);
    const load = startPushLoad(bundle.caller, { clients, users: options.devices });
    const calls = startCalls(bundle.caller);
    let ended = 0;
    // Also when a round fails: what goes on calling keeps the process.
    try {
      for (let round = 0; round < options.rounds; round += 1) {
        // The rate is what is tried; no signal stands for it.
        await new Promise((resolve) => setTimeout(resolve, everyMilliseconds));
        const sessions = await killer`
          select pg_terminate_backend(pid) from pg_stat_activity
          where usename = current_user and pid <> pg_backend_pid()`;
        ended += sessions.count;
      }
    } finally {
      await Promise.all([load.stop(), calls.stop()]);
    }
    await bundle.waitFor('the end of everything', async () =>
      (await isAllEnded(bundle.database).catch(() => false)) ? true : undefined,
    );
    const run = await bundle.waitForRunEnd(campaignId);
    const audit = await auditRun(bundle, campaignId);
    const kept = await findKept(bundle, load);
    const fills = await auditFills({ ...bundle, host }, { fills: 1, users: options.devices });
    const saved = await countSaved(bundle, calls.saved);
    const statuses = Object.entries(load.statuses).concat(Object.entries(calls.statuses));
    const wrong = statuses.filter(([status]) => status === '500' || status === '503 without Retry-After');
    const faults = await bundle.database<{ fault: string }[]>`
      select distinct concat_ws(' ', method, route, error_name, error_detail) as fault from api_log where status = 500`;
    const bound = options.rounds * 2 * options.parallelChunks * options.windowDevices;
    return {
      numbers: {
        ...audit,
        bound,
        'sessions ended': ended,
        answered: load.answered.length,
        answeredNotStored: load.answered.length - kept.kept,
        lost: audit.lost + kept.kept - kept.sent,
        storedNotAnswered: kept.deniedAndKept,
        undocumented5xx: load.undocumented(),
        unanswered: load.unanswered() + calls.unanswered(),
        'statuses of pushes': JSON.stringify(load.statuses),
        'statuses of others': JSON.stringify(calls.statuses),
        'users saved': saved,
        fill: JSON.stringify(fills.audit),
      },
      broken: [
        ...findBrokenPromises(audit, run),
        ...fills.broken,
        ...(audit.repeats <= bound ? [] : ['repeats stay within ends × workers × chunks × window']),
        ...(ended > 0 ? [] : ['sessions are ended']),
        ...(load.answered.length > 0 ? [] : ['some requests are answered']),
        ...(kept.kept === load.answered.length ? [] : ['an answered request is on disk']),
        ...(kept.sent === load.answered.length ? [] : ['the message of an answered request was sent']),
        ...(kept.deniedAndKept === 0 ? [] : ['what is on disk was not answered as failed']),
        ...(saved === calls.saved.length ? [] : ['a user that was answered as saved is on disk']),
        ...faults.map(({ fault }) => `nothing ends in a fault of ours: ${fault}`),
        ...(wrong.length === 0
          ? []
          : [`answered ${wrong.map(([status, times]) => `${status} ${times} ×`).join(', ')}`]),
      ],
    };
  } finally {
    await killer.end();
    await host.close();
    await bundle.stop();
  }
}

/** Users that are saved one after the other. */
function startCalls(caller: Caller) {
  const saved: string[] = [];
  const statuses: Record<string, number> = {};
  let unanswered = 0;
  let isStopping = false;
  const ended = (async () => {
    for (let count = 0; !isStopping; count += 1) {
      const answer = await caller.saveUser(`torture-${count}`).catch(() => undefined);
      if (!answer) unanswered += 1;
      else {
        const isBare = answer.httpStatus === 503 && answer.retryAfter === null;
        const kind = `${answer.httpStatus}${isBare ? ' without Retry-After' : ''}`;
        statuses[kind] = (statuses[kind] ?? 0) + 1;
        if (answer.httpStatus === 200) saved.push(`torture-${count}`);
      }
    }
  })();
  return {
    saved,
    statuses,
    unanswered: () => unanswered,
    async stop() {
      isStopping = true;
      await ended;
    },
  };
}

async function countSaved({ database }: { database: Parameters<typeof isAllEnded>[0] }, saved: string[]) {
  const [row] = await database<{ users: number }[]>`
    select count(*) as users from users where customer_id = any(${saved})`;
  return row!.users;
}
