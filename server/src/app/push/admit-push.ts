import type { Clock } from '../../clock.ts';
import { ServiceError } from '../../domain/errors.ts';
import { sourceOfAddress } from '../../domain/limits/source-address.ts';
import type { Encryption } from '../../domain/encryption.ts';
import type { Database } from '../../storage/database.ts';
import { findNamedUsersTogether } from '../../storage/users/users.ts';
import type { AskedCustomerIds, NamedUserKey } from '../../storage/users/users.ts';
import { findCampaignsByNames } from '../../storage/campaigns/campaigns.ts';
import type { StoredCampaign } from '../../storage/campaigns/campaigns.ts';
import { noteUse } from '../keys/authenticate-key.ts';
import type { PushSecret } from '../keys/list-push-secrets.ts';
import { makeLimitBursts } from '../limits/limit-bursts.ts';
import type { LimitBursts } from '../limits/limit-bursts.ts';
import { checkPushName, findJoined, isUserAudience } from './check-push-name.ts';
import { makeCountPushRequest } from './count-push-request.ts';
import { namedCustomerIds } from './named-customer-ids.ts';
import { keepingIdUnused, verifySignatures } from './verify-signatures.ts';
import type { PushSignatures } from './verify-signatures.ts';
import { lookUpBatches, makeWorkTogether } from './work-together.ts';
import { makeFindWorkspaceContext } from './workspace-context.ts';
import type { WorkspaceContext } from './workspace-context.ts';
import { pushRequestsPerMinute, unverifiedPushesPerMinute } from '../../domain/push/limits.ts';

/** What identifies a request, before its parameters are read. */
export type PushCredentials = PushSignatures & {
  appId: string | undefined;
  /** `targetAudience` as sent. */
  audience: unknown;
  /** `targetUserAttributes` as sent. */
  userAttributes: unknown;
  /**
   * The request may be a repeat of the one that created the campaign; the duplicate is then found when it is stored.
   */
  isRepeatable: boolean;
  /** The data center of the host that was called (decision D1); undefined when hosts do not tell. */
  dataCenter: string | undefined;
  /** The workspace of a Bearer token that came along; it must be the one named. */
  bearerWorkspaceId: string | undefined;
  /** The source address, which only requests with a wrong signature are counted by. */
  address: string;
  /** Is called with the workspace that is named, also of a request that is refused then: its people look for it. */
  onWorkspaceFound?: (workspaceId: string) => void;
  /** Is called with the key that signed, also of a request that is refused then. */
  onVerified?: (keyId: string) => void;
  /** Is called with the state of the limit, also for a request that is refused then (fact 0.1). */
  onLimit?: (limit: PushLimitState) => void;
};

/** Requests a minute, how many of them are left, and after how many seconds there are more. */
export type PushLimitState = { limit: number; remaining: number; resetSeconds: number };

/** What is known of a push before its parameters are read. */
export type PushOfWorkspace = {
  workspace: WorkspaceContext['workspace'];
  /** Those beside the default ones. */
  apps: WorkspaceContext['apps'];
  /** Trimmed. */
  name: string;
  /** Name of the key that signed, or of an operator: the campaign's `created_by`. */
  signedBy: string;
  /** The campaign of this name that audience `User` joins. */
  existing: StoredCampaign | undefined;
  /** The users of customer ids that the request seemed to name, where they were looked for already. */
  named?: { customerIds: readonly string[]; users: NamedUserKey[] } | undefined;
};

export type AdmitPush = (credentials: PushCredentials) => Promise<PushOfWorkspace>;

/**
 * Makes the checks of decision D31 up to the duplicate name; the first that fails is thrown. A request counts against the
 * limit of its workspace once its signature is verified: the workspace id is in every app, so anybody can send requests that
 * name it. A request that is not verified is counted by its source address, in this process, and asks the database for
 * nothing but the workspace. What a signed one will need is looked up while it is counted; beyond the limit the result is
 * thrown away.
 */
export function makeAdmitPush(deps: {
  database: Database;
  encryption: Encryption;
  clock: Clock;
  requestsPerMinute?: number;
}): AdmitPush {
  const { database, clock } = deps;
  const findContext = makeFindWorkspaceContext(deps);
  const limitUnverified = makeLimitBursts({ events: unverifiedPushesPerMinute, seconds: 60 }, deps);
  const countRequest = makeCountPushRequest({
    database,
    clock,
    requestsPerMinute: deps.requestsPerMinute ?? pushRequestsPerMinute,
  });

  const findCampaign = makeWorkTogether(
    (names: { workspaceId: string; name: string }[]) => findCampaignsByNames(database, names),
    lookUpBatches,
  );
  const findNamed = makeWorkTogether<AskedCustomerIds, NamedUserKey[]>(
    (asks) => findNamedUsersTogether(database, asks),
    lookUpBatches,
  );

  /** @throws ServiceError PUSH_RATE_LIMITED */
  async function countSigned(workspaceId: string, { onLimit }: PushCredentials): Promise<void> {
    const { granted, remaining, retryAfterSeconds } = await countRequest(workspaceId);
    const resetSeconds = granted > 0 ? 60 : retryAfterSeconds;
    onLimit?.({ limit: pushRequestsPerMinute, remaining, resetSeconds });
    if (granted === 0) throw new ServiceError('PUSH_RATE_LIMITED', { retryAfterSeconds });
  }

  async function findNamedUsers(workspaceId: string, customerIds: string[]): Promise<PushOfWorkspace['named']> {
    return { customerIds, users: await findNamed({ workspaceId, customerIds }) };
  }

  return async (credentials) => {
    if (credentials.appId === undefined || credentials.appId === '') throw new ServiceError('PUSH_APP_ID_MISSING');
    const context = /^[A-Za-z0-9_-]{1,64}$/.test(credentials.appId) ? await findContext(credentials.appId) : undefined;
    if (!context || !isCalledRight(context, credentials)) throw new ServiceError('PUSH_APP_ID_INVALID');
    const { workspace, apps } = context;
    credentials.onWorkspaceFound?.(workspace.id);
    const name = checkPushName(credentials.campaignName);
    const verified = await verifySignatures(deps, { context, signatures: credentials });
    if ('fault' in verified) throw refuseUnverified(limitUnverified, { credentials, fault: verified.fault });
    const { key } = verified;
    credentials.onVerified?.(key.keyId);
    const customerIds = isUserAudience(credentials.audience, workspace.pushBodies)
      ? namedCustomerIds(credentials.userAttributes)
      : undefined;
    const [, existing, named] = await keepingIdUnused(
      deps,
      { workspaceId: workspace.id, signatures: credentials },
      () =>
        Promise.all([
          countSigned(workspace.id, credentials),
          findCampaign({ workspaceId: workspace.id, name }),
          customerIds ? findNamedUsers(workspace.id, customerIds) : undefined,
        ]),
    );
    await noteSigned(deps, key);
    const joined = findJoined(existing, { audience: credentials.audience, bodies: workspace.pushBodies });
    if (existing && !joined && !credentials.isRepeatable) throw new ServiceError('PUSH_NAME_DUPLICATE');
    return { workspace, apps, name, signedBy: key.name, existing: joined, named };
  };
}

/** A workspace addressed through another data center, or with another workspace's token, is treated as not found. */
function isCalledRight({ workspace }: WorkspaceContext, { dataCenter, bearerWorkspaceId }: PushCredentials): boolean {
  if (dataCenter !== undefined && dataCenter !== workspace.dataCenter) return false;
  return bearerWorkspaceId === undefined || bearerWorkspaceId === workspace.id;
}

async function noteSigned({ database, clock }: { database: Database; clock: Clock }, key: PushSecret): Promise<void> {
  const at = clock.now();
  const { lastUsedAt } = key;
  // The remembered key learns it first, so that a burst writes once.
  key.lastUsedAt = lastUsedAt && at.getTime() - lastUsedAt.getTime() < 60_000 ? lastUsedAt : at;
  await noteUse(database, { id: key.keyId, lastUsedAt }, at);
}

/** The signature error, or the refusal of an address that sent too many requests with one (decision D31). */
function refuseUnverified(
  limitUnverified: LimitBursts,
  { credentials: { address, onLimit }, fault }: { credentials: PushCredentials; fault: ServiceError },
): ServiceError {
  const over = limitUnverified(sourceOfAddress(address));
  if (!over) return fault;
  onLimit?.({ limit: unverifiedPushesPerMinute, remaining: 0, resetSeconds: over.retryAfterSeconds });
  return new ServiceError('PUSH_RATE_LIMITED', {
    ...over,
    detail: 'requests of the address without a valid signature',
  });
}
