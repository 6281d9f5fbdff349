/** The part of a file that the console examines before it sends the file. */
export type TableHead = {
  encoding: 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';
  delimiter: string;
  /** The first rows, including a header if there is one. */
  rows: string[][];
  columns: number;
};

export class NoTableError extends Error {
  override readonly name = 'NoTableError';
}

const headBytes = 256 * 1024;
const delimiters = [',', ';', '\t', '|'];

/** Reads the beginning of a file. @throws NoTableError if the file is not text */
export async function readTableHead(file: Blob): Promise<TableHead> {
  const bytes = new Uint8Array(await file.slice(0, headBytes).arrayBuffer());
  if (bytes[0] === 0x50 && bytes[1] === 0x4b)
    throw new NoTableError('This is a spreadsheet or an archive. Save it as CSV and choose that file.');
  const encoding = encodingOf(bytes, file.size);
  const text = new TextDecoder(encoding).decode(bytes);
  if (text.includes('\u0000')) throw new NoTableError('This is not a text file.');
  const delimiter = delimiterOf(text);
  const reader = new CsvRows(delimiter);
  const rows = reader.push(text);
  // The last row may be cut.
  if (file.size <= headBytes) rows.push(...reader.end());
  if (rows.length === 0) throw new NoTableError('The file is empty.');
  return { encoding, delimiter, rows, columns: Math.max(...rows.slice(0, 1_000).map((row) => row.length)) };
}

/** Decodes UTF-8, or the encoding of older spreadsheets. */
function encodingOf(bytes: Uint8Array, size: number): TableHead['encoding'] {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  try {
    // The last character may be cut.
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: size > bytes.length });
    return 'utf-8';
  } catch {
    return 'windows-1252';
  }
}

/** Chooses the delimiter that splits the first lines into the same number of cells, the most cells first. */
function delimiterOf(text: string): string {
  const lines = text.split(/\r\n|\r|\n/, 20).filter((line) => line !== '');
  const scores = delimiters.map((delimiter) => {
    const counts = lines.map((line) => line.split(delimiter).length - 1);
    const fewest = Math.min(...counts);
    return { delimiter, score: fewest * 10 + (fewest > 0 && counts.every((count) => count === fewest) ? 5 : 0) };
  });
  return scores.reduce((best, one) => (one.score > best.score ? one : best)).delimiter;
}

export type Extraction = {
  file: Blob;
  head: Pick<TableHead, 'encoding' | 'delimiter'>;
  column: number;
  hasHeader: boolean;
  onProgress: (share: number) => void;
};

/** Values to look up after the file was processed. */
export const maxRemembered = 100_000;

/**
 * Converts one column to a file of one value per line, trimmed. Empty values keep their line, except at the end. Reads
 * the file once, in pieces.
 */
export async function extractColumn({ file, head, column, hasHeader, onProgress }: Extraction) {
  const pieces: string[] = [];
  const remembered: string[] = [];
  const reader = new CsvRows(head.delimiter);
  const decoder = new TextDecoder(head.encoding);
  let lines = 0;
  let empty = 0;
  let isHeader = hasHeader;
  let readBytes = 0;
  const take = (rows: string[][]) => {
    const values: string[] = [];
    for (const row of rows) {
      if (isHeader) {
        isHeader = false;
        continue;
      }
      // A line break inside a value would make two values of it.
      const value = (row[column] ?? '').replaceAll(/[\r\n]+/g, ' ').trim();
      if (value === '') {
        empty += 1;
        continue;
      }
      for (; empty > 0; empty -= 1) {
        values.push('');
        lines += 1;
      }
      values.push(value);
      lines += 1;
      if (remembered.length < maxRemembered) remembered.push(value);
    }
    if (values.length > 0) pieces.push(`${values.join('\n')}\n`);
  };
  for await (const bytes of file.stream() as unknown as AsyncIterable<Uint8Array>) {
    take(reader.push(decoder.decode(bytes, { stream: true })));
    readBytes += bytes.length;
    onProgress(readBytes / file.size);
  }
  take([...reader.push(decoder.decode()), ...reader.end()]);
  return { values: new Blob(pieces, { type: 'text/csv' }), lines, remembered };
}

/**
 * Parses rows of CSV (RFC 4180) from pieces of text. Quotes may contain delimiters and line breaks; CR, LF and CRLF end
 * a row.
 */
export class CsvRows {
  readonly #delimiter: string;
  #row: string[] = [];
  #cell = '';
  #isQuoted = false;
  /** A quote within quotes: a doubled one is a character, a single one ends the value. */
  #sawQuote = false;
  #sawReturn = false;
  #isBegun = false;

  constructor(delimiter: string) {
    this.#delimiter = delimiter;
  }

  push(text: string): string[][] {
    // Skips plain text at once, which is ten times as fast as testing each character.
    if (!this.#isQuoted && !this.#sawQuote && !text.includes('"')) return this.#pushPlain(text);
    const rows: string[][] = [];
    for (const character of text) {
      if (this.#sawReturn) {
        this.#sawReturn = false;
        if (character === '\n') continue;
      }
      if (this.#sawQuote) {
        this.#sawQuote = false;
        if (character === '"') {
          this.#cell += '"';
          continue;
        }
        this.#isQuoted = false;
      }
      if (this.#isQuoted) {
        if (character === '"') this.#sawQuote = true;
        else this.#cell += character;
      } else if (character === '"' && this.#cell === '') {
        this.#isQuoted = true;
        this.#isBegun = true;
      } else if (character === this.#delimiter) {
        this.#endCell();
        this.#isBegun = true;
      } else if (character === '\n' || character === '\r') {
        this.#sawReturn = character === '\r';
        rows.push(this.#endRow());
      } else {
        this.#cell += character;
        this.#isBegun = true;
      }
    }
    return rows;
  }

  /** Returns the last row if no line break ends it. */
  end(): string[][] {
    return this.#isBegun || this.#row.length > 0 ? [this.#endRow()] : [];
  }

  #pushPlain(text: string): string[][] {
    const plain = this.#sawReturn && text.startsWith('\n') ? text.slice(1) : text;
    this.#sawReturn = text === '' ? this.#sawReturn : plain.endsWith('\r');
    const lines = plain.split(/\r\n|\r|\n/);
    const rest = lines.pop()!;
    const rows = lines.map((line) => {
      this.#addCells(line);
      return this.#endRow();
    });
    this.#addCells(rest);
    return rows;
  }

  #addCells(line: string): void {
    if (line === '') return;
    const [first, ...others] = line.split(this.#delimiter);
    this.#cell += first!;
    for (const cell of others) {
      this.#endCell();
      this.#cell = cell;
    }
    this.#isBegun = true;
  }

  #endCell(): void {
    this.#row.push(this.#cell);
    this.#cell = '';
  }

  #endRow(): string[] {
    this.#endCell();
    const row = this.#row;
    this.#row = [];
    this.#isQuoted = false;
    this.#sawQuote = false;
    this.#isBegun = false;
    return row;
  }
}
