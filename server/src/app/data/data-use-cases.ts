import type { Clock } from '../../clock.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { Seal } from '../../domain/seal.ts';
import type { Database } from '../../storage/pool.ts';
import { ensureEventsPartition } from '../../storage/sql/events.ts';
import type { LimitGrant } from '../../storage/sql/limit-marks.ts';
import { countWithinLimit } from '../../storage/sql/limit-marks.ts';
import { answerOnce } from '../idempotency/answer-once.ts';
import { authenticateKey } from '../keys/authenticate-key.ts';
import type { KeyAuthentication } from '../keys/authenticate-key.ts';
import { countEvents, eventsPerMinute } from './count-events.ts';
import { registerDevice } from './register-device.ts';
import type { RegisterDeviceCommand } from './register-device.ts';
import { eventDay, trackEvents } from './track-events.ts';
import type { TrackEventsCommand } from './track-events.ts';
import { upsertUser } from './upsert-user.ts';
import type { UpsertUserCommand } from './upsert-user.ts';

export type { LimitGrant };

/** Facts 5: users and devices, each per workspace and minute. */
export const dataRequestsPerMinute = 10_000;

export type OnceKey = { key: string | undefined; rawBody: string };

/** The answer that a repeat with the same Idempotency-Key gets again. */
export type DataAnswer = { requestId: string };

export type DataUseCases = {
  authenticate(presented: {
    workspaceId: string;
    secret: string;
    dataCenter: string | undefined;
  }): Promise<KeyAuthentication>;
  count(operation: 'data-customer' | 'data-device', workspaceId: string): Promise<LimitGrant>;
  /** @param wanted events of the request */
  countEvents(workspaceId: string, wanted: number): Promise<LimitGrant>;
  upsertUser(command: Omit<UpsertUserCommand, 'at'>, once: OnceKey & DataAnswer): Promise<DataAnswer>;
  registerDevice(command: Omit<RegisterDeviceCommand, 'at'>, once: OnceKey & DataAnswer): Promise<DataAnswer>;
  trackEvents(command: Omit<TrackEventsCommand, 'at'>, once: OnceKey & DataAnswer): Promise<DataAnswer>;
};

// PostgreSQL's code for "a deadlock was found and this transaction was ended".
const deadlock = '40P01';
const mostTries = 3;

export type DataDependencies = {
  database: Database;
  clock: Clock;
  seal: Seal;
  requestsPerMinute?: number;
  eventsPerMinute?: number;
};

/** Users, devices and events in: the use cases behind the data family. */
export function makeDataUseCases(deps: DataDependencies): DataUseCases {
  const { database, clock } = deps;
  const limit = deps.requestsPerMinute ?? dataRequestsPerMinute;
  // The newest day whose partition is known to be there.
  let partitionDay: string | undefined;
  return {
    authenticate: (presented) => authenticateKey({ database }, { ...presented, at: clock.now() }),
    count: (operation, workspaceId) =>
      database.begin((tx) =>
        countWithinLimit(tx, { operation, workspaceId, wanted: 1, limit, windowSeconds: 60, at: clock.now() }),
      ) as Promise<LimitGrant>,
    countEvents: (workspaceId, wanted) =>
      countEvents(database, {
        operation: 'data-event',
        workspaceId,
        wanted,
        limit: deps.eventsPerMinute ?? eventsPerMinute,
        windowSeconds: 60,
        at: clock.now(),
      }),
    upsertUser: (command, { requestId, ...once }) =>
      retryDeadlock(() =>
        answerOnce(
          deps,
          { ...once, workspaceId: command.workspaceId, operation: 'customer', at: clock.now() },
          async (tx) => {
            // A customer that is not to be made and does not exist is no error: there is nothing to update.
            await upsertUser(tx, { ...command, at: clock.now() });
            return { requestId };
          },
        ),
      ),
    registerDevice: (command, { requestId, ...once }) =>
      retryDeadlock(() =>
        answerOnce(
          deps,
          { ...once, workspaceId: command.workspaceId, operation: 'device', at: clock.now() },
          async (tx) => {
            if (!(await registerDevice(tx, { ...command, at: clock.now() })))
              throw new ServiceError('DATA_USER_NOT_FOUND', { field: 'customer_id' });
            return { requestId };
          },
        ),
      ),
    async trackEvents(command, { requestId, ...once }) {
      const at = clock.now();
      if (partitionDay !== eventDay(at)) await ensureEventsPartition(database, eventDay(at));
      partitionDay = eventDay(at);
      return answerOnce(deps, { ...once, workspaceId: command.workspaceId, operation: 'event', at }, async (tx) => {
        await trackEvents(tx, { ...command, at });
        return { requestId };
      });
    },
  };
}

async function retryDeadlock<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if ((error as { code?: string }).code !== deadlock || attempt === mostTries) throw error;
    }
  }
}
