import type { AnswerListener } from '../../../../src/providers/http2/requests.ts';
import { makeClientConnection } from '../../../../src/providers/http2/http2-session.ts';
import { RequestHead } from '../../../../src/providers/http2/requests.ts';
import type { Answer } from '../../../../src/providers/provider.ts';
import { flags, frame, settings, statusField, types } from './hostile-http2-server.ts';

export type SentFrame = { type: number; flags: number; stream: number; payload: Buffer };

const prefaceBytes = 24;

/** A connection without a socket: the test is its peer, gives it frames and reads what it writes. */
export function openConnection({ greeting = settings() }: { greeting?: Buffer | undefined } = {}) {
  let written: Buffer[] = [];
  const told: [ticket: number, answer: Answer | number][] = [];
  const events = { ready: 0, space: 0, timedOut: 0, broken: [] as Error[] };
  const connection = makeClientConnection({
    pseudo: [
      [':method', 'POST'],
      [':scheme', 'https'],
      [':authority', 'push.example'],
    ],
    write(bytes, onWritten) {
      written.push(Buffer.from(bytes));
      onWritten();
    },
    onReady: () => (events.ready += 1),
    onSpace: () => (events.space += 1),
    onTimedOut: () => (events.timedOut += 1),
    onBroken: (error) => events.broken.push(error),
  });
  const listen = (reads: AnswerListener['reads']): AnswerListener => ({
    reads,
    onAccepted: (ticket, status) => told.push([ticket, status]),
    onAnswer: (ticket, answer) => told.push([ticket, answer]),
  });
  const head = new RequestHead([['apns-topic', 'com.shop']], ['apns-id']);
  let tickets = 0;
  let isPrefaceRead = false;
  if (greeting.length > 0) connection.receive(greeting);

  return {
    connection,
    events,
    /** How requests ended: the status alone, or an answer. */
    told,
    request({
      reads = 'all' as AnswerListener['reads'],
      bodyBytes = 2,
      deadline = 1_000,
      path = '/3/device/x',
      id = 'a',
    } = {}) {
      const body = Buffer.alloc(bodyBytes, 'x');
      const ticket = (tickets += 1);
      return connection.request({ head, path, values: [id], body, ticket, listener: listen(reads) }, deadline);
    },
    receive(...frames: Buffer[]) {
      connection.receive(Buffer.concat(frames));
    },
    /** Frames since the last time; the client's greeting is left out of them. */
    async sent(): Promise<SentFrame[]> {
      await new Promise((resolve) => setImmediate(resolve));
      let bytes = Buffer.concat(written);
      written = [];
      if (!isPrefaceRead && bytes.length >= prefaceBytes) {
        isPrefaceRead = true;
        bytes = bytes.subarray(prefaceBytes);
      }
      const frames: SentFrame[] = [];
      for (let place = 0; place < bytes.length;) {
        const end = place + 9 + bytes.readUIntBE(place, 3);
        frames.push({
          type: bytes[place + 3]!,
          flags: bytes[place + 4]!,
          stream: bytes.readUInt32BE(place + 5),
          payload: bytes.subarray(place + 9, end),
        });
        place = end;
      }
      return frames;
    },
    /** Bytes as they were written. */
    async bytes(): Promise<Buffer> {
      await new Promise((resolve) => setImmediate(resolve));
      return Buffer.concat(written);
    },
  };
}

export const headersFrame = (stream: number, fields: Buffer[], more = 0): Buffer =>
  frame(types.headers, { stream, flags: flags.endHeaders | more, payload: Buffer.concat(fields) });
export const dataFrame = (stream: number, payload: Buffer | string, more = 0): Buffer =>
  frame(types.data, { stream, flags: more, payload: Buffer.from(payload) });
export const statusFrame = (stream: number, status: number, more = 0): Buffer =>
  headersFrame(stream, [statusField(status)], more);
export const goawayOf = (frames: SentFrame[]): number | undefined =>
  frames.find(({ type }) => type === types.goaway)?.payload.readUInt32BE(4);
