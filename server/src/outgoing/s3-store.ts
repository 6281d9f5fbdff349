import type { Readable } from 'node:stream';
import { signAwsRequest } from '../domain/crypto/aws-signature.ts';
import type { AwsKey } from '../domain/crypto/aws-signature.ts';
import { maxPictureBytes } from '../domain/limits/pictures.ts';
import type { ObjectStore } from '../domain/pictures.ts';
import type { OutgoingAnswer, OutgoingClient } from './client.ts';

export type S3StoreOptions = {
  client: OutgoingClient;
  /** The address of the bucket, with or without a path below which the objects are stored. */
  bucketUrl: string;
  key: AwsKey;
  /** Real time: the store rejects requests that are more than 15 minutes off. */
  now: () => Date;
};

const totalMilliseconds = 15_000;
// An error of S3 has a few hundred bytes.
const maxErrorBytes = 4_096;

/**
 * Makes a client of a store that speaks S3 (AWS, MinIO, Ceph …): single objects, with signatures of version 4. The address
 * names the bucket in the host or in the path, as the store expects it.
 */
export function makeS3Store({ client, bucketUrl, key, now }: S3StoreOptions): ObjectStore {
  async function call(method: 'GET' | 'PUT' | 'DELETE', name: string, object?: { bytes: Buffer; mediaType: string }) {
    const url = new URL(`${bucketUrl.replace(/\/$/, '')}/${name}`);
    const body = object?.bytes ?? Buffer.alloc(0);
    const headers = signAwsRequest(key, {
      ...{ method, url, body, at: now() },
      ...(object && { headers: { 'content-type': object.mediaType } }),
    });
    return client.open({ url: url.href, method, headers, ...(object && { body }), totalMilliseconds });
  }

  return {
    async put(name, object) {
      const answer = await call('PUT', name, object);
      if (answer.status !== 200) throw await describe(answer);
      answer.body.destroy();
    },
    async get(name) {
      const answer = await call('GET', name);
      if (answer.status === 404) {
        answer.body.destroy();
        return undefined;
      }
      if (answer.status !== 200) throw await describe(answer);
      const bytes = await readAtMost(answer.body, maxPictureBytes + 1);
      // Nothing that Carillon stores is larger, so another program wrote it.
      if (bytes.length > maxPictureBytes) throw new Error('the object is larger than any picture');
      return bytes;
    },
    async remove(name) {
      const answer = await call('DELETE', name);
      if (![200, 204, 404].includes(answer.status)) throw await describe(answer);
      answer.body.destroy();
    },
  };
}

async function describe({ status, body }: OutgoingAnswer): Promise<Error> {
  const text = (await readAtMost(body, maxErrorBytes)).toString('utf8');
  const [, code = 'no code'] = /<Code>([A-Za-z]{1,60})<\/Code>/.exec(text) ?? [];
  return new Error(`the object store returned ${status} (${code})`);
}

/** Reads until the end or until there are this many bytes, whichever comes first. */
async function readAtMost(body: Readable, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= maxBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maxBytes);
}
