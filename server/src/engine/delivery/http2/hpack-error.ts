/** A header block that cannot be read: the whole connection is broken (RFC 9113 §4.3). */
export class HpackError extends Error {
  override readonly name = 'HpackError';
}
