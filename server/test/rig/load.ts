import { setTimeout as wait } from 'node:timers/promises';
import { isDocumented, toUser } from './caller.ts';
import type { Answer, Caller } from './caller.ts';

export type Load = {
  /** Ids of the requests that were accepted, with the time (ms) of each reply. */
  answeredAt: ReadonlyMap<string, number>;
  answered: readonly string[];
  /** Ids of the requests that got another reply. */
  denied: readonly string[];
  /** Why the first of them failed. */
  faults: readonly string[];
  /** The number of replies by HTTP status. */
  statuses: Readonly<Record<string, number>>;
  unanswered(): number;
  undocumented(): number;
  stop(): Promise<void>;
};

type Calls = {
  clients: number;
  /** The pause of a client after each reply, so that a load does not take all of the workers' capacity. */
  pauseMilliseconds?: number;
  call(client: number, count: number): { id: string; reply: Promise<Answer> };
  isAccepted(answer: Answer): boolean;
};

const keptFaults = 5;
const pauseAfterFault = 50;

/** Starts clients that send one request after another, and counts the replies. */
export function startCalls({ clients, pauseMilliseconds = 0, call, isAccepted }: Calls): Load {
  const answeredAt = new Map<string, number>();
  const [answered, denied, faults]: string[][] = [[], [], []];
  const statuses: Record<string, number> = {};
  let [unanswered, undocumented] = [0, 0];
  let isStopping = false;
  const take = (id: string, answer: Answer | Error): void => {
    if (answer instanceof Error) unanswered += 1;
    else {
      const isBare = answer.httpStatus === 503 && answer.retryAfter === null;
      const kind = `${answer.httpStatus}${isBare ? ' without Retry-After' : ''}`;
      statuses[kind] = (statuses[kind] ?? 0) + 1;
      if (!isDocumented(answer)) undocumented += 1;
      if (isAccepted(answer)) {
        answered!.push(id);
        answeredAt.set(id, Date.now());
        return;
      }
      denied!.push(id);
    }
    const fault = answer instanceof Error ? String(answer.cause ?? answer) : JSON.stringify(answer).slice(0, 250);
    if (faults!.length < keptFaults) faults!.push(fault);
  };
  const client = async (number: number): Promise<void> => {
    for (let count = 0; !isStopping; count += 1) {
      const { id, reply } = call(number, count);
      const answer = await reply.catch((error: unknown) => error as Error);
      take(id, answer);
      if (!answeredAt.has(id)) await wait(pauseAfterFault);
      if (pauseMilliseconds > 0) await wait(pauseMilliseconds);
    }
  };
  const ended = Promise.all(Array.from({ length: clients }, (_, number) => client(number)));
  return {
    ...{ answeredAt, answered: answered!, denied: denied!, faults: faults!, statuses },
    unanswered: () => unanswered,
    undocumented: () => undocumented,
    async stop() {
      isStopping = true;
      await ended;
    },
  };
}

type PushLoad = Pick<Calls, 'clients' | 'pauseMilliseconds'> & {
  /** How many users of the sandbox get pushes in turn, or the id of the one who gets all. */
  users: number | string;
  prefix?: string;
};

/** Starts clients that push to single users. Half of the clients use one campaign each, again and again. */
export function startPushLoad(caller: Pick<Caller, 'push'>, { users, prefix = 'request', ...clients }: PushLoad): Load {
  return startCalls({
    ...clients,
    call(client, count) {
      const id = `${prefix}-${client}-${count}`;
      const user = typeof users === 'string' ? users : `demo-user-${(client * 7919 + count * 104_729) % users}`;
      const reply = caller.push({
        requestId: id,
        campaignName: client % 2 === 0 ? `Torture: ${id}` : `Torture: ${prefix} ${client}`,
        ...toUser(user),
      });
      return { id, reply };
    },
    isAccepted: ({ body }) => body.status === 'Success',
  });
}
