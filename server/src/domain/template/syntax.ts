import type { Budget, Value } from './values.ts';

/**
 * A parsed template: a subset of Jinja 3.1 (docs/concepts.md lists it), checked as far as possible without data. Names
 * of filters, methods and tests are resolved to their rules, so rendering needs no lookups.
 */
export type Template = {
  statements: readonly Statement[];
  references: References;
};

/** The sources of values, and the names read from each; `all` if a name is known only when rendering. */
export type References = Partial<Record<SourceName, readonly string[] | 'all'>>;

export const sourceNames = ['UserAttribute', 'EventAttribute', 'BusinessEventAttribute'] as const;
export type SourceName = (typeof sourceNames)[number];

/** Sources of the documented interface (fact 3.8) that this service has no values for. */
export const absentSources: readonly string[] = ['CampaignAttribute', 'ProductSet', 'ContentApi', 'ContentBlock'];

export type Statement =
  | { kind: 'text'; text: string }
  | { kind: 'print'; value: Expression }
  | { kind: 'set'; targets: readonly string[]; value: Expression }
  | { kind: 'if'; branches: readonly Branch[]; otherwise: readonly Statement[] }
  | {
      kind: 'for';
      targets: readonly string[];
      items: Expression;
      condition: Expression | undefined;
      body: readonly Statement[];
      otherwise: readonly Statement[];
    };

export type Branch = { condition: Expression; body: readonly Statement[] };

export type Expression =
  | { kind: 'literal'; value: string | number | boolean | null }
  | { kind: 'name'; name: string }
  | { kind: 'list'; items: readonly Expression[] }
  | { kind: 'record'; members: readonly { key: Expression; value: Expression }[] }
  | { kind: 'member'; of: Expression; key: Expression }
  | { kind: 'slice'; of: Expression; from: Expression | undefined; to: Expression | undefined }
  | { kind: 'range'; args: readonly Expression[] }
  | { kind: 'apply'; rule: Rule; of: Expression; args: readonly (Expression | undefined)[] }
  | { kind: 'not'; of: Expression }
  | { kind: 'sign'; of: Expression; factor: 1 | -1 }
  | { kind: 'math'; operator: MathOperator; left: Expression; right: Expression }
  | { kind: 'and' | 'or'; left: Expression; right: Expression }
  | { kind: 'compare'; first: Expression; rest: readonly { operator: Comparison; value: Expression }[] }
  | { kind: 'choice'; condition: Expression; value: Expression; otherwise: Expression | undefined };

export type MathOperator = '+' | '-' | '*' | '/' | '//' | '%' | '~';
export type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | 'not in';

/** The implementation of a filter, a method or a test. */
export type Rule = {
  name: string;
  /** Names of its arguments, in order. */
  parameters: readonly string[];
  required: number;
  /** Accepts a missing value; every other rule fails on one. */
  takesMissing?: true;
  /** Accepts its arguments by name only, because the first positional one means something else in Jinja. */
  isNamedOnly?: true;
  apply(call: RuleCall): Value;
};

export type RuleCall = { of: Value; args: readonly (Value | undefined)[]; budget: Budget };

/** Collects the names that a template uses while it is parsed: those read from each source, and those without a value. */
export class NameUses {
  readonly #used: { name: string; at: number }[] = [];
  readonly #given = new Set<string>();
  readonly #read = new Map<SourceName, Set<string> | 'all'>();
  /** Nesting depth of loops at the current position. */
  loops = 0;

  use(name: string, at: number): void {
    if (name === 'loop' && this.loops > 0) return;
    if (isSource(name)) this.#read.set(name, this.#read.get(name) ?? new Set());
    else this.#used.push({ name, at });
  }

  /** A name that `set` or `for` gives a value. */
  give(name: string, at: number): void {
    if (isSource(name) || name === 'loop') throw new TemplateSyntaxError(`${name} cannot be given a value`, at);
    this.#given.add(name);
  }

  readMember(of: Expression, key: Expression): void {
    if (of.kind !== 'name' || !isSource(of.name)) return;
    if (key.kind === 'literal' && typeof key.value === 'string') this.read(of.name, key.value);
    else this.readAll(of);
  }

  read(source: SourceName, name: string): void {
    const names = this.#read.get(source) ?? new Set();
    if (names !== 'all') this.#read.set(source, names.add(name));
  }

  /** Records that the names read are known only when rendering. */
  readAll(of: Expression): void {
    if (of.kind === 'name' && isSource(of.name)) this.#read.set(of.name, 'all');
  }

  /** @throws TemplateSyntaxError for a name that can never have a value: a typo would fail for every user */
  references(): References {
    for (const { name, at } of this.#used) {
      if (this.#given.has(name)) continue;
      const reason = absentSources.includes(name)
        ? `${name} is not available in this version`
        : `${name} is unknown; attributes of the user are written UserAttribute['${name}']`;
      throw new TemplateSyntaxError(reason, at);
    }
    return Object.fromEntries([...this.#read].map(([source, names]) => [source, names === 'all' ? 'all' : [...names]]));
  }
}

function isSource(name: string): name is SourceName {
  return sourceNames.some((one) => one === name);
}

/** A piece of a template: literal text, or the tokens between a pair of markers. `at` is an offset, for messages. */
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
 * Splits a template into pieces. Whitespace next to a marker with `-` is removed, as in Jinja; so is one trailing
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
      // In `{#-#}`, the hyphen belongs to the opening marker.
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

  /** True if the token after the current one is this. */
  isNext(text: string): boolean {
    return isToken(this.#tokens[this.#place + 1], text);
  }

  /** Consumes the current token if it is this. */
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

/** True if the token is this; a quoted text is never a keyword or an operator. */
function isToken(token: Token | undefined, text: string): boolean {
  return token !== undefined && token.kind !== 'text' && token.text === text;
}

const letters: Record<string, string> = { n: '\n', t: '\t', r: '\r', '\\': '\\', "'": "'", '"': '"', '\n': '' };

/** Returns the value of a quoted text, with Python's escapes. Unknown escapes stay as they are. */
export function unquote(quoted: string): string {
  return quoted.slice(1, -1).replace(/\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[\s\S])/g, (escape) => {
    if (escape.length === 2) return letters[escape[1]!] ?? escape;
    const code = parseInt(escape.slice(2), 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : escape;
  });
}
