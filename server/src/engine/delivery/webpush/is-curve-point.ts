// P-256 (SEC 2 §2.4.2): y² = x³ − 3x + b over the field of `prime`.
const prime = 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn;
const b = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn;

/**
 * Whether 65 bytes are an uncompressed point of P-256, which a browser's key is. Every point of the curve but the one that
 * has no such form is of the right order, so nothing more is to be checked (RFC 8291 §7).
 */
export function isCurvePoint(bytes: Buffer): boolean {
  if (bytes.length !== 65 || bytes[0] !== 4) return false;
  const x = BigInt(`0x${bytes.toString('hex', 1, 33)}`);
  const y = BigInt(`0x${bytes.toString('hex', 33, 65)}`);
  return x < prime && y < prime && (y * y - (x * x - 3n) * x - b) % prime === 0n;
}
