import type { Answer } from '../provider.ts';

export type Header = readonly [name: string, value: string];

/** Maximum bytes for the index and lengths of one header (RFC 7541 §5.1). */
export const headerOverheadBytes = 12;

/**
 * The part that many requests share, made once: headers with their values, and names of headers for which each request has its
 * own values. The shared values are stored in the table of each connection (RFC 7541 §2.3.2), so that together they cost a few
 * bytes per request. Own values are not stored.
 */
export class RequestHead {
  readonly headers: readonly Header[];
  readonly names: readonly string[];
  /** Maximum length of a header block with this head, without its path and its own values. */
  readonly maxBytes: number;

  /** @throws TypeError for an invalid header */
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
 * Rejects invalid values. A line break in a value would become a separate header behind a translating proxy (RFC 9113 §8.2.1,
 * fault 3.12 check 41).
 */
export function assertValue(name: string, value: string): void {
  if (/[^\t\x20-\x7e\x80-\xff]/.test(value) || /^[\t ]|[\t ]$/.test(value))
    throw new TypeError(`not a value of header ${name}`);
}

/** Returns the headers of one request as an object. @throws TypeError for an invalid value or path */
export function toHeaders({ head, path, values }: { head: RequestHead; path: string; values: readonly string[] }) {
  assertValue(':path', path);
  const headers: Record<string, string> = Object.fromEntries(head.headers);
  for (const [number, name] of head.names.entries()) {
    assertValue(name, values[number]!);
    headers[name] = values[number]!;
  }
  return headers;
}

/** Requires a token of RFC 9110 §5.6.2 in lower case; names with a leading colon belong to HTTP/2 (RFC 9113 §8.2.1, §8.3). */
function assertName(name: string): void {
  if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name)) throw new TypeError(`not the name of a header: ${name}`);
}

/** Headers that do not differ between messages. They are sent once per connection, then as one byte (RFC 7541 §6.2.1). */
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

/** Finds the head of each request: nearly always that of the last one. */
export class RequestHeads {
  #head = new RequestHead([]);

  /** `values` must be empty and receives the request's own values. @throws TypeError for an invalid header */
  headOf(headers: Record<string, string>, values: string[]): RequestHead {
    if (!fits(this.#head, headers, values)) this.#head = makeHead(headers);
    return this.#head;
  }
}

/** True if the headers are those of the head, in the same order. Collects the request's own values. */
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

/** Receives how requests ended: each exactly once, after it was sent, by its ticket. */
export type AnswerListener = {
  /**
   * `failures`: only the status of a 2xx is read; its headers are skipped and its body is dropped. `bodies`: the headers of a
   * 2xx are skipped. `all`: every response is read.
   */
  readonly reads: 'failures' | 'bodies' | 'all';
  /** Reports a 2xx of which no more is read. Called only with `reads: 'failures'`. */
  onAccepted(ticket: number, status: number): void;
  /** Reports any other response, or why there is none. */
  onAnswer(ticket: number, answer: Answer): void;
};

/**
 * One request. The sender reads all of it before it returns, including the bytes of the body, so one object and one buffer can
 * be reused for the next.
 */
export type OutgoingRequest = {
  head: RequestHead;
  path: string;
  /** Values of `head.names`, in the same order. */
  values: readonly string[];
  body: Uint8Array;
  /** Passed to the listener with the answer; from 0 to 2³² − 1. */
  ticket: number;
  listener: AnswerListener;
};

export type Http2Request = { path: string; headers: Record<string, string>; body: Buffer };

/** A request that settles a promise with its answer. */
export type PromisedRequest = Http2Request & {
  tries: number;
  /** How long it may wait for a stream, as milliseconds of the monotonic clock. */
  waitsUntil: number;
  settle: (answer: Answer) => void;
};

const nothing = Buffer.alloc(0);

/** The requests of one pool that are in flight for promises, each with its own ticket. */
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

  /** Returns the request as it is sent, valid until the next call. @throws TypeError for an invalid header */
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
