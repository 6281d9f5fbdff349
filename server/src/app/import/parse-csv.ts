const quote = 0x22;

/**
 * The cells of one CSV record (RFC 4180): split at commas, quoted where they hold commas, quotes or line ends, `""` for a
 * quote.
 *
 * @returns undefined while a quoted cell has not ended
 */
export function parseCsvRecord(text: string): string[] | undefined {
  if (!text.includes('"')) return text.split(',');
  const cells: string[] = [];
  let index = 0;
  for (;;) {
    if (text.charCodeAt(index) === quote) {
      const end = endOfQuoted(text, index + 1);
      if (end === -1) return undefined;
      const stop = nextComma(text, end + 1);
      cells.push(text.slice(index + 1, end).replaceAll('""', '"') + text.slice(end + 1, stop));
      index = stop;
    } else {
      const stop = nextComma(text, index);
      cells.push(text.slice(index, stop));
      index = stop;
    }
    if (index >= text.length) return cells;
    index += 1;
    if (index === text.length) return [...cells, ''];
  }
}

function endOfQuoted(text: string, from: number): number {
  for (let index = text.indexOf('"', from); index !== -1; index = text.indexOf('"', index + 2))
    if (text.charCodeAt(index + 1) !== quote) return index;
  return -1;
}

function nextComma(text: string, from: number): number {
  const index = text.indexOf(',', from);
  return index === -1 ? text.length : index;
}
