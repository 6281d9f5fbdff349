import { isDocumented } from './caller.ts';
import type { Caller } from './caller.ts';

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
