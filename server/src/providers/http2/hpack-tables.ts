/** RFC 7541 Appendix A: index 1 … 61, pairs of name and value. */
export const staticTable: readonly (readonly [name: string, value: string])[] = [
  [':authority', ''],
  [':method', 'GET'],
  [':method', 'POST'],
  [':path', '/'],
  [':path', '/index.html'],
  [':scheme', 'http'],
  [':scheme', 'https'],
  [':status', '200'],
  [':status', '204'],
  [':status', '206'],
  [':status', '304'],
  [':status', '400'],
  [':status', '404'],
  [':status', '500'],
  ['accept-charset', ''],
  ['accept-encoding', 'gzip, deflate'],
  ['accept-language', ''],
  ['accept-ranges', ''],
  ['accept', ''],
  ['access-control-allow-origin', ''],
  ['age', ''],
  ['allow', ''],
  ['authorization', ''],
  ['cache-control', ''],
  ['content-disposition', ''],
  ['content-encoding', ''],
  ['content-language', ''],
  ['content-length', ''],
  ['content-location', ''],
  ['content-range', ''],
  ['content-type', ''],
  ['cookie', ''],
  ['date', ''],
  ['etag', ''],
  ['expect', ''],
  ['expires', ''],
  ['from', ''],
  ['host', ''],
  ['if-match', ''],
  ['if-modified-since', ''],
  ['if-none-match', ''],
  ['if-range', ''],
  ['if-unmodified-since', ''],
  ['last-modified', ''],
  ['link', ''],
  ['location', ''],
  ['max-forwards', ''],
  ['proxy-authenticate', ''],
  ['proxy-authorization', ''],
  ['range', ''],
  ['referer', ''],
  ['refresh', ''],
  ['retry-after', ''],
  ['server', ''],
  ['set-cookie', ''],
  ['strict-transport-security', ''],
  ['transfer-encoding', ''],
  ['user-agent', ''],
  ['vary', ''],
  ['via', ''],
  ['www-authenticate', ''],
];

/**
 * Code lengths of RFC 7541 Appendix B, symbol 0 … 255 and the end of string. The code is canonical: shorter codes first, equal
 * lengths by symbol, so the lengths define it completely.
 */
const codeLengths = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28,
  28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
  13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6,
  5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23,
  22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22,
  23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26,
  20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27,
  27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27,
  27, 27, 27, 26, 30,
];

const endOfString = 256;

// Each step reads four bits. No code is shorter than five bits, so a step completes at most one symbol. An entry holds the node
// that is reached and, in the bits above it, the completed symbol plus one.
const stepBits = 4;
const nodeBits = 9;
const nodeMask = (1 << nodeBits) - 1;
const noStep = -1;

/**
 * Decodes a Huffman-coded text (RFC 7541 §5.2).
 *
 * @throws HpackError
 */
export function decodeHuffman(bytes: Buffer, from: number, to: number): string {
  // The shortest code has five bits.
  const symbols = Buffer.allocUnsafe(Math.ceil(((to - from) * 8) / 5));
  let count = 0;
  let node = 0;
  for (let place = from; place < to; place += 1) {
    for (let shift = stepBits; shift >= 0; shift -= stepBits) {
      const step = steps[(node << stepBits) | ((bytes[place]! >>> shift) & 0xf)]!;
      if (step === noStep) throw new HpackError('an end of string within a text');
      node = step & nodeMask;
      if (step > nodeMask) symbols[count++] = (step >>> nodeBits) - 1;
    }
  }
  // The rest of the last byte must be ones, at most seven.
  if (isPadding[node] !== 1) throw new HpackError('a text padded wrongly');
  return symbols.toString('latin1', 0, count);
}

/** True if a text can be decoded. */
export function isHuffmanText(bytes: Buffer, from: number, to: number): boolean {
  let node = 0;
  for (let place = from; place < to; place += 1) {
    const byte = bytes[place]!;
    const high = steps[(node << stepBits) | (byte >>> stepBits)]!;
    if (high === noStep) return false;
    const low = steps[((high & nodeMask) << stepBits) | (byte & 0xf)]!;
    if (low === noStep) return false;
    node = low & nodeMask;
  }
  return isPadding[node] === 1;
}

/** Returns the code as a tree of number pairs: 0 or more is the next node, a negative number the symbol `-1 - n`. */
function makeTree(): number[] {
  const order = codeLengths.map((length, symbol) => ({ length, symbol }));
  order.sort((one, other) => one.length - other.length || one.symbol - other.symbol);
  const tree = [0, 0];
  let code = 0;
  let lengthBefore = 0;
  for (const { length, symbol } of order) {
    code *= 2 ** (length - lengthBefore);
    lengthBefore = length;
    addCode(tree, { code, length, symbol });
    code += 1;
  }
  return tree;
}

function addCode(tree: number[], { code, length, symbol }: { code: number; length: number; symbol: number }): void {
  let node = 0;
  for (let bit = length - 1; bit > 0; bit -= 1) {
    const place = 2 * node + ((code >>> bit) & 1);
    if (tree[place] === 0) {
      tree[place] = tree.length / 2;
      tree.push(0, 0);
    }
    node = tree[place]!;
  }
  tree[2 * node + (code & 1)] = -1 - symbol;
}

function makeSteps(tree: number[]): Int32Array {
  return Int32Array.from({ length: (tree.length / 2) << stepBits }, (_, entry) => {
    let node = entry >>> stepBits;
    let symbol = noStep;
    for (let bit = stepBits - 1; bit >= 0; bit -= 1) {
      const next = tree[2 * node + ((entry >>> bit) & 1)]!;
      if (next < 0) symbol = -1 - next;
      node = Math.max(0, next);
    }
    return symbol === endOfString ? noStep : node | ((symbol + 1) << nodeBits);
  });
}

/** Marks the nodes that up to seven ones lead to. */
function makePadding(tree: number[]): Uint8Array {
  const padding = new Uint8Array(tree.length / 2);
  for (let bits = 0, node = 0; bits <= 7; bits += 1, node = tree[2 * node + 1]!) padding[node] = 1;
  return padding;
}

const tree = makeTree();
const steps = makeSteps(tree);
const isPadding = makePadding(tree);

/** Reports a header block that cannot be decoded, which breaks the whole connection (RFC 9113 §4.3). */
export class HpackError extends Error {
  override readonly name = 'HpackError';
}
