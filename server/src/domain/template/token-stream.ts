import { TemplateSyntaxError } from './tokenize.ts';
import type { Token } from './tokenize.ts';

/** The tokens between one pair of markers, read from left to right. */
export class TokenStream {
  readonly #tokens: readonly Token[];
  readonly #end: number;
  #place = 0;

  constructor(tokens: readonly Token[], end: number) {
    this.#tokens = tokens;
    this.#end = end;
  }

  get current(): Token | undefined {
    return this.#tokens[this.#place];
  }

  get at(): number {
    return this.current?.at ?? this.#end;
  }

  next(): Token {
    const token = this.current;
    if (!token) throw this.unexpected();
    this.#place += 1;
    return token;
  }

  is(text: string): boolean {
    return isToken(this.current, text);
  }

  /** Whether the token after the current one is this. */
  isNext(text: string): boolean {
    return isToken(this.#tokens[this.#place + 1], text);
  }

  /** Takes the current token when it is this. */
  take(text: string): boolean {
    if (!this.is(text)) return false;
    this.#place += 1;
    return true;
  }

  expect(text: string): void {
    if (!this.take(text)) throw this.unexpected(text);
  }

  name(): string {
    if (this.current?.kind !== 'name') throw this.unexpected('a name');
    return this.next().text;
  }

  expectEnd(): void {
    if (this.current) throw this.unexpected();
  }

  unexpected(wanted?: string): TemplateSyntaxError {
    const found = this.current ? JSON.stringify(this.current.text.slice(0, 40)) : 'the end';
    const reason = wanted === undefined ? `${found} is not expected` : `${wanted} is expected, not ${found}`;
    return new TemplateSyntaxError(reason, this.at);
  }
}

/** A quoted text is never a word of the language. */
function isToken(token: Token | undefined, text: string): boolean {
  return token !== undefined && token.kind !== 'text' && token.text === text;
}
