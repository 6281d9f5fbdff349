import { canonicalNumber } from '../users/identifier.ts';
import { maxFileValueBytes } from './limits.ts';

/** Why a line was skipped; the words a person reads in the report. */
export const rejectReasons = {
  empty: 'the line is empty',
  long: `the value is longer than ${maxFileValueBytes} bytes`,
  comma: 'the value contains a comma',
  quote: 'the value contains a quote',
  hash: 'the value contains #',
  control: 'the value contains a control character',
  encoding: 'the value is not UTF-8',
  number: 'the value is not a number',
  repeated: 'the value repeats an earlier line',
} as const;

export type RejectReason = keyof typeof rejectReasons;

/**
 * The stored form of a number in a file, or undefined if the text is not a number: 7, 7.0 and 7e0 are one value
 * (decision D24). Hexadecimal, blanks and words for infinity are not numbers.
 */
export function parseFileNumber(text: string): string | undefined {
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? canonicalNumber(value) : undefined;
}

/** Why a whole file cannot be one column of values, judged by its first bytes; undefined when it can. */
export function fileFault(head: Uint8Array): string | undefined {
  const [first, second, third, fourth] = head;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return 'it is UTF-16, not UTF-8';
  if (first === 0x50 && second === 0x4b && third === 0x03 && fourth === 0x04) return 'it is a ZIP archive';
  if (first === 0x1f && second === 0x8b) return 'it is compressed, and the server did not say so';
  // UTF-16 without its mark: every other byte of Western text is NUL.
  const zeros = head.reduce((count, byte) => count + (byte === 0 ? 1 : 0), 0);
  if (head.length >= 4 && zeros * 3 >= head.length) return 'it is not UTF-8 text';
  const start = new TextDecoder('utf-8').decode(head).trimStart().toLowerCase();
  if (start.startsWith('<!doctype') || start.startsWith('<html')) return 'it is an HTML page';
  return undefined;
}
