import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export type SimulatedS3 = Awaited<ReturnType<typeof startSimulatedS3>>;

/**
 * A store that speaks S3 as far as Carillon does, and verifies each signature by AWS's documentation ("Signature Calculations for
 * the Authorization Header: Transferring Payload in a Single Chunk"). It shares no code with the signing side.
 */
export async function startSimulatedS3({ keyId = 'AKIATEST', secret = 'hidden', region = 'us-east-1' } = {}) {
  const objects = new Map<string, { bytes: Buffer; type: string }>();
  const faults: string[] = [];
  /** The status of every reply; undefined: as it should be. */
  const state: { status: number | undefined; clock: () => Date } = { status: undefined, clock: () => new Date() };
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      const refuse = (status: number, code: string): void => {
        faults.push(code);
        response.writeHead(status, { 'content-type': 'application/xml' });
        response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>hidden detail</Message></Error>`);
      };
      if (state.status !== undefined) return refuse(state.status, 'InternalError');
      const fault = findFault(request, body);
      if (fault !== undefined) return refuse(403, fault);
      const path = request.url!;
      const found = objects.get(path);
      switch (request.method) {
        case 'PUT':
          objects.set(path, { bytes: body, type: String(request.headers['content-type']) });
          return response.end();
        case 'GET':
          if (!found) return refuse(404, 'NoSuchKey');
          return response.setHeader('content-type', found.type).end(found.bytes);
        case 'DELETE':
          objects.delete(path);
          return response.writeHead(204).end();
        default:
          return refuse(405, 'MethodNotAllowed');
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  function findFault(request: IncomingMessage, body: Buffer): string | undefined {
    const { authorization = '', 'x-amz-date': time = '', 'x-amz-content-sha256': digest } = request.headers;
    const pattern =
      /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/;
    const [, id, day, place, names, signature] = pattern.exec(authorization) ?? [];
    if (signature === undefined || names === undefined) return 'AccessDenied';
    if (id !== keyId) return 'InvalidAccessKeyId';
    if (place !== region || !String(time).startsWith(day!)) return 'AuthorizationHeaderMalformed';
    const instant = Date.parse(String(time).replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
    if (!(Math.abs(instant - state.clock().getTime()) <= 15 * 60_000)) return 'RequestTimeTooSkewed';
    const signed = names.split(';');
    // All x-amz headers that were sent must be signed, and the host.
    const due = Object.keys(request.headers).filter((name) => name.startsWith('x-amz-'));
    if (![...due, 'host'].every((name) => signed.includes(name)) || names !== [...signed].sort().join(';'))
      return 'AccessDenied';
    if (createHash('sha256').update(body).digest('hex') !== digest) return 'XAmzContentSHA256Mismatch';
    const [path, query = ''] = request.url!.split('?') as [string, string?];
    const lines = signed.map((name) => `${name}:${String(request.headers[name])}\n`).join('');
    const canonical = `${request.method}\n${path}\n${query}\n${lines}\n${names}\n${digest}`;
    const hashed = createHash('sha256').update(canonical).digest('hex');
    const text = `AWS4-HMAC-SHA256\n${String(time)}\n${day}/${region}/s3/aws4_request\n${hashed}`;
    const mac = (key: string | Buffer, data: string): Buffer => createHmac('sha256', key).update(data).digest();
    const expected = mac(mac(mac(mac(mac(`AWS4${secret}`, day!), region), 's3'), 'aws4_request'), text);
    return timingSafeEqual(expected, Buffer.from(signature, 'hex')) ? undefined : 'SignatureDoesNotMatch';
  }

  const { port } = server.address() as AddressInfo;
  return {
    bucketUrl: `http://127.0.0.1:${port}/bucket`,
    key: { keyId, secret, region },
    objects,
    faults,
    state,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
