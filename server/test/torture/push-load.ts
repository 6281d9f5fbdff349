import { messageIdentity } from '../../src/domain/content/message.ts';
import type { Database } from '../../src/storage/database.ts';
import { isDocumented } from './make-caller.ts';
import type { Caller } from './make-caller.ts';
import type { Collector } from './start-collector.ts';

type LoadOptions = {
  clients: number;
  users: number;
  prefix?: string;
  /** From an answer to the next request, so that a load is not all that the workers can do. */
  pauseMilliseconds?: number;
};

/** Clients that send one push after the other, half of them into a campaign of their own that they join again. */
export function startPushLoad(
  caller: Pick<Caller, 'push'>,
  { clients, users, prefix = 'request', pauseMilliseconds = 0 }: LoadOptions,
) {
  const answered: string[] = [];
  /** Requests that got another answer than Success. */
  const denied: string[] = [];
  const statuses: Record<string, number> = {};
  let unanswered = 0;
  let undocumented = 0;
  let isStopping = false;
  const client = async (number: number): Promise<void> => {
    for (let count = 0; !isStopping; count += 1) {
      const requestId = `${prefix}-${number}-${count}`;
      const attributeValue = `demo-user-${(number * 7919 + count * 104_729) % users}`;
      const answer = await caller
        .push({
          requestId,
          campaignName: number % 2 === 0 ? `Torture: ${requestId}` : `Torture: ${prefix} ${number}`,
          targetAudience: 'User',
          targetUserAttributes: { attribute: 'USER_ATTRIBUTE_UNIQUE_ID', comparisonParameter: 'is', attributeValue },
        })
        .catch(() => undefined);
      if (answer) {
        const isBare = answer.httpStatus === 503 && answer.retryAfter === null;
        const kind = `${answer.httpStatus}${isBare ? ' without Retry-After' : ''}`;
        statuses[kind] = (statuses[kind] ?? 0) + 1;
        if (!isDocumented(answer)) undocumented += 1;
      }
      if (answer?.body.status === 'Success') answered.push(requestId);
      else {
        if (answer) denied.push(requestId);
        else unanswered += 1;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      if (pauseMilliseconds > 0) await new Promise((resolve) => setTimeout(resolve, pauseMilliseconds));
    }
  };
  const ended = Promise.all(Array.from({ length: clients }, (_, number) => client(number)));
  return {
    answered,
    denied,
    /** How often each HTTP status was answered. */
    statuses,
    unanswered: () => unanswered,
    undocumented: () => undocumented,
    async stop() {
      isStopping = true;
      await ended;
    },
  };
}

/** Of the answered requests, how many are on disk, and how many have a message that a device received. */
export async function findKept(
  { database, collector }: { database: Database; collector: Collector },
  { answered, denied }: { answered: string[]; denied: string[] },
) {
  const rows = await database<{ requestId: string; campaignId: string; runId: string; deviceId: string | null }[]>`
    select push_requests.request_id as "requestId", push_requests.campaign_id as "campaignId",
      push_requests.run_id as "runId", deliveries.device_id as "deviceId"
    from push_requests
    left join readable_deliveries as deliveries on deliveries.run_id = push_requests.run_id and deliveries.outcome = 'ACCEPTED'`;
  const byRequest = new Map(rows.map((row) => [row.requestId, row]));
  const received = new Map<string, Set<string>>();
  const receivedOf = (campaignId: string): Set<string> => {
    let identities = received.get(campaignId);
    if (!identities) {
      const devices = [...collector.of(campaignId).values()];
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
