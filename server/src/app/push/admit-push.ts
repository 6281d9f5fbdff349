import type { Clock } from '../../clock.ts';
import { sourceOfAddress } from '../../domain/access/rate-limits.ts';
import { noSuchApp, findCriticalSounds, needsCriticalAlerts } from '../../domain/apps.ts';
import type { Encryption } from '../../domain/crypto/encryption.ts';
import { ServiceError } from '../../domain/errors.ts';
import {
  pushRequestsPerMinute,
  unverifiedPushesPerMinute,
  minPushNameCharacters,
  maxSelectorValues,
} from '../../domain/limits/push.ts';
import type { PushBodies, PushCommand } from '../../domain/push.ts';
import { identifierOf } from '../../domain/users/users.ts';
import { listApps } from '../../storage/apps.ts';
import { findCampaignsByNames, findCampaignByName } from '../../storage/campaigns/campaigns.ts';
import type { StoredCampaign } from '../../storage/campaigns/campaigns.ts';
import type { Database, Queryable } from '../../storage/database.ts';
import { countBeforehand } from '../../storage/limits/push-rate-limit.ts';
import type { LimitGrant } from '../../storage/limits/push-rate-limit.ts';
import { findNamedUsersTogether } from '../../storage/users/users.ts';
import type { AskedCustomerIds, NamedUserKey } from '../../storage/users/users.ts';
import { findUnknownApp } from '../apps.ts';
import { lookUpBatches, makeGroupCommit, batchPause } from '../group-commit.ts';
import { noteUse } from '../keys/authenticate-key.ts';
import type { PushSecret } from '../keys/authenticate-key.ts';
import { makeLimitBursts } from '../limits.ts';
import type { LimitBursts } from '../limits.ts';
import { requireWorkspace } from '../workspaces.ts';
import { keepingIdUnused, verifySignatures, makeFindWorkspaceContext } from './verify-signatures.ts';
import type { PushSignatures, WorkspaceContext } from './verify-signatures.ts';

/** Identifies a request before its parameters are read. */
export type PushCredentials = PushSignatures & {
  appId: string | undefined;
  /** `targetAudience` as sent. */
  audience: unknown;
  /** `targetUserAttributes` as sent. */
  userAttributes: unknown;
  /** The request may repeat the one that created the campaign; the duplicate is then found when it is stored. */
  isRepeatable: boolean;
  /** The data center of the called host (decision D1); undefined if hosts do not name one. */
  dataCenter: string | undefined;
  /** The workspace of a Bearer token that was also sent; it must be the one named. */
  bearerWorkspaceId: string | undefined;
  /** The source address; only requests with a wrong signature are counted by it. */
  address: string;
  /** Called with the named workspace, even if the request is then rejected, so that its API log has every request. */
  onWorkspaceFound?: (workspaceId: string) => void;
  /** Called with the key that signed, even if the request is then rejected. */
  onVerified?: (keyId: string) => void;
  /** Called with the state of the limit, even if the request is then rejected (fact 0.1). */
  onLimit?: (limit: PushLimitState) => void;
};

/** The requests per minute, the remaining ones, and the seconds until the limit allows more. */
export type PushLimitState = { limit: number; remaining: number; resetSeconds: number };

/** The facts about a push that are known before its parameters are read. */
export type PushOfWorkspace = {
  workspace: WorkspaceContext['workspace'];
  /** Apps other than the default ones. */
  apps: WorkspaceContext['apps'];
  /** Trimmed. */
  name: string;
  /** Name of the signing key, or of an operator: the campaign's `created_by`. */
  signedBy: string;
  /** The campaign of this name that audience `User` joins. */
  existing: StoredCampaign | undefined;
  /** The users of the customer ids that the request seemed to name, if they were looked up already. */
  named?: { customerIds: readonly string[]; users: NamedUserKey[] } | undefined;
};

export type AdmitPush = (credentials: PushCredentials) => Promise<PushOfWorkspace>;

/**
 * Makes the checks of decision D31 up to the duplicate name and throws the first that fails. A request counts against the limit
 * of its workspace once its signature is verified: the workspace id is in every app, so anyone can send requests that name it.
 * An unverified request is counted by its source address, in this process, and reads nothing but the workspace from the
 * database. Data that a signed request will need is looked up while it is counted; beyond the limit the result is discarded.
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

  const findCampaign = makeGroupCommit(
    (names: { workspaceId: string; name: string }[]) => findCampaignsByNames(database, names),
    lookUpBatches,
  );
  const findNamed = makeGroupCommit<AskedCustomerIds, NamedUserKey[]>(
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
    if (!context || !isCalledCorrectly(context, credentials)) throw new ServiceError('PUSH_APP_ID_INVALID');
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

/** Treats a workspace addressed through another data center, or with another workspace's token, as not found. */
function isCalledCorrectly(
  { workspace }: WorkspaceContext,
  { dataCenter, bearerWorkspaceId }: PushCredentials,
): boolean {
  if (dataCenter !== undefined && dataCenter !== workspace.dataCenter) return false;
  return bearerWorkspaceId === undefined || bearerWorkspaceId === workspace.id;
}

async function noteSigned({ database, clock }: { database: Database; clock: Clock }, key: PushSecret): Promise<void> {
  const at = clock.now();
  const { lastUsedAt } = key;
  // The cached key is updated first, so that a burst writes once.
  key.lastUsedAt = lastUsedAt && at.getTime() - lastUsedAt.getTime() < 60_000 ? lastUsedAt : at;
  await noteUse(database, { id: key.keyId, lastUsedAt }, at);
}

/** Returns the signature error, or the rate limit error for an address that caused too many of them (decision D31). */
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

export type OperatorPush = {
  workspaceId: string;
  campaignName: string | undefined;
  /** `targetAudience` as sent. */
  audience: unknown;
  /** The campaign's `created_by`. */
  by: string;
  /** A preview (`look`) does not count against the limit of the workspace. */
  purpose: 'send' | 'look';
};

/**
 * Makes the checks of makeAdmitPush for an operator of the installation, except those of the signature.
 *
 * @throws ServiceError PUSH_NAME_MISSING, PUSH_NAME_TOO_SHORT, PUSH_RATE_LIMITED, PUSH_NAME_DUPLICATE
 */
export async function admitOperatorPush(
  deps: { database: Database; clock: Clock },
  { workspaceId, campaignName, audience, by, purpose }: OperatorPush,
): Promise<PushOfWorkspace> {
  const workspace = await requireWorkspace(deps.database, workspaceId);
  const name = checkPushName(campaignName);
  if (purpose === 'send') {
    const { granted, retryAfterSeconds } = await makeCountPushRequest({
      ...deps,
      requestsPerMinute: pushRequestsPerMinute,
    })(workspaceId);
    if (granted === 0) throw new ServiceError('PUSH_RATE_LIMITED', { retryAfterSeconds });
  }
  const existing = await findCampaignByName(deps.database, { workspaceId, name });
  const joined = findJoined(existing, { audience, bodies: workspace.pushBodies });
  if (existing && !joined) throw new ServiceError('PUSH_NAME_DUPLICATE');
  const apps = await listApps(deps.database, workspaceId);
  return { workspace, apps, name, signedBy: by, existing: joined };
}

/**
 * Counts one push request against the workspace's limit. Requests that arrive together are counted together: one row
 * per workspace and batch.
 */
function makeCountPushRequest(deps: {
  database: Database;
  clock: Clock;
  requestsPerMinute: number;
}): (workspaceId: string) => Promise<LimitGrant> {
  return makeGroupCommit((workspaceIds) => countBatch(deps, workspaceIds), {
    batchItems: 1_000,
    waitingItems: 20_000,
    // Two batches at once would count requests of the same workspaces.
    batchesAtOnce: 1,
    pause: batchPause,
  });
}

async function countBatch(
  { database, clock, requestsPerMinute }: Parameters<typeof makeCountPushRequest>[0],
  workspaceIds: string[],
): Promise<LimitGrant[]> {
  const wanted = new Map<string, number>();
  for (const id of workspaceIds) wanted.set(id, (wanted.get(id) ?? 0) + 1);
  const counts = [...wanted].map(([workspaceId, count]) => ({
    operation: 'push',
    workspaceId,
    wanted: count,
    limit: requestsPerMinute,
    windowSeconds: 60,
    at: clock.now(),
  }));
  const granted = await countBeforehand(database, counts);
  const grants = new Map(counts.map(({ workspaceId }, index) => [workspaceId, granted[index]!]));
  const left = new Map([...grants].map(([id, grant]) => [id, grant.granted]));
  return workspaceIds.map((id) => {
    const grant = grants.get(id)!;
    const rest = left.get(id)!;
    left.set(id, rest - 1);
    return { ...grant, granted: rest > 0 ? 1 : 0 };
  });
}

/** Returns the trimmed name. @throws ServiceError PUSH_NAME_MISSING, PUSH_NAME_TOO_SHORT */
function checkPushName(sent: string | undefined): string {
  const name = sent?.trim();
  if (name === undefined || name === '') throw new ServiceError('PUSH_NAME_MISSING');
  // Counts characters, not UTF-16 units: an emoji is one character.
  if ([...name].length < minPushNameCharacters) throw new ServiceError('PUSH_NAME_TOO_SHORT');
  return name;
}

/** Returns the campaign that a push joins, if any: a push with audience `User` joins a campaign of the same name and audience. */
function findJoined(
  existing: StoredCampaign | undefined,
  { audience, bodies }: { audience: unknown; bodies: PushBodies },
): StoredCampaign | undefined {
  return existing?.audience === 'USER' && isUserAudience(audience, bodies) ? existing : undefined;
}

function isUserAudience(sent: unknown, bodies: PushBodies): boolean {
  return sent === 'User' || (bodies === 'lenient' && typeof sent === 'string' && sent.toLowerCase() === 'user');
}

/**
 * Returns the customer ids that `targetUserAttributes` names, before it is parsed, so that they can be looked up while the
 * request is counted. If the parsed value names other ids, those are looked up later.
 */
function namedCustomerIds(sent: unknown): string[] | undefined {
  if (typeof sent !== 'object' || sent === null) return undefined;
  const { attribute, attributeValue, isCustom } = sent as Record<string, unknown>;
  if (typeof attribute !== 'string') return undefined;
  if (identifierOf(attribute, { isCustom: isCustom === true || isCustom === 'true' })?.kind !== 'customer-id')
    return undefined;
  const values: unknown[] = Array.isArray(attributeValue) ? attributeValue : [attributeValue];
  return values.length <= maxSelectorValues && values.every(isText) ? values : undefined;
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

type Asked = {
  admitted: Pick<PushOfWorkspace, 'workspace' | 'apps'>;
  command: Pick<PushCommand, 'content' | 'settings'>;
};

/**
 * Checks that the apps of a push exist and that one of them may play a requested critical sound. Makes no query for a push without
 * apps.
 *
 * @throws ServiceError PUSH_PARAMETER_INVALID
 */
export async function requireApps(database: Queryable, { admitted, command }: Asked): Promise<void> {
  const { content, settings } = command;
  const { appIds } = settings;
  const unknown = await findUnknownApp(database, { workspaceId: admitted.workspace.id, appIds });
  if (unknown !== undefined)
    throw new ServiceError('PUSH_PARAMETER_INVALID', { field: 'advancedSettings.appIds', reason: noSuchApp(unknown) });
  const [asking] = findCriticalSounds(content, { apps: admitted.apps, appIds });
  if (asking === undefined) return;
  const entry = asking === 'content' ? 'payload.IOS' : 'payload.IOS.fallback';
  throw new ServiceError('PUSH_PARAMETER_INVALID', {
    field: `${entry}.options.sound.critical`,
    reason: needsCriticalAlerts,
  });
}
