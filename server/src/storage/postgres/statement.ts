import { createHash } from 'node:crypto';
import { Json, castOfKind, encodeValue, kindOf } from './values.ts';
import type { Parameter, Value, ValueKind } from './values.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- what a statement without a type answers, as the driver has it
export type Row = Record<string, any>;

/** The rows of a result. `count` is how many rows a change affected, returned or not. */
export type Rows<Found extends readonly object[]> = Found & { readonly count: number };

/** Sends the statements of one tag: the pool, a transaction or a session. */
export type Sender = {
  send(query: Query): Promise<Rows<Row[]>>;
  /** In a transaction: reads rows in pages, through a cursor. */
  readPages(query: Query, pageRows: number): AsyncIterable<Row[]>;
  /** In a transaction or session: `copy … from stdin`. @returns how many rows were stored */
  copyFrom(text: string, pieces: Pieces): Promise<number>;
  /** In a transaction: `copy … to stdout`. */
  copyTo<Result>(text: string, read: ReadBytes<Result>): Promise<Result>;
};

/** Reads the bytes of a COPY. */
export type ReadBytes<Result> = (bytes: AsyncIterable<Buffer>) => Promise<Result>;

export type Pieces = AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>;

/** A statement, or a part of one, with any result. */
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

/** A statement that has not been sent: it is sent once, when a caller awaits it. Until then it can be a part of another. */
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

  /** Reads the rows in pages: the next page is read when the caller has processed this one. In a transaction only. */
  cursor(pageRows: number): AsyncIterable<Found> {
    return this.#sender.readPages(writeStatement(this), pageRows) as AsyncIterable<object> as AsyncIterable<Found>;
  }

  /** Sends pieces of text in PostgreSQL's format to this `copy … from stdin`, as fast as the server reads them. */
  copyFrom(pieces: Pieces): Promise<number> {
    return this.#sender.copyFrom(writeStatement(this).text, pieces);
  }

  /** Passes the output of this `copy … to stdout`, in PostgreSQL's text format, to `read`. In a transaction only. */
  copyTo<Result>(read: ReadBytes<Result>): Promise<Result> {
    return this.#sender.copyTo(writeStatement(this).text, read);
  }

  async #send(): Promise<Rows<Found>> {
    try {
      return (await this.#sender.send(writeStatement(this))) as object as Rows<Found>;
    } catch (error) {
      // The driver creates its errors where the socket is read; here the stack shows the caller.
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
  /** A table's or column's name, for places that accept no parameter. */
  (name: string): Identifier;
  (rows: Columns | readonly Columns[]): RowParts;
  json(value: unknown): Json;
  /** Statements given as text, several with `;` between them. The caller must have checked everything in it. */
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

/** A statement as it is sent. Without a name it is parsed each time. */
export type Query = { text: string; parameters: Parameter[]; name: string | undefined };

/** Text that is sent as it is, never prepared. */
export function plainQuery(text: string): Query {
  return { text, parameters: [], name: undefined };
}

/** Everything that a statement's text can contain. */
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
 * The texts of templates that contain only values, by the template and the kinds of its values. A template is one
 * object for as long as its file is loaded, so each is written and named once.
 */
const writtenTexts = new WeakMap<readonly string[], Map<string, NamedText>>();

// The protocol's limit; with more, the statement would be sent with a wrong count.
const maxParameters = 65_535;

/**
 * Writes a statement with its parameters numbered. A statement gets a name if its text does not depend on its values,
 * so that each connection parses and plans it once; a composed text gets one only if it recurs.
 *
 * @throws TypeError for a value that the database does not accept
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
  // Raw text (`unsafe`) may contain several statements, which cannot be parsed as one.
  return { text: written.text, parameters, name: 'raw' in strings ? written.name : undefined };
}

// The maximum number of named composed texts: a connection keeps every named statement until it is closed.
const maxComposedNames = 200;
const namedFromTime = 3;
const composedNames = new Map<string, string>();
const timesSeen = new Map<string, number>();

/** Parsing sixty-four rows of an insert takes longer than storing them, and batches of one size recur. */
function nameRecurring(text: string): string | undefined {
  const name = composedNames.get(text);
  if (name !== undefined || composedNames.size >= maxComposedNames) return name;
  const times = (timesSeen.get(text) ?? 0) + 1;
  if (times < namedFromTime) {
    // Texts seen once or twice long ago are forgotten with the rest.
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

/** True if a part is written into the text instead of being sent as a parameter. */
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
