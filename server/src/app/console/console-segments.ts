import type { SignedIn } from '../accounts/account-dependencies.ts';
import { audit } from '../accounts/audit.ts';
import { postFile } from '../segments/post-file.ts';
import type { PostedFile } from '../segments/post-file.ts';
import { makeReadSegments } from '../segments/read-segments.ts';
import type { ReadSegmentsDependencies } from '../segments/read-segments.ts';
import type { AcceptedOperation } from '../segments/request-file-operation.ts';
import type { SegmentDependencies } from '../segments/segment-dependencies.ts';

type Key = { workspaceId: string; id: string };
type By = { by: SignedIn };

/** Segments as the console shows and fills them. What was accepted gets its line in the audit log after it. */
export function makeConsoleSegments(deps: SegmentDependencies & ReadSegmentsDependencies) {
  const { database, clock } = deps;
  const read = makeReadSegments(deps);
  return {
    ...read,
    async postFile({ by, ...file }: Omit<PostedFile, 'requestedBy'> & By): Promise<AcceptedOperation> {
      const accepted = await postFile(deps, { ...file, requestedBy: by.name });
      await audit(database, {
        actor: by,
        workspaceId: file.workspaceId,
        action: 'segment.upload',
        object: { id: accepted.segmentId, name: accepted.segmentName },
        detail: { operation: accepted.operationId },
        at: clock.now(),
      });
      return accepted;
    },
    async resendCallback({ by, ...key }: Key & By) {
      const callback = await read.resendCallback(key);
      const object = { id: callback.id, name: callback.url };
      const { workspaceId } = key;
      await audit(database, { actor: by, workspaceId, action: 'callback.resend', object, at: clock.now() });
      return callback;
    },
    async readWebhookSecret({ by, workspaceId }: By & { workspaceId: string }): Promise<string> {
      const secret = await read.readWebhookSecret(workspaceId);
      const object = { id: workspaceId };
      await audit(database, { actor: by, workspaceId, action: 'webhook-secret.read', object, at: clock.now() });
      return secret;
    },
  };
}

export type ConsoleSegments = ReturnType<typeof makeConsoleSegments>;
