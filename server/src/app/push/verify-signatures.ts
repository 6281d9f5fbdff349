import { createHash } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import type { App } from '../../domain/apps.ts';
import type { Encryption } from '../../domain/crypto/encryption.ts';
import { findSigningKey, findSigningKeyV2 } from '../../domain/crypto/signatures.ts';
import { ServiceError } from '../../domain/errors.ts';
import { isStorableText } from '../../domain/storable-text.ts';
import { listAppsOfWorkspaces } from '../../storage/apps.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { claimIdempotencyKey, forgetIdempotencyKey } from '../../storage/limits/idempotency-keys.ts';
import { findWorkspaces } from '../../storage/workspaces.ts';
import type { Workspace } from '../../storage/workspaces.ts';
import { lookUpBatches, makeGroupCommit } from '../group-commit.ts';
import { listPushSecretsOfWorkspaces } from '../keys/authenticate-key.ts';
import type { PushSecret } from '../keys/authenticate-key.ts';

export type PushSignatures = {
  /** As sent; undefined when absent or not a text. */
  campaignName: string | undefined;
  signature: string | undefined;
  /** The stronger signature, if it was sent. */
  signatureV2: { id: string; timestamp: string; signature: string } | undefined;
  rawBody: string;
};

type Presented = { context: WorkspaceContext; signatures: PushSignatures };
export type VerifiedPush = { key: PushSecret } | { fault: ServiceError };

/** Verifies all signatures that were sent or are required. This uses up the id of a v2 signature. */
export async function verifySignatures(
  { database, clock }: { database: Database; clock: Clock },
  { context, signatures }: Presented,
): Promise<VerifiedPush> {
  const signer = findSigner(context, signatures);
  if ('fault' in signer) return signer;
  const { workspace, keys } = context;
  const { signatureV2, rawBody } = signatures;
  if (!signatureV2) {
    if (workspace.signatureV2Required) return signatureInvalid('the workspace requires the v2 signature');
    return signer;
  }
  const at = clock.now();
  const key = findSigningKeyV2({ ...signatureV2, rawBody, now: at }, keys);
  if (!key) return signatureInvalid('the v2 signature does not match, or its timestamp is more than 5 minutes off');
  // A replayed request must not count, so the id is checked before the limit.
  const isFirst = await rememberSignatureId(database, { workspaceId: workspace.id, id: signatureV2.id, at });
  return isFirst ? { key } : signatureInvalid('the id of the v2 signature was used before');
}

/** Does the work of a verified request. If that throws, the id of its v2 signature can be used again. */
export async function keepingIdUnused<Result>(
  { database }: { database: Database },
  { workspaceId, signatures: { signatureV2 } }: { workspaceId: string; signatures: PushSignatures },
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (signatureV2) await forgetSignatureId(database, { workspaceId, id: signatureV2.id });
    throw error;
  }
}

/** Finds the key that signed the name. */
function findSigner({ workspace, keys }: WorkspaceContext, { campaignName, signature }: PushSignatures): VerifiedPush {
  if (signature === undefined || signature === '') return { fault: new ServiceError('PUSH_SIGNATURE_MISSING') };
  // Lone surrogates become one replacement character in UTF-8, so different names would share a signature (decision D35a).
  if (campaignName === undefined || !isStorableText(campaignName))
    return signatureInvalid('the name is not well-formed Unicode');
  const signed = { appId: workspace.id, campaignName, signature };
  const key = findSigningKey(signed, keys);
  if (key) return { key };
  const expected = `${workspace.id}|${campaignName}|<push key>`;
  return signatureInvalid(`does not match any of ${keys.length} push keys over ${expected}`);
}

function signatureInvalid(detail: string): { fault: ServiceError } {
  return { fault: new ServiceError('PUSH_SIGNATURE_INVALID', { detail }) };
}

export type SignatureId = { workspaceId: string; id: string };

/**
 * Stores the id of a v2 signature for a day, far longer than its five minutes of validity (decision D35a).
 *
 * @returns true if it is new
 */
function rememberSignatureId(database: Database, { at, ...signatureId }: SignatureId & { at: Date }): Promise<boolean> {
  const key = toKey(signatureId);
  const claim = { ...key, bodyHash: key.keyHash, createdAt: at };
  // A transaction, because its outcome is looked up if the response is lost: an id claimed by this request itself is new.
  return inTransaction(database, (tx) => claimIdempotencyKey(tx, claim));
}

/** Makes the id of a request that was not counted usable again: the caller may repeat the request as it was signed. */
function forgetSignatureId(database: Database, signatureId: SignatureId): Promise<void> {
  return forgetIdempotencyKey(database, toKey(signatureId));
}

function toKey({ workspaceId, id }: SignatureId): { workspaceId: string; operation: string; keyHash: Buffer } {
  const keyHash = createHash('sha256').update(id, 'utf8').digest();
  return { workspaceId, operation: 'push-signature-id', keyHash };
}

export type WorkspaceContext = { workspace: Workspace; apps: App[]; keys: PushSecret[] };

// Decision D14: an archived key ends everywhere within a second.
const freshMilliseconds = 900;
const maxWorkspaces = 10_000;

/**
 * Finds a workspace with its apps and push keys, cached for under a second: at thousands of requests a second, three queries.
 * Ids that arrive together are looked up together: a caller that makes up ids costs the database one query at a time, however
 * many requests arrive.
 */
export function makeFindWorkspaceContext(deps: { database: Database; encryption: Encryption; clock: Clock }) {
  const remembered = new Map<string, { until: number; context: Promise<WorkspaceContext | undefined> }>();

  const load = makeGroupCommit<string, WorkspaceContext | undefined>(async (ids) => {
    const workspaces = await findWorkspaces(deps.database, ids);
    const known = workspaces.flatMap((workspace) => (workspace ? [workspace.id] : []));
    if (known.length === 0) return workspaces.map(() => undefined);
    const [apps, keys] = await Promise.all([
      listAppsOfWorkspaces(deps.database, known),
      listPushSecretsOfWorkspaces(deps, known),
    ]);
    return workspaces.map(
      (workspace) => workspace && { workspace, apps: apps.get(workspace.id) ?? [], keys: keys.get(workspace.id) ?? [] },
    );
  }, lookUpBatches);

  return (id: string): Promise<WorkspaceContext | undefined> => {
    // Monotonic: the sandbox's clock may jump.
    const now = performance.now();
    const known = remembered.get(id);
    if (known && known.until > now) return known.context;
    const context = load(id);
    remembered.delete(id);
    remembered.set(id, { until: now + freshMilliseconds, context });
    context.catch(() => remembered.delete(id));
    if (remembered.size > maxWorkspaces) remembered.delete(remembered.keys().next().value!);
    return context;
  };
}
