import { randomUUID } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { deliverySettings, sendUntil } from '../../domain/campaigns/delivery-settings.ts';
import type { Encryption } from '../../domain/crypto/encryption.ts';
import { ServiceError } from '../../domain/errors.ts';
import { makeId } from '../../domain/ids.ts';
import { maxSelectedUsers } from '../../domain/limits/push.ts';
import { tooManyUsers } from '../../domain/push.ts';
import type { PushCommand, PushAudience } from '../../domain/push.ts';
import { unknownCase } from '../../domain/unknown-case.ts';
import { findCampaignByName } from '../../storage/campaigns/campaigns.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { findSegmentByName } from '../../storage/segments/segments.ts';
import { findNamedUsers, findSelectedUsers } from '../../storage/users/users.ts';
import type { AskedCustomerIds, FindNamedUsers, NamedUserKey } from '../../storage/users/users.ts';
import { makeGroupCommit, requestBatches } from '../group-commit.ts';
import { answerOnce, findFirstAnswer } from '../idempotency.ts';
import { requireApps } from './admit-push.ts';
import type { PushOfWorkspace } from './admit-push.ts';
import { makeJoinOrStore, storeAndSend, storePushes } from './store-pushes.ts';
import type { AcceptedPush, PushToStore, StoredPush, StoredPushWorkers, StorePush } from './store-pushes.ts';

export type AcceptPushRequest = {
  admitted: PushOfWorkspace;
  command: PushCommand;
  idempotencyKey: string | undefined;
  rawBody: string;
  /** The trace step of this request, if it is sampled. */
  traceparent?: string | undefined;
};

export type AcceptPushDependencies = StoredPushWorkers & {
  database: Database;
  clock: Clock;
  encryption: Encryption;
  /** Called with the number of pushes that one commit stored. */
  onCommit?: ((pushes: number) => void) | undefined;
};

export type AcceptPush = (request: AcceptPushRequest) => Promise<AcceptedPush>;

/**
 * Accepts a push: resolves the named users, stores campaign, run or schedule, and request in one transaction with others that
 * arrive at the same time, and wakes the workers. Resolves when everything is durable.
 */
export function makeAcceptPush(deps: AcceptPushDependencies): AcceptPush {
  const { database, clock, doorbell, ownRuns, onCommit } = deps;
  const workers = { doorbell, ownRuns };
  const store = makeGroupCommit<PushToStore, StoredPush>(async (pushes) => {
    const stored = await storeAndSend(workers, pushes, {
      store: (claimed) => inTransaction(database, (tx) => storePushes(tx, claimed)),
      isSentNow,
    });
    onCommit?.(pushes.length);
    return stored;
  }, requestBatches);
  const joinOrStore = makeJoinOrStore({ database, ...workers, store, onCommit });

  return async ({ admitted, command, idempotencyKey, rawBody, traceparent }) => {
    const { workspace } = admitted;
    const once = { workspaceId: workspace.id, operation: 'sendpush', rawBody, at: clock.now() };
    const first =
      idempotencyKey === undefined
        ? undefined
        : await findFirstAnswer<AcceptedPush>(deps, { ...once, key: idempotencyKey });
    if (first) return first;
    const findUsers: FindNamedUsers = (asked) => findAdmitted(admitted, asked) ?? findNamedUsers(database, asked);
    await requireApps(database, { admitted, command });
    const asked = { workspaceId: workspace.id, audience: command.audience };
    const { segmentId, targetUsers } = await findPushAudience({ database, findNamed: findUsers }, asked);
    const push = preparePush({ admitted, command, segmentId, targetUsers, traceparent, at: once.at });
    if (idempotencyKey === undefined) return toAccepted(await storeOrJoin(database, push, joinOrStore));
    const accepted = await answerOnce(deps, { ...once, key: idempotencyKey }, async (tx) =>
      toAccepted(await storeOrJoin(database, push, async (one) => (await storePushes(tx, [one]))[0]!)),
    );
    doorbell.ring(targetUsers ? 'named-runs' : 'fan-out');
    return accepted;
  };
}

/** Other pushes wait for their schedule. */
function isSentNow(push: StoredPush): boolean {
  return push.kind === 'stored' && push.accepted.nextSends.length === 0;
}

/** Returns the users that were looked up while the request was counted, if the request names exactly these. */
function findAdmitted(
  { named }: PushOfWorkspace,
  { customerIds }: AskedCustomerIds,
): Promise<NamedUserKey[]> | undefined {
  if (named?.customerIds.length !== customerIds.length) return undefined;
  return customerIds.every((id, place) => id === named.customerIds[place]) ? Promise.resolve(named.users) : undefined;
}

type Preparation = {
  admitted: PushOfWorkspace;
  command: PushCommand;
  segmentId: string | undefined;
  targetUsers: [number, string][] | undefined;
  traceparent: string | undefined;
  at: Date;
};

function preparePush({ admitted, command, segmentId, targetUsers, traceparent, at }: Preparation): PushToStore {
  const settings = admitted.existing ? deliverySettings(admitted.existing.settings) : command.settings;
  return {
    responseId: randomUUID(),
    workspaceId: admitted.workspace.id,
    name: admitted.name,
    signedBy: admitted.signedBy,
    command,
    segmentId,
    targetUsers,
    traceparent,
    existing: admitted.existing,
    campaignId: admitted.existing?.id ?? makeId(at),
    runId: makeId(at),
    at,
    sendUntil: sendUntil(settings, at),
  };
}

/** Handles a name that was taken in the meantime: audience `User` joins that campaign, every other push is a duplicate. */
async function storeOrJoin(database: Database, push: PushToStore, store: StorePush): Promise<StoredPush> {
  const first = await store(push);
  if (first.kind !== 'name-taken') return first;
  const existing = await findCampaignByName(database, push);
  if (!existing || existing.audience !== 'USER' || push.command.audience.kind !== 'user')
    throw new ServiceError('PUSH_NAME_DUPLICATE');
  return store({ ...push, existing, campaignId: existing.id });
}

function toAccepted(stored: StoredPush): AcceptedPush {
  switch (stored.kind) {
    case 'stored':
      return stored.accepted;
    case 'name-taken':
      // A joined campaign already has the name, so a second attempt cannot find it taken.
      throw new ServiceError('PUSH_NAME_DUPLICATE');
    case 'not-joinable': {
      const reason = `the campaign of this name is ${stored.status.toLowerCase()}`;
      throw new ServiceError('PUSH_PARAMETER_INVALID', { field: 'campaignName', reason });
    }
    default:
      return unknownCase(stored);
  }
}

/** `findNamed` looks up users for several callers at once; without it the users are looked up here. */
type FindUsers = { database: Database; findNamed?: FindNamedUsers };

export type FoundPushAudience = {
  /** Audience `Custom Segment`. */
  segmentId: string | undefined;
  /** Audience `User`. */
  targetUsers: [bucket: number, userId: string][] | undefined;
};

/** Returns the segment or the users that a push names; neither means all users. @throws ServiceError PUSH_PARAMETER_INVALID */
export async function findPushAudience(
  deps: FindUsers,
  { workspaceId, audience }: { workspaceId: string; audience: PushAudience },
): Promise<FoundPushAudience> {
  switch (audience.kind) {
    case 'all-users':
      return { segmentId: undefined, targetUsers: undefined };
    case 'segment':
      return { segmentId: await requireSegment(deps.database, workspaceId, audience.name), targetUsers: undefined };
    case 'user':
      return { segmentId: undefined, targetUsers: await matchUsers(deps, workspaceId, audience) };
    default:
      return unknownCase(audience);
  }
}

/**
 * A segment still being filled is accepted; the run waits until it is ready (decision D26). @throws ServiceError
 * PUSH_PARAMETER_INVALID
 */
async function requireSegment(database: Database, workspaceId: string, name: string): Promise<string> {
  const segment = await findSegmentByName(database, { workspaceId, name });
  const refuse = (reason: string) => new ServiceError('PUSH_PARAMETER_INVALID', { field: 'customSegmentName', reason });
  if (!segment) throw refuse('not found');
  if (segment.state === 'ARCHIVED') throw refuse('the segment is archived');
  if (segment.state === 'FAILED') throw refuse(`the segment could not be filled: ${segment.stateReason}`);
  return segment.id;
}

type UserAudience = Extract<PushAudience, { kind: 'user' }>;

/** Customer ids, which name most users, share one look-up with others that arrive at the same time. */
async function matchUsers(
  { database, ...asked }: FindUsers,
  workspaceId: string,
  selector: UserAudience,
): Promise<[number, string][]> {
  // One more than allowed distinguishes "too many" from "just enough" (decision D32).
  const limit = maxSelectedUsers + 1;
  const users = await findSelectedUsers(database, { workspaceId, selector, limit, ...asked });
  if (!users) {
    throw new ServiceError('PUSH_PARAMETER_INVALID', {
      field: 'targetUserAttributes.attribute',
      reason: 'is unknown; a custom attribute needs isCustom',
    });
  }
  if (users.length > maxSelectedUsers) throw new ServiceError('PUSH_PARAMETER_INVALID', tooManyUsers);
  return users.map(({ bucket, userId }) => [bucket, userId]);
}
