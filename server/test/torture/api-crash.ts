import { messageIdentity } from '../../src/domain/campaigns/message.ts';
import type { Report } from './scenario.ts';
import { makeTortureBundle } from './torture-bundle.ts';
import type { TortureBundle, TortureOptions } from './torture-bundle.ts';

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
    const load = startLoad(bundle);
    const kills = { api: 0, worker: 0, database: 0 };
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
        await bundle.startWorker();
      } else await bundle.killDatabase();
    }
    await load.stop();
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
        kept,
        sent,
        stored: requests,
        unanswered: load.unanswered(),
        denied: load.denied.length,
        'denied and stored': deniedAndKept,
        'kills of api': kills.api,
        'kills of worker': kills.worker,
        'kills of database': kills.database,
      },
      broken: [
        ...(load.answered.length > 0 ? [] : ['some requests are answered']),
        ...(kept === load.answered.length ? [] : ['an answered request is on disk']),
        ...(deniedAndKept === 0 ? [] : ['what is on disk was not answered as failed']),
        ...(sent === load.answered.length ? [] : ['the message of an answered request was sent']),
      ],
    };
  } finally {
    await bundle.stop();
  }
}

/** Clients that send one push after the other, half of them into a campaign of their own that they join again. */
function startLoad(bundle: TortureBundle) {
  const answered: string[] = [];
  /** Requests that got another answer than Success. */
  const denied: string[] = [];
  let unanswered = 0;
  let isStopping = false;
  const client = async (number: number): Promise<void> => {
    for (let count = 0; !isStopping; count += 1) {
      const requestId = `request-${number}-${count}`;
      const attributeValue = `demo-user-${(number * 7919 + count * 104_729) % users}`;
      const answer = await bundle
        .push({
          requestId,
          campaignName: number % 2 === 0 ? `Torture: ${requestId}` : `Torture: client ${number}`,
          targetAudience: 'User',
          targetUserAttributes: { attribute: 'USER_ATTRIBUTE_UNIQUE_ID', comparisonParameter: 'is', attributeValue },
        })
        .catch(() => undefined);
      if (answer?.status === 'Success') answered.push(requestId);
      else {
        if (answer) denied.push(requestId);
        else unanswered += 1;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  };
  const ended = Promise.all(Array.from({ length: clients }, (_, number) => client(number)));
  return {
    answered,
    denied,
    unanswered: () => unanswered,
    async stop() {
      isStopping = true;
      await ended;
    },
  };
}

/** Of the answered requests, how many are on disk, and how many have a message that a device received. */
async function findKept(bundle: TortureBundle, { answered, denied }: { answered: string[]; denied: string[] }) {
  const rows = await bundle.database<
    { requestId: string; campaignId: string; runId: string; deviceId: string | null }[]
  >`
    select push_requests.request_id as "requestId", push_requests.campaign_id as "campaignId",
      push_requests.run_id as "runId", deliveries.device_id as "deviceId"
    from push_requests
    left join deliveries on deliveries.run_id = push_requests.run_id and deliveries.outcome = 'ACCEPTED'`;
  const byRequest = new Map(rows.map((row) => [row.requestId, row]));
  const received = new Map<string, Set<string>>();
  const receivedOf = (campaignId: string): Set<string> => {
    let identities = received.get(campaignId);
    if (!identities) {
      const devices = [...bundle.collector.of(campaignId).values()];
      identities = new Set(devices.flatMap((device) => device.identities));
      received.set(campaignId, identities);
    }
    return identities;
  };
  const kept = answered.filter((requestId) => byRequest.has(requestId));
  const sent = kept.filter((requestId) => {
    const { campaignId, runId, deviceId } = byRequest.get(requestId)!;
    if (deviceId === null) return false;
    const { id, collapseId } = messageIdentity(runId, deviceId);
    return receivedOf(campaignId).has(`${collapseId} ${id}`);
  });
  const deniedAndKept = denied.filter((requestId) => byRequest.has(requestId)).length;
  return { kept: kept.length, sent: sent.length, requests: byRequest.size, deniedAndKept };
}
