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
