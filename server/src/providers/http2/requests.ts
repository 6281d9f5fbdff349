import type { Answer } from '../provider.ts';

export type Header = readonly [name: string, value: string];

/** Index and lengths of one header take no more (RFC 7541 §5.1). */
export const headerOverheadBytes = 12;

/**
 * What many requests have in common, made once: headers with their values, and the names of those whose values each
 * request brings. The values of the first kind are kept in the table of each connection (RFC 7541 §2.3.2), so that all of
 * them together cost a few bytes a request; of the second kind nothing is kept.
 */
export class RequestHead {
  readonly headers: readonly Header[];
  readonly names: readonly string[];
  /** No header block of this head is longer without its path and its own values. */
  readonly maxBytes: number;

  /** @throws TypeError for what is no header */
  constructor(headers: readonly Header[], names: readonly string[] = []) {
    for (const [name, value] of headers) {
      assertName(name);
      assertValue(name, value);
    }
    for (const name of names) assertName(name);
    this.headers = headers;
    this.names = names;
    this.maxBytes =
      headers.reduce((sum, [name, value]) => sum + name.length + value.length + headerOverheadBytes, 0) +
      names.reduce((sum, name) => sum + name.length + headerOverheadBytes, 0);
  }
}

/**
 * A line break in a value would be a header of its own behind a translating proxy (RFC 9113 §8.2.1, fault 3.12 check
 * 41).
 */
export function assertValue(name: string, value: string): void {
  if (/[^\t\x20-\x7e\x80-\xff]/.test(value) || /^[\t ]|[\t ]$/.test(value))
    throw new TypeError(`not a value of header ${name}`);
}

/** The headers of one request as an object. @throws TypeError for what is no value, or no path */
export function toHeaders({ head, path, values }: { head: RequestHead; path: string; values: readonly string[] }) {
  assertValue(':path', path);
  const headers: Record<string, string> = Object.fromEntries(head.headers);
  for (const [number, name] of head.names.entries()) {
    assertValue(name, values[number]!);
    headers[name] = values[number]!;
  }
  return headers;
}

/** A token of RFC 9110 §5.6.2 in lower case; what begins with a colon is HTTP/2's own (RFC 9113 §8.2.1, §8.3). */
function assertName(name: string): void {
  if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name)) throw new TypeError(`not the name of a header: ${name}`);
}

/** What does not differ from one message to the next is sent once a connection, then as one byte (RFC 7541 §6.2.1). */
const repeated = new Set([
  'authorization',
  'content-type',
  'content-encoding',
  'ttl',
  'urgency',
  'user-agent',
  'apns-topic',
  'apns-push-type',
  'apns-priority',
]);

/** Finds the head of one request after another: nearly always that of the last one. */
export class RequestHeads {
  #head = new RequestHead([]);

  /** `values` is empty, and gets what is a request's own. @throws TypeError for what is no header */
  headOf(headers: Record<string, string>, values: string[]): RequestHead {
    if (!fits(this.#head, headers, values)) this.#head = makeHead(headers);
    return this.#head;
  }
}

/** Whether the headers are those of the head, in their order. Collects the values that are a request's own. */
function fits(head: RequestHead, headers: Record<string, string>, values: string[]): boolean {
  let fitting = true;
  let shared = 0;
  for (const name in headers) {
    const value = headers[name]!;
    if (repeated.has(name)) {
      const header = head.headers[shared];
      if (header?.[0] !== name || header[1] !== value) fitting = false;
      shared += 1;
    } else {
      if (head.names[values.length] !== name) fitting = false;
      values.push(value);
    }
  }
  return fitting && shared === head.headers.length && values.length === head.names.length;
}

function makeHead(headers: Record<string, string>): RequestHead {
  const shared: Header[] = [];
  const names: string[] = [];
  for (const name in headers) {
    if (repeated.has(name)) shared.push([name, headers[name]!]);
    else names.push(name);
  }
  return new RequestHead(shared, names);
}

/** Who is told how requests ended: each exactly once, after it was sent, by the number that it was sent with. */
export type AnswerListener = {
  /**
   * `failures`: of a 2xx only its status is read; its headers are passed over and its body is dropped. `bodies`: of a 2xx
   * the headers are passed over. `all`: every answer is read.
   */
  readonly reads: 'failures' | 'bodies' | 'all';
  /** A 2xx of which no more is read. Called with `reads: 'failures'` only. */
  onAccepted(ticket: number, status: number): void;
  /** Any other answer, or why there is none. */
  onAnswer(ticket: number, answer: Answer): void;
};

/**
 * One request. The sender reads all of it before it returns, the bytes of the body included, so one object and one buffer
 * can be filled again for the next.
 */
export type OutgoingRequest = {
  head: RequestHead;
  path: string;
  /** Of `head.names`, in their order. */
  values: readonly string[];
  body: Uint8Array;
  /** Told to the listener with the answer; from 0 to 2³² − 1. */
  ticket: number;
  listener: AnswerListener;
};

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
