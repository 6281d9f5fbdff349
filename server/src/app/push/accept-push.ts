import { randomUUID } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { tooManyUsers } from '../../domain/users/user-selector.ts';
import { deliverySettings, sendUntil } from '../../domain/campaigns/delivery-settings.ts';
import type { PushCommand } from '../../domain/push/push-command.ts';
import { ServiceError } from '../../domain/errors.ts';
import { makeId } from '../../domain/ids.ts';
import type { Encryption } from '../../domain/encryption.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { findCampaignByName } from '../../storage/campaigns/campaigns.ts';
import { findSegmentByName } from '../../storage/segments/segments.ts';
import { findNamedUsersTogether, findSelectedUsers } from '../../storage/users/users.ts';
import type { AskedCustomerIds, FindNamedUsers, NamedUserKey } from '../../storage/users/users.ts';
import { answerOnce } from '../idempotency/answer-once.ts';
import type { AdmittedPush } from './admit-push.ts';
import { makeWorkTogether, requestBatches } from './work-together.ts';
import { storePushes } from './store-pushes.ts';
import type { AcceptedPush, PushToStore, StoredPush } from './store-pushes.ts';
import { maxSelectedUsers } from '../../domain/push/limits.ts';

export type AcceptPushRequest = {
  admitted: AdmittedPush;
  command: PushCommand;
  idempotencyKey: string | undefined;
  rawBody: string;
};

export type AcceptPush = (request: AcceptPushRequest) => Promise<AcceptedPush>;

/**
 * Accepts a push: resolves the users it names, stores campaign, run or schedule, and request in one transaction with
 * others that came at the same time, and wakes the workers. Resolves when all of it is durable.
 */
export function makeAcceptPush(deps: { database: Database; clock: Clock; encryption: Encryption }): AcceptPush {
  const { database, clock } = deps;
  const store = makeWorkTogether<PushToStore, StoredPush>(
    (pushes) => inTransaction(database, (tx) => storePushes(tx, pushes)),
    requestBatches,
  );
  const findNamed = makeWorkTogether<AskedCustomerIds, NamedUserKey[]>(
    (asks) => findNamedUsersTogether(database, asks),
    requestBatches,
  );

  return async ({ admitted, command, idempotencyKey, rawBody }) => {
    const { workspace } = admitted;
    const segmentId =
      command.audience.kind === 'segment'
        ? await requireSegment(database, workspace.id, command.audience.name)
        : undefined;
    const targetUsers =
      command.audience.kind === 'user'
        ? await matchUsers({ database, findNamed }, workspace.id, command.audience)
        : undefined;
    const push = preparePush({ admitted, command, segmentId, targetUsers, at: clock.now() });
    if (idempotencyKey === undefined) return toAccepted(await storeOrJoin(database, push, store));
    const once = { workspaceId: workspace.id, operation: 'sendpush', key: idempotencyKey, rawBody, at: push.at };
    return answerOnce(deps, once, async (tx) =>
      toAccepted(await storeOrJoin(database, push, async (one) => (await storePushes(tx, [one]))[0]!)),
    );
  };
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

type UserAudience = Extract<PushCommand['audience'], { kind: 'user' }>;

type FindUsers = { database: Database; findNamed: FindNamedUsers };

/** Customer ids, as most users are named, in one look-up with others that come at the same time. */
async function matchUsers(
  { database, findNamed }: FindUsers,
  workspaceId: string,
  selector: UserAudience,
): Promise<[number, string][]> {
  // One more than allowed tells "too many" from "just enough" (decision D32).
  const limit = maxSelectedUsers + 1;
  const users = await findSelectedUsers(database, { workspaceId, selector, limit, findNamed });
  if (!users) {
    throw new ServiceError('PUSH_PARAMETER_INVALID', {
      field: 'targetUserAttributes.attribute',
      reason: 'is unknown; a custom attribute needs isCustom',
    });
  }
  if (users.length > maxSelectedUsers) throw new ServiceError('PUSH_PARAMETER_INVALID', tooManyUsers);
  return users.map(({ bucket, userId }) => [bucket, userId]);
}

type Preparation = {
  admitted: AdmittedPush;
  command: PushCommand;
  segmentId: string | undefined;
  targetUsers: [number, string][] | undefined;
  at: Date;
};

function preparePush({ admitted, command, segmentId, targetUsers, at }: Preparation): PushToStore {
  const settings = admitted.existing ? deliverySettings(admitted.existing.settings) : command.settings;
  return {
    responseId: randomUUID(),
    workspaceId: admitted.workspace.id,
    name: admitted.name,
    signedBy: admitted.signedBy,
    command,
    segmentId,
    targetUsers,
    existing: admitted.existing,
    campaignId: admitted.existing?.id ?? makeId(at),
    runId: makeId(at),
    at,
    sendUntil: sendUntil(settings, at),
  };
}

type Store = (push: PushToStore) => Promise<StoredPush>;

/** A name that was taken in the meantime: audience `User` joins that campaign, every other is a duplicate. */
async function storeOrJoin(database: Database, push: PushToStore, store: Store): Promise<StoredPush> {
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
      // A joined campaign's name is taken already, so a second try cannot meet a taken name.
      throw new ServiceError('PUSH_NAME_DUPLICATE');
    case 'not-joinable': {
      const reason = `the campaign of this name is ${stored.status.toLowerCase()}`;
      throw new ServiceError('PUSH_PARAMETER_INVALID', { field: 'campaignName', reason });
    }
    default: {
      const never: never = stored;
      throw new Error(`unknown result ${JSON.stringify(never)}`);
    }
  }
}
