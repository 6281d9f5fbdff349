import type { Clock } from '../../clock.ts';
import { ServiceError } from '../../domain/errors.ts';
import { isStorableText } from '../../domain/storable-text.ts';
import type { Encryption } from '../../domain/encryption.ts';
import { findSigningKey } from '../../domain/signature/sign-push.ts';
import { findSigningKeyV2 } from '../../domain/signature/sign-push-v2.ts';
import type { Database } from '../../storage/database.ts';
import { findNamedUsersTogether } from '../../storage/users/users.ts';
import type { AskedCustomerIds, NamedUserKey } from '../../storage/users/users.ts';
import { findCampaignsByNames } from '../../storage/campaigns/campaigns.ts';
import type { StoredCampaign } from '../../storage/campaigns/campaigns.ts';
import type { LimitGrant } from '../../storage/limits/limit-marks.ts';
import { noteUse } from '../keys/authenticate-key.ts';
import type { PushSecret } from '../keys/list-push-secrets.ts';
import { checkPushName, findJoined, isUserAudience } from './check-push-name.ts';
import { makeCountPushRequest } from './count-push-request.ts';
import { namedCustomerIds } from './named-customer-ids.ts';
import { rememberSignatureId } from './remember-signature-id.ts';
import { lookUpBatches, makeWorkTogether } from './work-together.ts';
import { makeFindWorkspaceContext } from './workspace-context.ts';
import type { WorkspaceContext } from './workspace-context.ts';
import { pushRequestsPerMinute } from '../../domain/push/limits.ts';

/** What identifies a request, before its parameters are read. */
export type PushCredentials = {
  appId: string | undefined;
  /** As sent; undefined when absent or not a text. */
  campaignName: string | undefined;
  signature: string | undefined;
  /** The stronger signature, when it was sent. */
  signatureV2: { id: string; timestamp: string; signature: string } | undefined;
  rawBody: string;
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
  /** Is told the workspace that is named, also of a request that is refused then: its people look for it. */
  onWorkspaceFound?: (workspaceId: string) => void;
  /** Is told the state of the limit, also for a request that is refused then (fact 0.1). */
  onCounted?: (limit: LimitGrant) => void;
};

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

export type AdmittedPush = PushOfWorkspace & { keyId: string };

export type AdmitPush = (credentials: PushCredentials) => Promise<AdmittedPush>;

/**
 * The checks of decision D31 up to the duplicate name, in that order; the first that fails is thrown. A request counts
 * against the limit once its workspace and name are known, signed or not. What a signed one will need is looked for while it
 * is counted; of one beyond the limit it is thrown away.
 */
export function makeAdmitPush(deps: {
  database: Database;
  encryption: Encryption;
  clock: Clock;
  requestsPerMinute?: number;
}): AdmitPush {
  const { database, clock } = deps;
  const findContext = makeFindWorkspaceContext(deps);
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

  async function findNamedUsers(workspaceId: string, customerIds: string[]): Promise<AdmittedPush['named']> {
    return { customerIds, users: await findNamed({ workspaceId, customerIds }) };
  }

  return async (credentials) => {
    if (credentials.appId === undefined || credentials.appId === '') throw new ServiceError('PUSH_APP_ID_MISSING');
    const context = /^[A-Za-z0-9_-]{1,64}$/.test(credentials.appId) ? await findContext(credentials.appId) : undefined;
    if (!context || !isCalledRight(context, credentials)) throw new ServiceError('PUSH_APP_ID_INVALID');
    const { workspace, apps } = context;
    credentials.onWorkspaceFound?.(workspace.id);
    const name = checkPushName(credentials.campaignName);
    const signer = findSigner(context, credentials);
    const customerIds = isUserAudience(credentials.audience, workspace.pushBodies)
      ? namedCustomerIds(credentials.userAttributes)
      : undefined;
    const [limit, existing, named] = await Promise.all([
      countRequest(workspace.id),
      'key' in signer ? findCampaign({ workspaceId: workspace.id, name }) : undefined,
      'key' in signer && customerIds ? findNamedUsers(workspace.id, customerIds) : undefined,
    ]);
    credentials.onCounted?.(limit);
    if (limit.granted === 0)
      throw new ServiceError('PUSH_RATE_LIMITED', { retryAfterSeconds: limit.retryAfterSeconds });
    if ('fault' in signer) throw signer.fault;
    const key = await checkSignatureV2(deps, { context, credentials, key: signer.key });
    await noteSigned(deps, key);
    const joined = findJoined(existing, { audience: credentials.audience, bodies: workspace.pushBodies });
    if (existing && !joined && !credentials.isRepeatable) throw new ServiceError('PUSH_NAME_DUPLICATE');
    return { workspace, apps, name, keyId: key.keyId, signedBy: key.name, existing: joined, named };
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

/** Whose signature it is. A fault is a value: it is thrown when the request was counted. */
function findSigner(
  { workspace, keys }: WorkspaceContext,
  credentials: PushCredentials,
): { key: PushSecret } | { fault: ServiceError } {
  const campaignName = credentials.campaignName!;
  if (credentials.signature === undefined || credentials.signature === '')
    return { fault: new ServiceError('PUSH_SIGNATURE_MISSING') };
  // Lone surrogates are one replacement character in UTF-8, so different names would share a signature (decision D35a).
  if (!isStorableText(campaignName)) return { fault: signatureInvalid('the name is not well-formed Unicode') };
  const signed = { appId: workspace.id, campaignName, signature: credentials.signature };
  const key = findSigningKey(signed, keys);
  if (key) return { key };
  const expected = `${workspace.id}|${campaignName}|<push key>`;
  return { fault: signatureInvalid(`does not match any of ${keys.length} push keys over ${expected}`) };
}

type Signed = { context: WorkspaceContext; credentials: PushCredentials; key: PushSecret };

async function checkSignatureV2(
  { database, clock }: { database: Database; clock: Clock },
  { context: { workspace, keys }, credentials, key }: Signed,
): Promise<PushSecret> {
  if (!credentials.signatureV2) {
    if (workspace.signatureV2Required) throw signatureInvalid('the workspace requires the v2 signature');
    return key;
  }
  const keyV2 = findSigningKeyV2({ ...credentials.signatureV2, rawBody: credentials.rawBody, now: clock.now() }, keys);
  if (!keyV2) throw signatureInvalid('the v2 signature does not match, or its timestamp is more than 5 minutes off');
  const isFirst = await rememberSignatureId(database, {
    workspaceId: workspace.id,
    id: credentials.signatureV2.id,
    at: clock.now(),
  });
  if (!isFirst) throw signatureInvalid('the id of the v2 signature was used before');
  return keyV2;
}

function signatureInvalid(detail: string): ServiceError {
  return new ServiceError('PUSH_SIGNATURE_INVALID', { detail });
}
