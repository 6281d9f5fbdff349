import type { Clock } from '../../clock.ts';
import { ServiceError } from '../../domain/errors.ts';
import { findSigningKey } from '../../domain/signature/sign-push.ts';
import { findSigningKeyV2 } from '../../domain/signature/sign-push-v2.ts';
import { isStorableText } from '../../domain/storable-text.ts';
import type { Database } from '../../storage/database.ts';
import type { PushSecret } from '../keys/list-push-secrets.ts';
import { forgetSignatureId, rememberSignatureId } from './remember-signature-id.ts';
import type { WorkspaceContext } from './workspace-context.ts';

export type PushSignatures = {
  /** As sent; undefined when absent or not a text. */
  campaignName: string | undefined;
  signature: string | undefined;
  /** The stronger signature, when it was sent. */
  signatureV2: { id: string; timestamp: string; signature: string } | undefined;
  rawBody: string;
};

type Presented = { context: WorkspaceContext; signatures: PushSignatures };
export type VerifiedPush = { key: PushSecret } | { fault: ServiceError };

/** Verifies all signatures that were sent or are required. The id of a v2 signature is used up then. */
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
  // A request that was recorded and is sent again must not count: so the id is looked at before the limit.
  const isFirst = await rememberSignatureId(database, { workspaceId: workspace.id, id: signatureV2.id, at });
  return isFirst ? { key } : signatureInvalid('the id of the v2 signature was used before');
}

/** Does the work of a verified request. If that throws, the id of its v2 signature is good for a repeat. */
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

/** Finds the key that made the signature of the name. */
function findSigner({ workspace, keys }: WorkspaceContext, { campaignName, signature }: PushSignatures): VerifiedPush {
  if (signature === undefined || signature === '') return { fault: new ServiceError('PUSH_SIGNATURE_MISSING') };
  // Lone surrogates are one replacement character in UTF-8, so different names would share a signature (decision D35a).
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
