import { RequestHead } from './request-head.ts';
import type { Header } from './request-head.ts';

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
