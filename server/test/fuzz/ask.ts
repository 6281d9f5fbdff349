import { request as sendRequest } from 'node:http';
import type { Agent } from 'node:http';
import { connect } from 'node:net';
import type { FuzzAnswer } from './judge-answer.ts';
import type { FuzzRequest } from './make-request.ts';
import type { Wire } from './make-wire.ts';

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
