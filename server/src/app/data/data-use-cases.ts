import type { Clock } from '../../clock.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { Encryption } from '../../domain/encryption.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { ensureEventsPartition } from '../../storage/users/events.ts';
import { answerOnce } from '../idempotency/answer-once.ts';
import { blockDevices } from './block-devices.ts';
import type { BlockDevicesCommand } from './block-devices.ts';
import { countUses, peekUse } from './count-uses.ts';
import type { UseGrant } from './count-uses.ts';
import { dataLimits } from './data-limits.ts';
import type { DataOperation, DataUse } from './data-limits.ts';
import { deleteUser } from './delete-user.ts';
import type { DeleteUserCommand } from './delete-user.ts';
import { exportUsers } from './export-users.ts';
import type { ExportedUser, ExportUsersQuery } from './export-users.ts';
import { mergeUsers } from './merge-users.ts';
import type { MergeUsersCommand } from './merge-users.ts';
import { registerDevice } from './register-device.ts';
import type { RegisterDeviceCommand } from './register-device.ts';
import { retryDeadlock } from './retry-deadlock.ts';
import { takeBulk } from './take-bulk.ts';
import type { ElementFault, TakeBulkCommand } from './take-bulk.ts';
import { testConnection } from './test-connection.ts';
import type { TestConnectionQuery } from './test-connection.ts';
import { eventDay, trackEvents } from './track-events.ts';
import type { TrackEventsCommand } from './track-events.ts';
import { upsertUser } from './upsert-user.ts';
import type { UpsertUserCommand } from './upsert-user.ts';
import { erasureDelayHours } from '../../domain/users/limits.ts';

/** What makes a repeat of a call known, and the answer that a repeat with the same Idempotency-Key gets again. */
export type Once = { key: string | undefined; rawBody: string } & DataAnswer;

export type DataAnswer = { requestId: string };

type Write<Command> = (command: Omit<Command, 'at'>, once: Once) => Promise<DataAnswer>;

export type DataUseCases = {
  /** Counts all that a request asks for, or nothing. */
  count(workspaceId: string, uses: DataUse[]): Promise<UseGrant>;
  peek(workspaceId: string, operation: DataOperation): Promise<UseGrant>;
  upsertUser: Write<UpsertUserCommand>;
  registerDevice: Write<RegisterDeviceCommand>;
  trackEvents: Write<TrackEventsCommand>;
  takeBulk(command: Omit<TakeBulkCommand, 'at'>, once: Once): Promise<DataAnswer & { faults: ElementFault[] }>;
  blockDevices: Write<BlockDevicesCommand>;
  mergeUsers: Write<MergeUsersCommand>;
  deleteUser: Write<Omit<DeleteUserCommand, 'delayHours'>>;
  exportUsers(query: ExportUsersQuery): Promise<(ExportedUser | undefined)[]>;
  testConnection(query: TestConnectionQuery): Promise<{ name: string }>;
};

export type DataDependencies = {
  database: Database;
  clock: Clock;
  encryption: Encryption;
  /** Other limits than the documented ones. */
  limits?: Partial<Record<DataOperation, number>>;
  /** How long after the request a person is erased; 24 unless given (fact 5). */
  erasureDelayHours?: number;
};

/** People, devices and events in, and what is done with them: the use cases behind the data family. */
export function makeDataUseCases(deps: DataDependencies): DataUseCases {
  const { database, clock } = deps;
  const toCount = (workspaceId: string, { operation, wanted }: DataUse) => ({
    operation,
    workspaceId,
    wanted,
    limit: deps.limits?.[operation] ?? dataLimits[operation],
    windowSeconds: 60,
    at: clock.now(),
  });
  const ensureToday = makeEnsureToday(deps);
  /** One transaction; done again when the database ended it to break a circle of locks. */
  const write =
    <Command extends { workspaceId: string; at: Date }>(
      operation: string,
      work: (tx: Transaction, command: Command) => Promise<void>,
    ): Write<Command> =>
    (given, { requestId, ...once }) =>
      retryDeadlock(() => {
        const command = { ...given, at: clock.now() } as Command;
        const { workspaceId, at } = command;
        return answerOnce(deps, { ...once, workspaceId, operation, at }, async (tx) => {
          await work(tx, command);
          return { requestId };
        });
      });
  const track = write<TrackEventsCommand>('event', trackEvents);
  const remove = write<DeleteUserCommand>('delete', deleteUser);
  return {
    count: (workspaceId, uses) =>
      countUses(
        database,
        uses.map((use) => toCount(workspaceId, use)),
      ),
    peek: (workspaceId, operation) => peekUse(database, toCount(workspaceId, { operation, wanted: 0 })),
    upsertUser: write<UpsertUserCommand>('customer', async (tx, command) => {
      // A customer that is not to be made and does not exist is no error: there is nothing to update.
      await upsertUser(tx, command);
    }),
    registerDevice: write<RegisterDeviceCommand>('device', async (tx, command) => {
      if (!(await registerDevice(tx, command))) throw new ServiceError('DATA_USER_NOT_FOUND', { field: 'customer_id' });
    }),
    async trackEvents(command, once) {
      await ensureToday();
      return track(command, once);
    },
    async takeBulk(command, once) {
      await ensureToday();
      let faults: ElementFault[] = [];
      const take = write<TakeBulkCommand>('transition', async (tx, given) => {
        faults = await takeBulk(tx, given);
      });
      const answer = await take(command, once);
      return { ...answer, faults };
    },
    blockDevices: write<BlockDevicesCommand>('devices-manage', blockDevices),
    mergeUsers: write<MergeUsersCommand>('merge', mergeUsers),
    deleteUser: (command, once) =>
      remove({ ...command, delayHours: deps.erasureDelayHours ?? erasureDelayHours }, once),
    exportUsers: (query) => exportUsers(database, query),
    testConnection: (query) => testConnection(database, query),
  };
}

/** Makes the partition of the day, once a day. */
function makeEnsureToday({ database, clock }: DataDependencies): () => Promise<void> {
  let known: string | undefined;
  return async () => {
    const day = eventDay(clock.now());
    if (known !== day) await ensureEventsPartition(database, day);
    known = day;
  };
}
