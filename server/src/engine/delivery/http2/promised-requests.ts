import type { Answer } from '../provider.ts';
import type { AnswerListener, OutgoingRequest } from './answer-listener.ts';
import { RequestHead } from './request-head.ts';
import { RequestHeads } from './request-heads.ts';

export type Http2Request = { path: string; headers: Record<string, string>; body: Buffer };

/** A request whose answer is waited for by a promise. */
export type PromisedRequest = Http2Request & {
  tries: number;
  /** Milliseconds of the monotonic clock, until when it may wait for a stream. */
  waitsUntil: number;
  settle: (answer: Answer) => void;
};

const nothing = Buffer.alloc(0);

/** The requests of one pool that are in flight for promises, each under a number of its own. */
export class PromisedRequests {
  readonly #onAnswer: (request: PromisedRequest, answer: Answer) => void;
  readonly #open: (PromisedRequest | undefined)[] = [];
  readonly #freeTickets: number[] = [];
  readonly #heads = new RequestHeads();
  readonly #listener: AnswerListener = {
    reads: 'all',
    onAccepted: (ticket, status) => this.#end(ticket, { kind: 'answer', status, headers: {}, body: '' }),
    onAnswer: (ticket, answer) => this.#end(ticket, answer),
  };
  readonly #outgoing: OutgoingRequest = {
    head: new RequestHead([]),
    path: '',
    values: [],
    body: nothing,
    ticket: 0,
    listener: this.#listener,
  };

  constructor(onAnswer: (request: PromisedRequest, answer: Answer) => void) {
    this.#onAnswer = onAnswer;
  }

  /** As it is to be sent, until the next one is begun. @throws TypeError for what is no header */
  begin(request: PromisedRequest): OutgoingRequest {
    const outgoing = this.#outgoing;
    const values: string[] = [];
    outgoing.head = this.#heads.headOf(request.headers, values);
    outgoing.values = values;
    outgoing.path = request.path;
    outgoing.body = request.body;
    outgoing.ticket = this.#freeTickets.pop() ?? this.#open.length;
    this.#open[outgoing.ticket] = request;
    return outgoing;
  }

  #end(ticket: number, answer: Answer): void {
    const request = this.#open[ticket]!;
    this.#open[ticket] = undefined;
    this.#freeTickets.push(ticket);
    this.#onAnswer(request, answer);
  }
}
