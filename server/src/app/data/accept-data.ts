import { ServiceError } from '../../domain/errors.ts';
import type { ErrorName } from '../../domain/errors.ts';
import { erasureDelayHours } from '../../domain/users/limits.ts';
import type { Transaction } from '../../storage/database.ts';
import { answerOnce } from '../idempotency/answer-once.ts';
import { blockDevices } from './block-devices.ts';
import type { BlockDevicesCommand } from './block-devices.ts';
import type { DataAnswer, DataDependencies, Once } from './data-dependencies.ts';
import { deleteUser } from './delete-user.ts';
import type { DeleteUserCommand } from './delete-user.ts';
import { mergeUsers } from './merge-users.ts';
import type { MergeUsersCommand } from './merge-users.ts';
import { registerDevice } from './register-device.ts';
import type { RegisterDeviceCommand } from './register-device.ts';
import { retryDeadlock } from './retry-deadlock.ts';
import { takeBulk } from './take-bulk.ts';
import type { ElementFault, TakeBulkCommand } from './take-bulk.ts';
import { trackEvents } from './track-events.ts';
import type { TrackEventsCommand } from './track-events.ts';
import { upsertUser } from './upsert-user.ts';
import type { UpsertUserCommand } from './upsert-user.ts';

/** A call of the data family: what is asked, and what tells its repeat. */
type Request<Command> = { command: Omit<Command, 'at'>; once: Once };

/** A user that is not to be made and does not exist is no error: there is nothing to update. */
export function acceptUser(deps: DataDependencies, request: Request<UpsertUserCommand>): Promise<DataAnswer> {
  return write<UpsertUserCommand>(deps, { ...request, operation: 'customer' }, async (tx, command) => {
    await upsertUser(tx, command);
  });
}

/** @throws ServiceError DATA_USER_NOT_FOUND */
export function acceptDevice(deps: DataDependencies, request: Request<RegisterDeviceCommand>): Promise<DataAnswer> {
  return write<RegisterDeviceCommand>(deps, { ...request, operation: 'device' }, async (tx, command) => {
    if (!(await registerDevice(tx, command))) throw new ServiceError('DATA_USER_NOT_FOUND', { field: 'customer_id' });
  });
}

export async function acceptEvents(deps: DataDependencies, request: Request<TrackEventsCommand>): Promise<DataAnswer> {
  await deps.ensureToday();
  return write<TrackEventsCommand>(deps, { ...request, operation: 'event' }, trackEvents);
}

/** Takes what is good of a bulk request, and says what was not, to its repeat as well. */
export async function acceptBulk(
  deps: DataDependencies,
  request: Request<TakeBulkCommand>,
): Promise<DataAnswer & { faults: ElementFault[] }> {
  await deps.ensureToday();
  const answer = await write<TakeBulkCommand, { refused: RefusedElement[] }>(
    deps,
    { ...request, operation: 'transition' },
    async (tx, command) => ({ refused: (await takeBulk(tx, command)).map(keepFault) }),
  );
  // Of an answer that an earlier version stored nothing is known.
  const { requestId, refused = [] } = answer as DataAnswer & { refused?: RefusedElement[] };
  return { requestId, faults: refused.map(restoreFault) };
}

/** A fault as it is stored with the answer. */
type RefusedElement = { index: number; code: ErrorName; field?: string; reason?: string };

function keepFault({ index, error: { code, context } }: ElementFault): RefusedElement {
  const { field, reason } = context;
  return { index, code, ...(field !== undefined && { field }), ...(reason !== undefined && { reason }) };
}

function restoreFault({ index, code, ...context }: RefusedElement): ElementFault {
  return { index, error: new ServiceError(code, context) };
}

export function acceptDeviceBlock(deps: DataDependencies, request: Request<BlockDevicesCommand>): Promise<DataAnswer> {
  return write<BlockDevicesCommand>(deps, { ...request, operation: 'devices-manage' }, blockDevices);
}

export function acceptMerge(deps: DataDependencies, request: Request<MergeUsersCommand>): Promise<DataAnswer> {
  return write<MergeUsersCommand>(deps, { ...request, operation: 'merge' }, mergeUsers);
}

export function acceptDeletion(
  deps: DataDependencies,
  { command, once }: Request<Omit<DeleteUserCommand, 'delayHours'>>,
): Promise<DataAnswer> {
  const delayHours = deps.erasureDelayHours ?? erasureDelayHours;
  const request = { command: { ...command, delayHours }, once, operation: 'delete' };
  return write<DeleteUserCommand>(deps, request, deleteUser);
}

/** One transaction; done again when the database ended it to break a circle of locks. */
function write<Command extends { workspaceId: string; at: Date }, Told extends object | void = void>(
  deps: DataDependencies,
  { command: given, once, operation }: Request<Command> & { operation: string },
  work: (tx: Transaction, command: Command) => Promise<Told>,
): Promise<DataAnswer & Told> {
  const { requestId, ...repeat } = once;
  return retryDeadlock(() => {
    const command = { ...given, at: deps.clock.now() } as Command;
    const { workspaceId, at } = command;
    return answerOnce(deps, { ...repeat, workspaceId, operation, at }, async (tx) => {
      const told = await work(tx, command);
      return { requestId, ...told };
    });
  });
}
