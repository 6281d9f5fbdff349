import type { AnswerListener, Http2Request } from '../../../../src/providers/http2/requests.ts';
import type { Http2Transport } from '../../../../src/providers/http2/transport.ts';
import type { Http2Target } from '../../../../src/providers/http2/open-socket.ts';
import { RequestHead } from '../../../../src/providers/http2/requests.ts';
import type { Answer } from '../../../../src/providers/provider.ts';

export type ByLane = { target: Http2Target; reads: AnswerListener['reads']; requests: Http2Request[] };

/**
 * Sends requests through a lane, from one object and one buffer that are overwritten as soon as `send` returns. Headers
 * named `x-number` are a request's own; requests whose others are equal share a head. Rejects when one is answered twice.
 */
export function sendByLane(transport: Http2Transport, { target, reads, requests }: ByLane): Promise<Answer[]> {
  return new Promise((resolve, reject) => {
    const answers: (Answer | undefined)[] = [];
    let answered = 0;
    let next = 0;
    const settle = (ticket: number, answer: Answer): void => {
      if (answers[ticket] !== undefined || ticket >= next) reject(new Error(`request ${ticket} was answered twice`));
      answers[ticket] = answer;
      answered += 1;
      if (answered === requests.length) resolve(answers as Answer[]);
    };
    const owner = {
      reads,
      onAccepted: (ticket: number, status: number) => settle(ticket, { kind: 'answer', status, headers: {}, body: '' }),
      onAnswer: settle,
      onSpace: sendMore,
      onUnreachable(failure: Answer) {
        const from = next;
        next = requests.length;
        for (let ticket = from; ticket < requests.length; ticket += 1) settle(ticket, failure);
      },
    };
    const heads = new Map<string, RequestHead>();
    const headOf = (headers: Record<string, string>): RequestHead => {
      const shared = Object.entries(headers).filter(([name]) => name !== 'x-number');
      const key = JSON.stringify(shared);
      if (!heads.has(key)) heads.set(key, new RequestHead(shared, ['x-number']));
      return heads.get(key)!;
    };
    const buffer = Buffer.alloc(Math.max(0, ...requests.map(({ body }) => body.length)));
    const outgoing = { head: new RequestHead([]), path: '', values: [''], body: buffer, ticket: 0, listener: owner };
    const lane = transport.openLane(target, owner);
    function sendMore(): void {
      for (; next < requests.length;) {
        const { path, headers, body } = requests[next]!;
        outgoing.head = headOf(headers);
        outgoing.path = path;
        outgoing.values[0] = headers['x-number']!;
        outgoing.body = buffer.subarray(0, body.copy(buffer));
        outgoing.ticket = next;
        next += 1;
        const isSent = lane.send(outgoing);
        buffer.fill('?');
        if (!isSent) {
          next -= 1;
          return;
        }
      }
    }
    sendMore();
  });
}
