import { randomBytes } from 'node:crypto';

/** What stands where a user's text will, and how it is written inside of JSON, inside of JSON within a text of JSON, and so on. */
export type TextMark = { text: string; ends: readonly [string, string]; written: readonly string[] };

// FCM's data is texts, some of which are JSON themselves, whose texts may be JSON of the caller's.
const maxDepth = 3;
// Short, as a marked message must not be too large for its provider; by chance such a text stands in none.
const endBytes = 5;

/**
 * A mark has whatever some writing changes: spaces at its ends, quotes, line breaks, tags, entities, percent signs, and letters
 * outside of ASCII. So where it is found as JSON writes it, any text will stand as JSON writes it, and where it was
 * changed otherwise, one of its ends is left.
 */
export function ownMarks(count: number): TextMark[] {
  return Array.from({ length: count }, () => {
    const [start, end] = [makeEnd(), makeEnd()] as const;
    const text = ` ${start}"\\/\n<b>&lt;%41 é😀${end} `;
    return {
      text,
      ends: [start, end],
      written: Array.from({ length: maxDepth }, (_, depth) => escapeText(text, depth)),
    };
  });
}

function makeEnd(): string {
  return randomBytes(endBytes).toString('hex');
}

/** A text as it stands between quotes in JSON; with `depth`, of JSON that is itself a text so many times. */
export function escapeText(text: string, depth: number): string {
  let written = text;
  for (let times = 0; times <= depth; times += 1) written = JSON.stringify(written).slice(1, -1);
  return written;
}

/** Whether something of a mark stands in what was cut at all of them. */
export function isLeft(piece: string | Buffer, marks: readonly TextMark[]): boolean {
  return marks.some(({ ends }) => ends.some((end) => piece.includes(end)));
}
