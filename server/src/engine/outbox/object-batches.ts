import { gzip } from 'node:zlib';
import { promisify } from 'node:util';
import { signAwsRequest } from '../../domain/crypto/aws-signature.ts';
import { objectNameOf } from '../../domain/events/event-streams.ts';
import type { StreamedEvent } from '../../domain/events/event-streams.ts';
import { callReceiver } from './receivers.ts';
import type { PostedAnswer, PostSignedDependencies } from './receivers.ts';

const compress = promisify(gzip);

export type ObjectBatch = {
  id: string;
  workspaceId: string;
  /** The address of the bucket, with or without a path below which the objects are stored. */
  url: string;
  objectStore: { region: string; keyId: string };
  /** The secret of the access key. */
  secret: string;
  events: readonly StreamedEvent[];
  lines: string;
};

/**
 * Stores a batch as one compressed object of a store that speaks S3. Each attempt has the same name, so a repeat after a crash or a lost
 * response replaces the object.
 */
export async function putObjectBatch(deps: PostSignedDependencies, batch: ObjectBatch): Promise<PostedAnswer> {
  const { id, url: bucketUrl, objectStore, secret, lines } = batch;
  const url = new URL(bucketUrl);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${objectNameOf(batch)}`;
  [url.search, url.hash] = ['', ''];
  const body = await compress(lines);
  // The store compares the time with its clock, which no sandbox moves.
  const at = deps.clock.realNow();
  const headers = signAwsRequest(
    { ...objectStore, secret },
    { method: 'PUT', url, body, at, headers: { 'content-type': 'application/gzip' } },
  );
  return callReceiver(deps, { id, request: { method: 'PUT', url: url.href, headers, body } });
}
