import { Identifier, RowParts, Template, writeStatement } from './statement-text.ts';
import type { Columns, Query, StatementPart } from './statement-text.ts';
import { Json } from './value-encoding.ts';

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
};

export type Pieces = AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>;

/** A statement, or a part of one, whatever it answers. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a part answers nothing
export type Fragment = Statement<any>;

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
