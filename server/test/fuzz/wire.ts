import { request as sendRequest } from 'node:http';
import type { Agent } from 'node:http';
import { connect } from 'node:net';
import type { FuzzAnswer } from './answers.ts';
import type { Choices } from './choices.ts';
import type { FuzzRequest } from './requests.ts';

/** Bytes, and whether they stop early: then the sender says that nothing more comes. */
export type Wire = { bytes: Buffer; isCutOff: boolean };

type Told = Pick<FuzzRequest, 'method' | 'path' | 'headers' | 'body'>;

/**
 * The request as bytes that no client library would write (RFC 9112): framing that says two things, lines that end oddly,
 * targets of every form, a body that stops early. Whatever comes, there is an answer, and it is HTTP.
 */
export function makeWire(told: Told, { pick }: Choices): Wire {
  const body = Buffer.from(told.body ?? '');
  const lines = ['Host: a', 'Connection: close', ...headerLines(told)];
  const head = (start: string, more: string[] = []): Buffer =>
    Buffer.from(`${[start, ...lines, ...more].join('\r\n')}\r\n\r\n`, 'latin1');
  const start = `${told.method} ${told.path} HTTP/1.1`;
  const length = `Content-Length: ${body.length}`;
  const chunked = 'Transfer-Encoding: chunked';
  const withHeader = (line: string) => (): Buffer => Buffer.concat([head(start, [length, line]), body]);
  const withTarget = (target: string) => (): Buffer =>
    Buffer.concat([head(`${told.method} ${target} HTTP/1.1`, [length]), body]);
  const withStart = (line: string) => (): Buffer => Buffer.concat([head(line, [length]), body]);
  const cutOff: (() => Buffer)[] = [
    () => Buffer.concat([head(start, [`Content-Length: ${body.length + 5}`]), body]),
    () => head(start, ['Content-Length: 1000000000']),
    () => Buffer.concat([head(start, [chunked]), Buffer.from('fffffff\r\n{}\r\n')]),
    () => Buffer.concat([head(start, [chunked]), inChunks(body, 100).subarray(0, -5)]),
    () => head(start).subarray(0, -3),
    () => Buffer.from(told.method),
  ];
  const whole: (() => Buffer)[] = [
    ...[...headers, `X-A: ${'a'.repeat(17_000)}`, ...repeated(lines)].map(withHeader),
    ...[...targets, `http://other.example${told.path}`, `/.${told.path}`, `/${told.path}`, `${told.path}#a`].map(
      withTarget,
    ),
    ...[
      `${told.method} ${told.path}`,
      `${told.method}  ${told.path}  HTTP/1.1`,
      `${told.method} ${told.path} HTTP/1.0`,
    ].map(withStart),
    ...[
      `${told.method} ${told.path} HTTP/3.0`,
      `${told.method} ${told.path} http/1.1`,
      `\t${start}`,
      'nonsense',
      '',
    ].map(withStart),
    // One body, a byte a chunk; chunks of no size; extensions and trailers.
    () => Buffer.concat([head(start, [chunked]), inChunks(body.subarray(0, 2_000), 1)]),
    () => Buffer.concat([head(start, [chunked]), inChunks(body, 1_000), Buffer.from('X-Trailer: a\r\n\r\n')]),
    () => Buffer.concat([head(start, [chunked]), Buffer.from('zz\r\n{}\r\n0\r\n\r\n')]),
    () => Buffer.concat([head(start, [chunked]), Buffer.from(`2;a=${'b'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`)]),
    () => Buffer.concat([head(start, [chunked, length]), body]),
    () => Buffer.concat([head(start, ['Transfer-Encoding: gzip, chunked']), inChunks(body, 100)]),
    () => Buffer.concat([head(start, ['Transfer-Encoding: chunked, identity']), body]),
    // Two lengths; one that is too long, too short, negative, beyond any number.
    () => Buffer.concat([head(start, [length, 'Content-Length: 1']), body]),
    () => Buffer.concat([head(start, ['Content-Length: 1']), body, Buffer.from('more')]),
    ...['-1', '1e3', '99999999999999999999', 'a'].map((size) => () => head(start, [`Content-Length: ${size}`])),
    // Lines that end in LF alone, or in CR; a line that goes on in the next.
    () => Buffer.from(head(start, [length]).toString('latin1').replaceAll('\r\n', '\n'), 'latin1'),
    () => Buffer.from(head(start, [length]).toString('latin1').replaceAll('\r\n', '\r'), 'latin1'),
    () => Buffer.concat([head(start, ['X-A: a\r\n b', length]), body]),
    // Bytes of other protocols.
    () => Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc]),
    () => Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    () => Buffer.from('\0'.repeat(200)),
  ];
  const make = pick([...whole, ...cutOff]);
  return { bytes: make(), isCutOff: cutOff.includes(make) };
}

const headers = [
  ...['X-A', 'X-A : a', ': a', 'X A: a', 'X-A: a\0b', 'X-A: a\rb', 'X-\xff: a', 'X-A: \xff\xfe', 'X-A: a\x01b'],
  ...['Expect: 100-continue', 'Expect: something', 'Upgrade: websocket', 'Upgrade: h2c', 'Content-Encoding: gzip'],
  ...['Host: b', 'Host: ', 'Connection: keep-alive, close, upgrade', 'Content-Type: ', 'Cookie: ;;=;a'],
  ...['Range: bytes=9-1'],
  Array.from({ length: 1_000 }, (_, index) => `X-${index}: a`).join('\r\n'),
];
const targets = [
  '*',
  '',
  '//',
  'a',
  'a:80',
  '/a b',
  '/\xff',
  '/\x01',
  '/../../etc/passwd',
  'http://',
  `/${'a'.repeat(17_000)}`,
];

/** Authorization and such twice. */
const repeated = (lines: string[]): string[] => lines.slice(2, 6);

function headerLines({ headers: told }: Told): string[] {
  return Object.entries(told)
    .filter(([name]) => !/^(host|connection|__proto__)$/.test(name))
    .flatMap(([name, value]) => [value].flat().map((one) => `${name}: ${one}`));
}

function inChunks(body: Buffer, size: number): Buffer {
  const chunks: Buffer[] = [];
  for (let at = 0; at < body.length; at += size) {
    const piece = body.subarray(at, at + size);
    chunks.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'));
  }
  return Buffer.concat([...chunks, Buffer.from('0\r\n\r\n')]);
}

const maxAnswerMilliseconds = 40_000;
type Place = { url: string; agent: Agent };

/** Sends it and reads the whole answer. A connection that ends without one, or hangs, is no answer: status 599. */
export function ask(place: Place, request: FuzzRequest): Promise<FuzzAnswer> {
  return request.wire === undefined ? askAsClient(place, request) : exchange(place, request.wire);
}

function askAsClient({ url, agent }: Place, { method, path, headers, body }: FuzzRequest): Promise<FuzzAnswer> {
  return new Promise((resolve) => {
    const fail = (error: Error): void => resolve(noAnswer(error.message));
    // For GET and DELETE the client would send the bytes of a body without saying how many: they would be the next request.
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const options = { agent, method, path, headers: { ...headers, ...length }, timeout: maxAnswerMilliseconds };
    const sent = sendRequest(`${url}/`, options, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (piece) => (text += piece));
      answer.on('error', fail).on('end', () => {
        resolve({ status: answer.statusCode!, headers: answer.headers, text });
      });
    });
    sent.on('timeout', () => sent.destroy(new Error('no answer within 40 s'))).on('error', fail);
    sent.end(body);
  });
}

const noAnswer = (text: string): FuzzAnswer => ({ status: 599, headers: {}, text });

/** Writes bytes as they are and reads until the other side ends; who half closes a whole request is taken to be gone. */
function exchange({ url }: Place, { bytes, isCutOff }: Wire): Promise<FuzzAnswer> {
  return new Promise((resolve) => {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port) }, () =>
      isCutOff ? socket.end(bytes) : socket.write(bytes),
    );
    let text = '';
    // An answer may come before the server has read all, which then resets the connection: what was read counts.
    const end = (reason: string): void => resolve(readAnswer(text) ?? noAnswer(`${reason}: ${text.slice(0, 200)}`));
    socket.setEncoding('utf8').on('data', (piece) => (text += piece));
    socket.setTimeout(maxAnswerMilliseconds, () => socket.destroy(new Error('no answer within 40 s')));
    socket.on('error', (error) => end(error.message)).on('close', () => end('closed'));
  });
}

/** The first answer that is no `100 Continue`; undefined when there is none. */
function readAnswer(text: string): FuzzAnswer | undefined {
  const [head = '', ...rest] = text.replace(/^HTTP\/1\.1 100[^]*?\r\n\r\n/, '').split('\r\n\r\n');
  const [start = '', ...lines] = head.split('\r\n');
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(`${start} `)?.[1];
  if (status === undefined) return undefined;
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  const body = rest.join('\r\n\r\n');
  const { 'content-length': length } = headers;
  return { status: Number(status), headers, text: length === undefined ? body : cut(body, Number(length)) };
}

/** Another answer may follow. */
const cut = (text: string, bytes: number): string => Buffer.from(text).subarray(0, bytes).toString();
