import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { IncomingHttpHeaders, OutgoingHttpHeaders, RequestListener } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createGzip,
  createZstdCompress,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { makeOutgoingClient } from '../../../src/outgoing/client.ts';
import type { OutgoingClient, OutgoingClientOptions } from '../../../src/outgoing/client.ts';
import { DownloadFailedError } from '../../../src/engine/segment-fill/content-codings.ts';
import { decideRedirect, downloadFile } from '../../../src/engine/segment-fill/download-file.ts';
import type { FileToDownload } from '../../../src/engine/segment-fill/download-file.ts';
import { isFull } from '../../full-test.ts';

const mebibyte = 1024 * 1024;
const lines = Buffer.from(Array.from({ length: 20_000 }, (_, line) => `user-${line}\n`).join(''));

function makeClient(options: Partial<OutgoingClientOptions> = {}): OutgoingClient {
  const client = makeOutgoingClient({ allowedNetworks: ['127.0.0.0/8'], ...options });
  onTestFinished(() => client.close());
  return client;
}

/** Serves on loopback until the test ends; gives the address and the paths that were asked for. */
async function serve(answer: RequestListener, host = '127.0.0.1') {
  const asked: string[] = [];
  const headersSeen: IncomingHttpHeaders[] = [];
  const server = createHttpServer((request, response) => {
    asked.push(request.url!);
    headersSeen.push(request.headers);
    response.on('error', () => {});
    answer(request, response);
  });
  server.listen(0, host);
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://${host}:${(server.address() as AddressInfo).port}`, asked, headersSeen };
}

/** Answers every path with one body. */
const serveBody = (body: Buffer, headers: OutgoingHttpHeaders = {}) =>
  serve((_request, response) => void response.writeHead(200, headers).end(body));

async function read(client: OutgoingClient, file: FileToDownload): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of downloadFile(client, file)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Reads without keeping; the failure, and how much came before it. */
async function fail(client: OutgoingClient, file: FileToDownload) {
  let bytes = 0;
  try {
    for await (const chunk of downloadFile(client, file)) bytes += chunk.length;
  } catch (error) {
    if (!(error instanceof DownloadFailedError)) throw error;
    return { kind: error.kind, isRepeatable: error.isRepeatable, detail: error.detail, bytes };
  }
  throw new Error(`nothing failed, ${bytes} bytes came`);
}

const onePiece = Buffer.alloc(mebibyte);

function* zeros(bytes: number): Generator<Buffer> {
  for (let left = bytes; left > 0; left -= onePiece.length) yield onePiece.subarray(0, Math.min(left, onePiece.length));
}

/** What 200 MB of zeros become, made without ever holding them. */
async function packZeros(encoder: Writable & NodeJS.ReadableStream): Promise<Buffer> {
  const packed: Buffer[] = [];
  const collect = new Writable({
    write(chunk: Buffer, _encoding, done) {
      packed.push(chunk);
      done();
    },
  });
  await pipeline(Readable.from(zeros(200 * mebibyte)), encoder as never, collect);
  return Buffer.concat(packed);
}

describe('the decoding of a file', () => {
  test.each<[string, (plain: Buffer) => Buffer]>([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['GZIP', gzipSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['deflate', (plain) => deflateSync(plain, { windowBits: 9 })],
    ...['identity', 'aws-chunked', 'AWS-Chunked', 'UTF-8', 'utf8', 'none', 'binary', '8bit', ', ,'].map(
      (token): [string, (plain: Buffer) => Buffer] => [token, (plain) => plain],
    ),
    // In the order in which they were applied (RFC 9110 §8.4); AWS lists its framing first.
    ['aws-chunked,gzip', gzipSync],
    ['gzip, utf-8', gzipSync],
    ['deflate, gzip', (plain) => gzipSync(deflateRawSync(plain))],
    ['gzip, aws-chunked, br', (plain) => brotliCompressSync(gzipSync(plain))],
    ['gzip, gzip, gzip', (plain) => gzipSync(gzipSync(gzipSync(plain)))],
  ])('restores a file in %s', async (encoding, encode) => {
    const { url, headersSeen } = await serveBody(encode(lines), { 'content-encoding': encoding });
    expect(await read(makeClient(), { url })).toEqual(lines);
    expect(headersSeen[0]).toMatchObject({ 'accept-encoding': 'gzip, br, zstd, deflate' });
  });

  test('restores a file in several gzip members', async () => {
    const members = Buffer.concat([gzipSync(lines.subarray(0, 1_000)), gzipSync(lines.subarray(1_000))]);
    const { url } = await serveBody(members, { 'content-encoding': 'gzip' });
    expect(await read(makeClient(), { url })).toEqual(lines);
  });

  test('accepts an empty file', async () => {
    const { url } = await serveBody(Buffer.alloc(0));
    expect(await read(makeClient(), { url })).toHaveLength(0);
  });

  test.each([
    ['compress', 'the content encoding compress is not supported'],
    ['gzip, aes128gcm', 'the content encoding aes128gcm is not supported'],
    ['constructor', 'the content encoding constructor is not supported'],
    ['<b>"x"', 'the content encoding ?b??x? is not supported'],
    ['x'.repeat(90), `the content encoding ${'x'.repeat(40)}… is not supported`],
    ['gzip, gzip, gzip, gzip', 'the file has more than 3 content encodings'],
  ])('rejects content encoding %s by its name', async (encoding, detail) => {
    const { url } = await serveBody(gzipSync(lines), { 'content-encoding': encoding });
    const refusal = { kind: 'encoding', isRepeatable: false, bytes: 0, detail };
    expect(await fail(makeClient(), { url })).toMatchObject(refusal);
  });

  test('limits the data between two codings like the file', async () => {
    // A gzip header may carry a name of any length: the inner decoder gives nothing, however much it gets.
    const inner = Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3]), Buffer.alloc(mebibyte, 'x')]);
    const { url } = await serveBody(gzipSync(inner), { 'content-encoding': 'gzip, gzip' });
    expect(await fail(makeClient(), { url, maxBytes: mebibyte })).toMatchObject({ kind: 'too-large', bytes: 0 });
  });

  test('rejects an announced length above the limit if the tokens are not codings', async () => {
    const { url } = await serve((_request, response) =>
      response.writeHead(200, { 'content-encoding': 'aws-chunked', 'content-length': mebibyte + 1 }).flushHeaders(),
    );
    expect(await fail(makeClient(), { url, maxBytes: mebibyte })).toMatchObject({ kind: 'too-large', bytes: 0 });
  });

  describe('the framing of an upload that a store kept in the file', () => {
    const signature = (size: number) => `${size.toString(16)};chunk-signature=${'0a'.repeat(32)}\r\n`;
    const trailer = 'x-amz-checksum-crc32:sOO8/Q==\r\n\r\n';
    const framed = {
      kind: 'encoding',
      isRepeatable: false,
      detail: 'the file still has the aws-chunked frames of its upload',
    };

    test.each([
      ['signed', `${signature(12)}user\nuser-2\n\r\n${signature(0)}\r\n`],
      ['unsigned', `c\r\nuser\nuser-2\n\r\n0\r\n${trailer}`],
    ])('is rejected: %s', async (_kind, body) => {
      for (const size of [1, body.length]) {
        const { url } = await serve((_request, response) => {
          response.writeHead(200, { 'content-encoding': 'aws-chunked' });
          for (let at = 0; at < body.length; at += size) response.write(body.slice(at, at + size));
          response.end();
        });
        expect(await fail(makeClient(), { url })).toMatchObject(framed);
      }
    });

    test('is not checked without its token', async () => {
      const body = `c\r\nuser\nuser-2\n\r\n0\r\n${trailer}`;
      const { url } = await serveBody(Buffer.from(body));
      expect(String(await read(makeClient(), { url }))).toBe(body);
    });

    test('is not mistaken for a file of numbers', async () => {
      const body = 'id\r\n10\r\n0\r\n\r\n';
      const { url } = await serveBody(Buffer.from(body), { 'content-encoding': 'aws-chunked' });
      expect(String(await read(makeClient(), { url }))).toBe(body);
    });
  });

  test.each([
    // A second zstd frame would belong to the stream (RFC 8878 §3.1).
    ['zstd', zstdCompressSync, () => Buffer.from('user-1\n')],
    ['br', brotliCompressSync, brotliCompressSync],
    ['deflate', deflateSync, deflateSync],
    ['deflate', deflateRawSync, deflateRawSync],
  ])('reports %s data after the end of the stream, instead of losing it', async (encoding, encode, encodeRest) => {
    const [first, second] = [encode(lines), encodeRest(lines)];
    const { url } = await serve((_request, response) => {
      response.writeHead(200, { 'content-encoding': encoding });
      response.write(first, () => response.end(second));
    });
    expect(await fail(makeClient(), { url })).toMatchObject({ kind: 'encoding', isRepeatable: false });
  });

  test('rejects zstd with a window that would exhaust the memory', async () => {
    // A frame of one piece says its size; only a stream has to name its window.
    const packed = await packZeros(createZstdCompress({ params: { [constants.ZSTD_c_windowLog]: 27 } }));
    const { url } = await serveBody(packed, { 'content-encoding': 'zstd' });
    expect(await fail(makeClient(), { url })).toMatchObject({ kind: 'encoding', isRepeatable: false, bytes: 0 });
  });
});

describe('an incomplete file', () => {
  test.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
  ])('is truncated if %s ends too early, or is something else', async (encoding, encode) => {
    const whole = encode(lines);
    for (const part of [whole.subarray(0, -1), whole.subarray(0, whole.length / 2), lines]) {
      const { url } = await serveBody(part, { 'content-encoding': encoding });
      expect(await fail(makeClient(), { url })).toMatchObject({ kind: 'truncated', isRepeatable: true });
    }
  });

  test('is truncated if it is shorter than its content length, encoded or not', async () => {
    const { url } = await serve((request, response) => {
      const headers = request.url === '/gzip' ? { 'content-encoding': 'gzip' } : {};
      const body = request.url === '/gzip' ? gzipSync(lines) : lines;
      response.writeHead(200, { 'content-length': body.length + 1, ...headers });
      response.write(body, () => response.destroy());
    });
    expect(await fail(makeClient(), { url })).toMatchObject({ kind: 'truncated', isRepeatable: true });
    expect(await fail(makeClient(), { url: `${url}/gzip` })).toMatchObject({ kind: 'truncated', isRepeatable: true });
  });

  test('is truncated without its last chunk', async () => {
    const { url } = await serve((_request, response) => {
      response.writeHead(200);
      response.write(lines, () => response.destroy());
    });
    expect(await fail(makeClient(), { url })).toMatchObject({ kind: 'truncated', isRepeatable: true });
  });

  test('is stalled by silence within the file, or instead of a response', async () => {
    const { url } = await serve((request, response) => {
      if (request.url === '/none') return;
      if (request.url === '/gzip') response.writeHead(200, { 'content-encoding': 'gzip' });
      response.write(request.url === '/gzip' ? gzipSync(lines).subarray(0, -100) : lines);
    });
    const client = makeClient({ silenceMilliseconds: 60 });
    const failures = await Promise.all(['/none', '/gzip', '/plain'].map((path) => fail(client, { url: url + path })));
    for (const failure of failures) expect(failure).toMatchObject({ kind: 'stalled', isRepeatable: true });
    expect(failures.map(({ bytes }) => bytes > 0)).toEqual([false, true, true]);
  });

  test('is not stalled by a slow consumer', async () => {
    const whole = 8 * mebibyte;
    const { url } = await serve((request, response) => {
      if (request.url === '/silent') return void response.write('x');
      Readable.from(zeros(whole)).pipe(response);
    });
    const client = makeClient({ silenceMilliseconds: 60 });
    const file = downloadFile(client, { url });
    let bytes = (await file.next()).value!.length;
    // Begun later and ended by the limit, so the first has been left alone for longer than the limit.
    await fail(client, { url: `${url}/silent` });
    for await (const chunk of file) bytes += chunk.length;
    expect(bytes).toBe(whole);
  });
});

describe('a slow file', () => {
  /** A byte at a time, for as long as somebody listens. */
  const trickle = (headers: OutgoingHttpHeaders = {}) =>
    serve((_request, response) => {
      response.writeHead(200, headers);
      const send = (): void => void (response.destroyed || response.write('x', () => setImmediate(send)));
      send();
    });
  /** A clock on which a piece takes 29 seconds to come: less than the silence that is allowed. */
  const makeSlowClock = () => {
    let milliseconds = 0;
    return () => (milliseconds += 14_500);
  };

  test('ends after a minute at a byte every 29 seconds, with a detail for the callback', async () => {
    const { url } = await trickle();
    const failure = await fail(makeClient(), { url, readMilliseconds: makeSlowClock() });
    expect(failure).toMatchObject({ kind: 'too-slow', isRepeatable: true });
    expect(failure.detail).toBe('the file comes slower than 4096 bytes a second');
    expect(failure.bytes).toBeLessThan(60);
  });

  test('ends, too, if its encoded bytes trickle', async () => {
    // The names of a gzip header may be of any length, so a decoder has nothing to complain of.
    const { url } = await serve((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).write(Buffer.from([0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3]));
      const send = (): void => void (response.destroyed || response.write('x', () => setImmediate(send)));
      send();
    });
    const failure = await fail(makeClient(), { url, readMilliseconds: makeSlowClock() });
    expect(failure).toMatchObject({ kind: 'too-slow', detail: 'the file comes slower than 4096 bytes a second' });
  });

  test('does not end if only the consumer is slow', async () => {
    const { url } = await serveBody(lines);
    let milliseconds = 0;
    let bytes = 0;
    // Time passes only while the consumer has the piece.
    for await (const chunk of downloadFile(makeClient(), { url, readMilliseconds: () => milliseconds })) {
      bytes += chunk.length;
      milliseconds += 3_600_000;
    }
    expect(bytes).toBe(lines.length);
  });

  test('ends as stalled if its headers trickle', async () => {
    const server = createTcpServer((socket) => {
      socket.on('error', () => {});
      socket.write('HTTP/1.1 200 OK\r\nx: ');
      const timer = setInterval(() => socket.write('x'), 10);
      socket.on('close', () => clearInterval(timer));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    expect(await fail(makeClient({ silenceMilliseconds: 100 }), { url })).toMatchObject({
      kind: 'stalled',
      detail: 'no answer in time',
    });
  });
});

describe('the size limit', () => {
  const limit = 150 * mebibyte;

  test('allows exactly 150 MiB, and not one byte more', async () => {
    const { url } = await serve((request, response) => {
      Readable.from(zeros(Number(request.url!.slice(1)))).pipe(response);
    });
    let bytes = 0;
    for await (const chunk of downloadFile(makeClient(), { url: `${url}/${limit}` })) bytes += chunk.length;
    expect(bytes).toBe(limit);
    const failure = await fail(makeClient(), { url: `${url}/${limit + 1}` });
    expect(failure).toMatchObject({ kind: 'too-large', isRepeatable: false });
    expect(failure.bytes).toBeLessThanOrEqual(limit);
  });

  test('rejects an announced length above it before the first byte, unless the file is encoded', async () => {
    const packed = gzipSync(lines.subarray(0, 100), { level: 0 });
    const { url } = await serve((request, response) => {
      const headers = { 'content-encoding': 'gzip', 'content-length': packed.length };
      if (request.url === '/gzip') response.writeHead(200, headers).end(packed);
      // The body never comes: waiting for it would be a stall.
      else response.writeHead(200, { 'content-length': Number(request.url!.slice(1)) }).flushHeaders();
    });
    expect(await fail(makeClient(), { url: `${url}/${limit + 1}` })).toMatchObject({ kind: 'too-large', bytes: 0 });
    expect(packed.length).toBeGreaterThan(100);
    expect(await read(makeClient(), { url: `${url}/gzip`, maxBytes: 100 })).toHaveLength(100);
    expect(await fail(makeClient(), { url: `${url}/gzip`, maxBytes: 99 })).toMatchObject({ kind: 'too-large' });
  });

  const bombs: [string, () => Parameters<typeof packZeros>[0]][] = [
    ['gzip', () => createGzip({ level: 1 })],
    ['br', () => createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
    ['zstd', () => createZstdCompress()],
  ];
  test.each(isFull ? bombs : bombs.slice(0, 1))(
    'stops 200 MiB of zeros in %s, with flat memory',
    async (encoding, makeEncoder) => {
      const packed = await packZeros(makeEncoder());
      expect(packed.length).toBeLessThan(mebibyte);
      const { url } = await serveBody(packed, { 'content-encoding': encoding });
      const before = process.memoryUsage().rss;
      let most = 0;
      let bytes = 0;
      const reading = async () => {
        for await (const chunk of downloadFile(makeClient(), { url })) {
          bytes += chunk.length;
          most = Math.max(most, process.memoryUsage().rss);
        }
      };
      await expect(reading()).rejects.toMatchObject({ kind: 'too-large', isRepeatable: false });
      expect(bytes).toBeGreaterThan(limit - mebibyte);
      expect(bytes).toBeLessThanOrEqual(limit);
      // Some 10 MB were measured.
      expect((most - before) / mebibyte).toBeLessThan(50);
    },
  );

  test('is not needed by a consumer that stops early: the connection ends, and no more was read than needed', async () => {
    for (const encoding of ['identity', 'gzip']) {
      let sent = 0;
      const closed = Promise.withResolvers<void>();
      const { url } = await serve((_request, response) => {
        response.writeHead(200, { 'content-encoding': encoding }).on('close', () => closed.resolve());
        // Stored, not compressed: what is sent is what is decoded.
        const member = encoding === 'gzip' ? gzipSync(onePiece, { level: 0 }) : onePiece;
        const send = () => {
          do sent += member.length;
          while (response.write(member));
        };
        response.on('drain', send);
        send();
      });
      for await (const _chunk of downloadFile(makeClient(), { url })) break;
      await closed.promise;
      expect(sent).toBeLessThan(32 * mebibyte);
    }
  });
});

describe('a response that is not a file', () => {
  const accepted = [
    ...['text/csv', 'Text/CSV; charset=utf-8; header=present', 'application/csv', 'application/vnd.ms-excel'],
    ...['text/plain', 'application/octet-stream', 'binary/octet-stream', ''],
  ];
  test.each(accepted)('is not assumed for content type "%s"', async (type) => {
    const { url } = await serveBody(lines, type === '' ? {} : { 'content-type': type });
    expect(await read(makeClient(), { url })).toEqual(lines);
  });

  test.each(['text/html; charset=utf-8', 'application/json', 'application/zip', 'text/csvx', 'image/png'])(
    'is rejected with content type %s',
    async (type) => {
      const { url } = await serveBody(Buffer.from('<!doctype html>'), { 'content-type': type });
      const failure = await fail(makeClient(), { url });
      expect(failure).toMatchObject({ kind: 'content-type', isRepeatable: false, bytes: 0 });
      expect(failure.detail).toContain(type.split(';')[0]);
    },
  );

  test.each([201, 204, 206, 300, 304, 400, 401, 403, 404, 410, 429, 500, 503])(
    'fails with status %d, and may be retried',
    async (status) => {
      const { url } = await serve((_request, response) => void response.writeHead(status).end());
      expect(await fail(makeClient(), { url })).toMatchObject({
        kind: 'status',
        isRepeatable: true,
        detail: `the answer was ${status}`,
      });
    },
  );

  test('is not read further: its connection ends', async () => {
    const closed: Promise<unknown>[] = [];
    const { url } = await serve((request, response) => {
      closed.push(once(response, 'close'));
      const [, status, type] = request.url!.split('/');
      response.writeHead(Number(status), { 'content-type': `text/${type}`, location: '/404/csv' }).write('a body');
    });
    for (const path of ['/404/csv', '/200/html', '/302/csv']) await fail(makeClient(), { url: url + path });
    expect(closed).toHaveLength(4);
    await Promise.all(closed);
  });

  test('is reported as unreachable without the address, for a closed port, a dropped connection and an unresolved name', async () => {
    const dropping = createTcpServer((socket) => socket.on('error', () => {}).destroy()).listen(0, '127.0.0.1');
    await once(dropping, 'listening');
    onTestFinished(() => void dropping.close());
    const port = (dropping.address() as AddressInfo).port;
    const resolver = async (host: string) => {
      if (host === 'none.example') throw Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' });
      return [{ address: '127.0.0.1' }];
    };
    // Port 1 needs a privilege that nothing on a test machine uses.
    for (const place of [`a.example:1`, `a.example:${port}`, 'none.example']) {
      const failure = await fail(makeClient({ resolver }), { url: `http://${place}/` });
      expect(failure).toMatchObject({ kind: 'unreachable', isRepeatable: true });
      expect(failure.detail).not.toContain('127.0.0.1');
    }
  });

  test('ends with the reason of the signal', async () => {
    const { url } = await serve((_request, response) => void response.write('one piece'));
    const stop = new AbortController();
    const gone = new Error('the process ends');
    const file = downloadFile(makeClient(), { url, signal: stop.signal });
    await file.next();
    const next = file.next();
    stop.abort(gone);
    await expect(next).rejects.toBe(gone);
  });
});

describe('a redirect', () => {
  test.each([301, 302, 303, 307, 308])(
    'is followed with status %d, relative or absolute, without headers',
    async (status) => {
      const target = await serve((_request, response) => void response.end('here'));
      const first = await serve((request, response) => {
        const location = request.url === '/a/b' ? '../c' : `${target.url}/d`;
        response.writeHead(status, { location, 'set-cookie': 'session=1' }).end('elsewhere');
      });
      expect(String(await read(makeClient(), { url: `${first.url}/a/b` }))).toBe('here');
      expect(first.asked).toEqual(['/a/b', '/c']);
      expect(target.asked).toEqual(['/d']);
      expect(Object.keys(target.headersSeen[0]!).sort()).toEqual([
        'accept-encoding',
        'connection',
        'host',
        'user-agent',
      ]);
    },
  );

  test('is followed five times, but not a sixth time or in a loop', async () => {
    const { url, asked } = await serve((request, response) => {
      const left = Number(request.url!.slice(1));
      if (left === 0) return void response.end('here');
      response.writeHead(302, { location: `/${left === 99 ? 99 : left - 1}` }).end();
    });
    expect(String(await read(makeClient(), { url: `${url}/5` }))).toBe('here');
    const tooMany = { kind: 'redirects', isRepeatable: false };
    expect(await fail(makeClient(), { url: `${url}/6` })).toMatchObject(tooMany);
    asked.length = 0;
    expect(await fail(makeClient(), { url: `${url}/99` })).toMatchObject(tooMany);
    expect(asked).toHaveLength(6);
  });

  test('is rejected without a connection if it leads outside the allowed networks', async () => {
    const hidden = await serve((_request, response) => void response.end('secret'), '127.0.0.2');
    const hiddenPort = new URL(hidden.url).port;
    for (const location of [
      hidden.url,
      `http://hidden.example:${hiddenPort}/`,
      `http://2130706434:${hiddenPort}/`,
      'http://169.254.169.254/latest/meta-data/',
      'http://[::1]/',
      'file:///etc/passwd',
      'http://user:password@127.0.0.1/',
      'http://[',
    ]) {
      const { url } = await serve((_request, response) => void response.writeHead(302, { location }).end());
      const client = makeClient({
        allowedNetworks: ['127.0.0.1/32'],
        resolver: async () => [{ address: '127.0.0.2' }],
      });
      // The first host is written as an address, so the resolver above is asked for names only.
      const failure = await fail(client, { url });
      expect(failure).toMatchObject({ kind: 'refused', isRepeatable: false });
      expect(failure.detail).not.toMatch(/\d{1,3}\.\d/);
    }
    expect(hidden.asked).toEqual([]);
  });

  test('is rejected without a location', async () => {
    const { url } = await serve((_request, response) => void response.writeHead(302).end());
    expect(await fail(makeClient(), { url })).toMatchObject({ kind: 'refused', isRepeatable: false });
  });

  test('never leaves encryption, and may begin it', () => {
    const secure = new URL('https://files.example/a');
    const plain = new URL('http://files.example/a');
    expect(decideRedirect(secure, 'http://files.example/b')).toMatchObject({ allowed: false });
    expect(decideRedirect(secure, 'ftp://files.example/b')).toMatchObject({ allowed: false });
    expect(decideRedirect(secure, '//other.example/b')).toEqual({ allowed: true, url: 'https://other.example/b' });
    expect(decideRedirect(secure, 'b')).toEqual({ allowed: true, url: 'https://files.example/b' });
    expect(decideRedirect(plain, 'https://files.example/b')).toEqual({ allowed: true, url: 'https://files.example/b' });
    expect(decideRedirect(plain, ['/a', '/b'])).toMatchObject({ allowed: false });
  });
});
