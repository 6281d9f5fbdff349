/** A stretch of a template: text as it is, or the tokens between a pair of markers. `at` is an offset, for messages. */
export type Piece =
  | { kind: 'text'; text: string; at: number }
  | { kind: 'print' | 'statement'; tokens: Token[]; at: number; end: number };

export type Token = { kind: 'name' | 'text' | 'number' | 'operator'; text: string; at: number };

/** What is wrong with the text of a template, and where. */
export class TemplateSyntaxError extends Error {
  readonly at: number;

  constructor(reason: string, at: number) {
    super(reason);
    this.at = at;
  }
}

const opener = /\{\{|\{%|\{#/g;
const rawBlock = /\{%[-+]?\s*raw\s*(-?)%\}/y;
const endRaw = /\{%(-?)\+?\s*endraw\s*([-+]?)%\}/g;
const space = /\s+/y;
const name = /[\p{L}_][\p{L}\p{N}_]*/uy;
const number = /\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const quoted = /'(?:[^'\\]|\\[\s\S])*'|"(?:[^"\\]|\\[\s\S])*"/y;
const operator = /\*\*|\/\/|==|!=|<=|>=|[-+*/%~<>=()[\]{}.,:|]/y;
const brackets: Record<string, string> = { ')': '(', ']': '[', '}': '{' };

/**
 * Cuts a template into pieces. Whitespace next to a marker with `-` is removed, as in Jinja; so is one trailing
 * newline.
 *
 * @throws TemplateSyntaxError
 */
export function tokenize(source: string): Piece[] {
  const text = source.replace(/\r?\n$/, '');
  const pieces: Piece[] = [];
  let at = 0;
  let isTrimming = false;
  const addText = (end: number, next: string | undefined): void => {
    let part = text.slice(at, end);
    if (isTrimming) part = part.trimStart();
    if (next === '-') part = part.trimEnd();
    if (part !== '') pieces.push({ kind: 'text', text: part, at });
  };
  for (;;) {
    opener.lastIndex = at;
    const found = opener.exec(text);
    if (!found) break;
    const start = found.index;
    addText(start, text[start + 2]);
    if (found[0] === '{#') {
      const end = text.indexOf('#}', start + 2);
      if (end === -1) throw new TemplateSyntaxError('a comment has no end', start);
      // Of `{#-#}` the hyphen is the opening marker's.
      isTrimming = text[end - 1] === '-' && end - 1 > start + 2;
      at = end + 2;
      continue;
    }
    const raw = matchAt(rawBlock, text, start);
    if (raw) {
      endRaw.lastIndex = start + raw[0].length;
      const end = endRaw.exec(text);
      if (!end) throw new TemplateSyntaxError('raw has no endraw', start);
      at = start + raw[0].length;
      isTrimming = raw[1] === '-';
      addText(end.index, end[1]);
      at = end.index + end[0].length;
      isTrimming = end[2] === '-';
      continue;
    }
    const inside = tokenizeInside(text, found[0] === '{{' ? { start, closer: '}}' } : { start, closer: '%}' });
    pieces.push({ kind: found[0] === '{{' ? 'print' : 'statement', tokens: inside.tokens, at: start, end: inside.end });
    isTrimming = inside.isTrimming;
    at = inside.end;
  }
  addText(text.length, undefined);
  return pieces;
}

function tokenizeInside(text: string, { start, closer }: { start: number; closer: string }) {
  const tokens: Token[] = [];
  const open: string[] = [];
  let at = start + 2;
  if (text[at] === '-' || text[at] === '+') at += 1;
  for (;;) {
    at += matchAt(space, text, at)?.[0].length ?? 0;
    if (at >= text.length) throw new TemplateSyntaxError(`"${closer}" is missing`, start);
    if (open.length === 0) {
      const isTrimming = text[at] === '-' && text.startsWith(closer, at + 1);
      const skipped = isTrimming || (text[at] === '+' && text.startsWith(closer, at + 1)) ? 1 : 0;
      if (text.startsWith(closer, at + skipped)) return { tokens, isTrimming, end: at + skipped + closer.length };
    }
    const token = readToken(text, at);
    if (token.kind === 'operator') matchBracket(open, token);
    tokens.push(token);
    at += token.text.length;
  }
}

function readToken(text: string, at: number): Token {
  for (const [kind, pattern] of kinds) {
    const found = matchAt(pattern, text, at);
    if (found) return { kind, text: found[0], at };
  }
  if (text[at] === '"' || text[at] === "'") throw new TemplateSyntaxError('a text has no closing quote', at);
  throw new TemplateSyntaxError(`${JSON.stringify(String.fromCodePoint(text.codePointAt(at)!))} is not expected`, at);
}

const kinds = [
  ['name', name],
  ['number', number],
  ['text', quoted],
  ['operator', operator],
] as const;

function matchBracket(open: string[], token: Token): void {
  if ('([{'.includes(token.text)) open.push(token.text);
  else if (token.text in brackets && open.pop() !== brackets[token.text])
    throw new TemplateSyntaxError(`"${token.text}" has no partner`, token.at);
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

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

const letters: Record<string, string> = { n: '\n', t: '\t', r: '\r', '\\': '\\', "'": "'", '"': '"', '\n': '' };

/** The text that a quoted one means, with Python's escapes. Escapes that nobody knows stay as they are. */
export function unquote(quoted: string): string {
  return quoted.slice(1, -1).replace(/\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[\s\S])/g, (escape) => {
    if (escape.length === 2) return letters[escape[1]!] ?? escape;
    const code = parseInt(escape.slice(2), 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : escape;
  });
}
