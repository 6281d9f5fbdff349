import { createHash } from 'node:crypto';
import { Json, castOfKind, encodeValue, kindOf } from './values.ts';
import type { Parameter, Value, ValueKind } from './values.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- what a statement without a type answers, as the driver has it
export type Row = Record<string, any>;

/** The rows of an answer. `count` is how many a change reached, returned or not. */
export type Rows<Found extends readonly object[]> = Found & { readonly count: number };

/** Who sends the statements of one tag: the pool, a transaction, a session. */
export type Sender = {
  send(query: Query): Promise<Rows<Row[]>>;
  /** Where there is a transaction: rows in pages, through a cursor. */
  readPages(query: Query, pageRows: number): AsyncIterable<Row[]>;
  /** Where there is a connection to hold: `copy … from stdin`. @returns how many rows were stored */
  copyFrom(text: string, pieces: Pieces): Promise<number>;
  /** Where there is a transaction: `copy … to stdout`. */
  copyTo<Result>(text: string, read: ReadBytes<Result>): Promise<Result>;
};

/** Whoever takes the bytes of a COPY. */
export type ReadBytes<Result> = (bytes: AsyncIterable<Buffer>) => Promise<Result>;

export type Pieces = AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>;

/** A statement, or a part of one, whatever it answers. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a part answers nothing
export type Fragment = Statement<any>;

/** Text with parts between: a statement, or a part of one. */
export class Template {
  readonly strings: readonly string[];
  readonly parts: readonly StatementPart[];

  constructor(strings: readonly string[], parts: readonly StatementPart[]) {
    this.strings = strings;
    this.parts = parts;
  }
}

/**
 * A statement that has not been sent: it is when somebody waits for it, once. Until then it can be a part of another.
 */
export class Statement<Found extends readonly object[] = Row[]> extends Template implements Promise<Rows<Found>> {
  readonly [Symbol.toStringTag] = 'Statement';
  readonly #sender: Sender;
  #answer: Promise<Rows<Found>> | undefined;

  constructor(sender: Sender, strings: readonly string[], parts: readonly StatementPart[]) {
    super(strings, parts);
    this.#sender = sender;
  }

  then<Kept = Rows<Found>, Caught = never>(
    kept?: ((rows: Rows<Found>) => Kept | PromiseLike<Kept>) | null,
    // eslint-disable-next-line @typescript-eslint/no-explicit-any -- as Promise has it
    caught?: ((error: any) => Caught | PromiseLike<Caught>) | null,
  ): Promise<Kept | Caught> {
    this.#answer ??= this.#send();
    return this.#answer.then(kept, caught);
  }

  catch<Caught = never>(
    // eslint-disable-next-line @typescript-eslint/no-explicit-any -- as Promise has it
    caught?: ((error: any) => Caught | PromiseLike<Caught>) | null,
  ): Promise<Rows<Found> | Caught> {
    return this.then(undefined, caught);
  }

  finally(settled?: (() => void) | null): Promise<Rows<Found>> {
    return this.then().finally(settled);
  }

  /** The rows in pages: the next is read when this one has been taken. In a transaction only. */
  cursor(pageRows: number): AsyncIterable<Found> {
    return this.#sender.readPages(writeStatement(this), pageRows) as AsyncIterable<object> as AsyncIterable<Found>;
  }

  /** Sends pieces of text in PostgreSQL's format to this `copy … from stdin`, as fast as the server takes them. */
  copyFrom(pieces: Pieces): Promise<number> {
    return this.#sender.copyFrom(writeStatement(this).text, pieces);
  }

  /** Hands what this `copy … to stdout` writes, in PostgreSQL's text format, to `read`. In a transaction only. */
  copyTo<Result>(read: ReadBytes<Result>): Promise<Result> {
    return this.#sender.copyTo(writeStatement(this).text, read);
  }

  async #send(): Promise<Rows<Found>> {
    try {
      return (await this.#sender.send(writeStatement(this))) as object as Rows<Found>;
    } catch (error) {
      // The driver makes its errors where the socket is read; here the stack names who asked.
      if (error instanceof Error) Error.captureStackTrace(error);
      throw error;
    }
  }
}

/** Makes statements of one sender. */
export interface Tag {
  <Found extends readonly object[] = Row[]>(
    strings: TemplateStringsArray,
    ...parts: readonly StatementPart[]
  ): Statement<Found>;
  /** A table's or column's name, for where no parameter can stand. */
  (name: string): Identifier;
  (rows: Columns | readonly Columns[]): RowParts;
  json(value: unknown): Json;
  /** Statements given as text, several with `;` between them. What they are made of must have been checked. */
  unsafe(text: string): Statement;
}

export function makeTag(sender: Sender): Tag {
  function tag(first: TemplateStringsArray | string | Columns | readonly Columns[], ...parts: StatementPart[]) {
    if (typeof first === 'string') return new Identifier(first);
    if (isTemplate(first)) return new Statement(sender, first, parts);
    return new RowParts(isRows(first) ? first : [first]);
  }
  return Object.assign(tag, {
    json: (value: unknown) => new Json(value),
    unsafe: (text: string) => new Statement(sender, [text], []),
  }) as Tag;
}

const isTemplate = (first: object): first is TemplateStringsArray => 'raw' in first && Array.isArray(first.raw);
const isRows = (first: Columns | readonly Columns[]): first is readonly Columns[] => Array.isArray(first);

/** A statement as it is sent. Without a name it is parsed anew each time. */
export type Query = { text: string; parameters: Parameter[]; name: string | undefined };

/** Text that is sent as it is, never prepared. */
export function plainQuery(text: string): Query {
  return { text, parameters: [], name: undefined };
}

/** What may stand in a statement's text. */
export type StatementPart = Value | Template | readonly Template[] | Identifier | RowParts;

/** A name of a table or column, quoted. */
export class Identifier {
  readonly text: string;

  constructor(name: string) {
    this.text = quoteName(name);
  }
}

export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

export type Columns = Readonly<Record<string, Value>>;

/** After `insert into …` the columns and the values of rows; after `set` the assignments of one. */
export class RowParts {
  readonly rows: readonly Columns[];

  constructor(rows: readonly Columns[]) {
    this.rows = rows;
  }
}

type NamedText = { text: string; name: string };

/**
 * The texts of templates in which only values stand, by the template and the kinds of its values. A template is one
 * object for as long as its file is loaded, so each is written and named once.
 */
const writtenTexts = new WeakMap<readonly string[], Map<string, NamedText>>();

// What the protocol can count; a statement beyond it would be sent with another number.
const maxParameters = 65_535;

/**
 * Writes a statement with its parameters numbered. One whose text does not depend on what is put into it gets a name, so
 * that each connection parses and plans it once; of texts that are put together only those that recur do.
 *
 * @throws TypeError for a value that the database does not take
 */
export function writeStatement(statement: Template): Query {
  const { strings, parts } = statement;
  const parameters: Parameter[] = [];
  let kinds = '';
  for (const part of parts) {
    if (isWritten(part)) {
      const query = writeComposed(statement);
      return { ...query, name: nameRecurring(query.text) };
    }
    kinds += `${kindOf(part)} `;
    parameters.push(encodeValue(part));
  }
  const texts = writtenTexts.get(strings) ?? new Map<string, NamedText>();
  if (texts.size === 0) writtenTexts.set(strings, texts);
  let written = texts.get(kinds);
  if (!written) {
    const { text } = writeComposed(statement);
    written = { text, name: nameOf(text) };
    texts.set(kinds, written);
  }
  // Text given as such (`unsafe`) may hold several statements, which cannot be parsed as one.
  return { text: written.text, parameters, name: 'raw' in strings ? written.name : undefined };
}

// A connection keeps every named statement until it is closed: of texts that are put together no more than these.
const maxComposedNames = 200;
const namedFromTime = 3;
const composedNames = new Map<string, string>();
const timesSeen = new Map<string, number>();

/** Parsing sixty-four rows of an insert takes longer than storing them, and batches of one size come again and again. */
function nameRecurring(text: string): string | undefined {
  const name = composedNames.get(text);
  if (name !== undefined || composedNames.size >= maxComposedNames) return name;
  const times = (timesSeen.get(text) ?? 0) + 1;
  if (times < namedFromTime) {
    // What came once or twice long ago is forgotten with the rest.
    if (timesSeen.size >= 1_000) timesSeen.clear();
    timesSeen.set(text, times);
    return undefined;
  }
  timesSeen.delete(text);
  composedNames.set(text, nameOf(text));
  return composedNames.get(text);
}

function nameOf(text: string): string {
  return `c${createHash('sha256').update(text).digest('base64url').slice(0, 24)}`;
}

type WrittenPart = Exclude<StatementPart, Value>;

/** Whether a part is written into the text instead of being sent as a parameter. */
function isWritten(part: StatementPart): part is WrittenPart {
  if (typeof part !== 'object' || part === null) return false;
  if (Array.isArray(part)) return part[0] instanceof Template;
  return part instanceof Template || part instanceof Identifier || part instanceof RowParts;
}

function writeComposed(statement: Template): Query {
  const parameters: Parameter[] = [];
  const text = writeParts(statement, parameters);
  if (parameters.length > maxParameters) throw new RangeError(`${parameters.length} parameters in one statement`);
  return { text, parameters, name: undefined };
}

function writeParts({ strings, parts }: Template, parameters: Parameter[]): string {
  let text = strings[0]!;
  for (const [index, part] of parts.entries()) {
    text += isWritten(part) ? writePart(part, { before: text, parameters }) : writeValue(part, parameters);
    text += strings[index + 1]!;
  }
  return text;
}

function writePart(part: WrittenPart, { before, parameters }: { before: string; parameters: Parameter[] }): string {
  if (part instanceof Template) return writeParts(part, parameters);
  if (part instanceof Identifier) return part.text;
  if (part instanceof RowParts) return writeRows(part, { before, parameters });
  return part.map((fragment) => writeParts(fragment, parameters)).join(' ');
}

function writeValue(value: Value, parameters: Parameter[]): string {
  const kind: ValueKind = kindOf(value);
  return `$${parameters.push(encodeValue(value))}${castOfKind[kind]}`;
}

function writeRows({ rows }: RowParts, { before, parameters }: { before: string; parameters: Parameter[] }): string {
  const [first] = rows;
  if (!first) throw new RangeError('no rows to write');
  const columns = Object.keys(first);
  if (/\sset\s+$/i.test(before))
    return columns.map((column) => `${quoteName(column)} = ${writeValue(first[column]!, parameters)}`).join(', ');
  const values = rows.map((row) => `(${columns.map((column) => writeValue(row[column]!, parameters)).join(',')})`);
  return `(${columns.map(quoteName).join(',')}) values ${values.join(',')}`;
}
