import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { signAwsRequest } from '../../src/domain/crypto/aws-signature.ts';
import { maxPictureBytes } from '../../src/domain/limits/pictures.ts';
import { makeOutgoingClient } from '../../src/outgoing/client.ts';
import type { OutgoingClient } from '../../src/outgoing/client.ts';
import { makeS3Store } from '../../src/outgoing/s3-store.ts';
import { startSimulatedS3 } from './simulated-s3.ts';
import type { SimulatedS3 } from './simulated-s3.ts';

/** The examples of Amazon S3's API reference, "Signature Calculations for the Authorization Header". */
describe('a signature for S3', () => {
  const key = {
    keyId: 'AKIAIOSFODNN7EXAMPLE',
    secret: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    region: 'us-east-1',
  };
  const sign = (
    method: string,
    { path, headers = {}, body = '' }: { path: string; headers?: Record<string, string>; body?: string },
  ) => {
    const url = new URL(`https://examplebucket.s3.amazonaws.com${path}`);
    const at = new Date('2013-05-24T00:00:00Z');
    return signAwsRequest(key, { method, url, headers, body: Buffer.from(body), at })['authorization'];
  };
  const scope = 'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request';

  test('is that of the example “GET Object”', () => {
    expect(sign('GET', { path: '/test.txt', headers: { range: 'bytes=0-9' } })).toBe(
      `${scope},SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41`,
    );
  });

  test('is that of the example “PUT Object”, whose key needs encoding', () => {
    const headers = { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' };
    expect(sign('PUT', { path: '/test$file.text', headers, body: 'Welcome to Amazon S3.' })).toBe(
      `${scope},SignedHeaders=date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class,Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd`,
    );
  });

  test('is that of the examples “GET Bucket Lifecycle” and “Get Bucket (List Objects)”', () => {
    expect(sign('GET', { path: '/?lifecycle' })).toContain(
      'Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
    );
    expect(sign('GET', { path: '/?prefix=J&max-keys=2' })).toContain(
      'Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
    );
  });
});

describe('the S3 store', () => {
  let s3: SimulatedS3;
  let client: OutgoingClient;
  const object = { bytes: Buffer.from('a picture'), mediaType: 'image/png' };
  const name = 'WORKSPACE/0123456789abcdef0123456789abcdef';

  beforeEach(async () => {
    s3 = await startSimulatedS3();
    client = makeOutgoingClient({ allowedNetworks: [], hosts: 'trusted' });
  });
  afterEach(async () => {
    await client.close();
    await s3.stop();
  });
  const open = (more: Partial<Parameters<typeof makeS3Store>[0]> = {}) =>
    makeS3Store({ client, bucketUrl: s3.bucketUrl, key: s3.key, now: () => new Date(), ...more });

  test('stores, reads and deletes an object, with signatures that the store accepts', async () => {
    const store = open();
    await store.put(name, object);
    expect(s3.objects.get(`/bucket/${name}`)).toEqual({ bytes: object.bytes, type: 'image/png' });
    expect(await store.get(name)).toEqual(object.bytes);
    await store.remove(name);
    expect(await store.get(name)).toBeUndefined();
    await store.remove(name);
    expect(s3.faults).toEqual(['NoSuchKey']);
  });

  test('stores below a path of the bucket', async () => {
    await open({ bucketUrl: `${s3.bucketUrl}/pictures/` }).put(name, object);
    expect([...s3.objects.keys()]).toEqual([`/bucket/pictures/${name}`]);
  });

  test.each([
    ['another secret', { secret: 'other' }, 'SignatureDoesNotMatch'],
    ['another key', { keyId: 'AKIAOTHER' }, 'InvalidAccessKeyId'],
    ['another region', { region: 'eu-west-1' }, 'AuthorizationHeaderMalformed'],
  ])('fails with the code of the store for %s, and stores nothing', async (_case, change, code) => {
    await expect(open({ key: { ...s3.key, ...change } }).put(name, object)).rejects.toThrow(
      `the object store returned 403 (${code})`,
    );
    expect(s3.objects.size).toBe(0);
  });

  test('fails for a clock that is wrong, for an outage, and for an object that is no picture of Carillon', async () => {
    const late = () => new Date(Date.now() - 3_600_000);
    await expect(open({ now: late }).get(name)).rejects.toThrow('(RequestTimeTooSkewed)');
    s3.state.status = 503;
    for (const call of [() => open().put(name, object), () => open().get(name), () => open().remove(name)])
      await expect(call()).rejects.toThrow('the object store returned 503 (InternalError)');
    s3.state.status = undefined;
    s3.objects.set(`/bucket/${name}`, { bytes: Buffer.alloc(maxPictureBytes + 1), type: 'image/png' });
    await expect(open().get(name)).rejects.toThrow('larger than any picture');
  });
});
