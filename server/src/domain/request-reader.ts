import type { RequestFault } from './errors.ts';
import { isTemplate, templateFault } from './template/parser.ts';
import type { TemplateMode } from './template/parser.ts';
import type { SourceName } from './template/syntax.ts';

/**
 * One object of a request, read member by member. What is wrong is noted with its path and reads as not sent, so that
 * one reading sees all of it; the rules say which values are taken and in which words a fault is told.
 */
export class RequestReader {
  readonly path: string;
  readonly rules: ReadingRules;
  readonly members: Readonly<Record<string, unknown>>;
  readonly #noted: Noted;

  constructor(
    members: Record<string, unknown>,
    { path = '', rules, noted = { faults: [], notAllowed: [], warnings: [] } }: Place,
  ) {
    this.members = members;
    this.path = path;
    this.rules = rules;
    this.#noted = noted;
  }

  /** In the order of reading; those of the readers that were made from this one, too. */
  get faults(): RequestFault[] {
    return this.#noted.faults;
  }

  /** What was taken and has no effect. */
  get warnings(): string[] {
    return this.#noted.warnings;
  }

  /** The one fault to tell: a value that is not allowed before any other. One that is not allowed has no reason. */
  firstFault(): { field: string; reason?: string } | undefined {
    const [field] = this.#noted.notAllowed;
    return field === undefined ? this.#noted.faults[0] : { field };
  }

  pathOf(name: string): string {
    if (Array.isArray(this.members)) return `${this.path}[${name}]`;
    return this.path === '' ? name : `${this.path}.${name}`;
  }

  get(name: string): unknown {
    const value = Object.hasOwn(this.members, name) ? this.members[name] : undefined;
    // An item of a list is there, whatever it is: it cannot be left out.
    return Array.isArray(this.members) || this.rules.isSent(value) ? value : undefined;
  }

  names(): string[] {
    return Object.keys(this.members);
  }

  isAbsent(name: string): boolean {
    return this.rules.isAbsent(this.get(name));
  }

  missing(name: string): void {
    this.invalid(name, this.rules.missing);
  }

  invalid(name: string, fault: Fault): void {
    const field = this.pathOf(name);
    if (fault === notAllowed) this.#noted.notAllowed.push(field);
    else this.#noted.faults.push({ field, reason: fault });
  }

  /** Notes what is taken, and will surprise. */
  warn(name: string, words: string): void {
    this.#noted.warnings.push(`${this.pathOf(name)} ${words}`);
  }

  /** Notes a member that is required and absent. @returns whether it was sent */
  requires(name: string): boolean {
    if (!this.isAbsent(name)) return true;
    this.missing(name);
    return false;
  }

  text(name: string, maxCharacters = this.rules.maxTextCharacters): string | undefined {
    const value = this.get(name);
    if (value === undefined) return undefined;
    const fault = typeof value === 'string' ? this.rules.textFault(value, maxCharacters) : 'must be a text';
    if (fault === undefined) return value as string;
    this.invalid(name, fault);
    return undefined;
  }

  /** An empty text counts as absent. */
  requiredText(name: string, maxCharacters?: number): string {
    return this.#requiresWords(name) ? (this.text(name, maxCharacters) ?? '') : '';
  }

  /** A text that may be a template; an invalid template is refused. */
  template(name: string, maxCharacters?: number): string | undefined {
    const text = this.text(name, maxCharacters);
    const fault = text === undefined ? undefined : templateFault(text, this.rules.templates);
    if (fault !== undefined) this.invalid(name, fault);
    return text;
  }

  requiredTemplate(name: string, maxCharacters?: number): string {
    return this.#requiresWords(name) ? (this.template(name, maxCharacters) ?? '') : '';
  }

  /** A text that is the same for every user and therefore not a template. */
  plain(name: string, maxCharacters?: number): string | undefined {
    const text = this.text(name, maxCharacters);
    if (text !== undefined && isTemplate(text, this.rules.templates.mode)) this.invalid(name, 'cannot be a template');
    return text;
  }

  requiredPlain(name: string, maxCharacters?: number): string {
    return this.#requiresWords(name) ? (this.plain(name, maxCharacters) ?? '') : '';
  }

  choice<const Word extends string | number>(name: string, words: readonly Word[]): Word | undefined {
    const value = this.get(name);
    if (value === undefined) return undefined;
    const found = words.find((word) => this.rules.isChoice(value, word));
    if (found === undefined) this.invalid(name, this.rules.choiceFault(value, words));
    return found;
  }

  /** Several of these words, in the order of the words. */
  choices<const Word extends string>(name: string, words: readonly Word[]): Word[] | undefined {
    const found = this.texts(name);
    if (found === undefined) return undefined;
    const known = words.filter((word) => found.includes(word));
    if (known.length === found.length) return known;
    this.invalid(name, `must hold only ${words.join(', ')}`);
    return undefined;
  }

  flag(name: string): boolean | undefined {
    const value = this.get(name);
    if (value === undefined) return undefined;
    const flag = this.rules.toFlag(value);
    if (flag === undefined) this.invalid(name, 'must be true or false');
    return flag;
  }

  integer(name: string, { minimum, maximum }: { minimum: number; maximum: number }): number | undefined {
    const value = this.get(name);
    if (value === undefined) return undefined;
    const number = this.rules.toNumber(value);
    if (Number.isInteger(number) && (number as number) >= minimum && (number as number) <= maximum)
      return number as number;
    this.invalid(name, `must be a whole number from ${minimum} to ${maximum}`);
    return undefined;
  }

  /** A part of a whole, such as a volume. */
  share(name: string): number | undefined {
    const value = this.get(name);
    if (value === undefined) return undefined;
    const number = this.rules.toNumber(value);
    if (typeof number === 'number' && number >= 0 && number <= 1) return number;
    this.invalid(name, 'must be a number from 0 to 1');
    return undefined;
  }

  list(name: string, maxItems: number): unknown[] {
    return this.#items(name, maxItems) ?? [];
  }

  /** The members that were sent: what counts as absent is left out. */
  sentMembers(): Record<string, unknown> {
    return Object.fromEntries(
      this.names().flatMap((name) => (this.get(name) === undefined ? [] : [[name, this.get(name)]])),
    );
  }

  /** The same for pairs, of which an empty text is a value. */
  pairMembers(): Record<string, unknown> {
    return Object.fromEntries(
      this.names().flatMap((name) => {
        const value = this.members[name] === '' ? '' : this.get(name);
        return value === undefined ? [] : [[name, value]];
      }),
    );
  }

  /** The items of a list as the members of a reader, named by their numbers. */
  items(name: string, maxItems: number): RequestReader {
    return this.#at(this.list(name, maxItems) as unknown as Record<string, unknown>, this.pathOf(name));
  }

  /** Texts of at least one character, each once. */
  texts(name: string, { maxItems = 100, maxCharacters = 256 } = {}): string[] | undefined {
    const items = this.#items(name, maxItems);
    const isText = (item: unknown): item is string =>
      typeof item === 'string' && item !== '' && this.rules.textFault(item, maxCharacters) === undefined;
    if (items === undefined || items.every(isText)) return items && [...new Set(items as string[])];
    this.invalid(name, `must hold texts of 1 to ${maxCharacters} characters`);
    return undefined;
  }

  url(name: string, schemes: Schemes): string | undefined {
    const text = this.text(name, 2_048);
    if (text === undefined) return undefined;
    const fault = addressFault(text, schemes);
    if (fault === undefined) return text;
    this.invalid(name, fault);
    return undefined;
  }

  /** An address, which a template becomes for each user; what it becomes is looked at then. */
  templateUrl(name: string, schemes: Schemes): string | undefined {
    const value = this.get(name);
    const isRendered = typeof value === 'string' && isTemplate(value, this.rules.templates.mode);
    return isRendered ? this.template(name, 2_048) : this.url(name, schemes);
  }

  /** The object of that name; undefined if it was not sent or is not an object. */
  findPart(name: string): RequestReader | undefined {
    const value = this.get(name);
    if (value === undefined) return undefined;
    if (isObject(value)) return this.#at(value, this.pathOf(name));
    this.invalid(name, 'must be an object');
    return undefined;
  }

  /** The object of that name; an absent one reads as one without members. */
  part(name: string): RequestReader {
    return this.findPart(name) ?? this.#at({}, this.pathOf(name));
  }

  parts(name: string, maxItems: number): RequestReader[] {
    const items = this.items(name, maxItems);
    return items.names().map((index) => {
      const item = items.members[index];
      if (!isObject(item)) items.invalid(index, 'must be an object');
      return this.#at(isObject(item) ? item : {}, items.pathOf(index));
    });
  }

  /** The object of that name whose members are the caller's own: their values read as texts where that is certain. */
  pairs(name: string): RequestReader {
    const pairs = this.part(name);
    const texts = Object.entries(pairs.pairMembers()).map(([key, value]) => [key, this.rules.toPairText(value)]);
    return pairs.over(Object.fromEntries(texts));
  }

  /** Other members at the same place, for what may be spelt or filled in differently. */
  over(members: Record<string, unknown>): RequestReader {
    return this.#at(members, this.path);
  }

  /** Refuses members by name: documented ones that have no effect here. */
  refuse(...names: string[]): void {
    for (const name of names) if (!this.isAbsent(name)) this.invalid(name, unavailable);
  }

  /** Takes of a flag the one value that asks for what happens anyway (docs/decisions/0008). */
  only(value: boolean, ...names: string[]): void {
    for (const name of names) {
      const sent = this.flag(name);
      if (sent === undefined || sent === value) continue;
      const fault = this.rules.onlyFault(value);
      if (fault === undefined) this.warn(name, 'has no effect here');
      else this.invalid(name, fault);
    }
  }

  #requiresWords(name: string): boolean {
    if (this.get(name) !== '') return this.requires(name);
    this.missing(name);
    return false;
  }

  #items(name: string, maxItems: number): unknown[] | undefined {
    const value = this.get(name);
    if (value === undefined) return undefined;
    const fault = this.rules.listFault(value, maxItems);
    if (fault === undefined) return value as unknown[];
    this.invalid(name, fault);
    // Where one fault is told, a list that is too long may hold a graver one.
    return this.rules.tells === 'first' && Array.isArray(value) ? value : undefined;
  }

  #at(members: Record<string, unknown>, path: string): RequestReader {
    return new RequestReader(members, { path, rules: this.rules, noted: this.#noted });
  }
}

type Noted = { faults: RequestFault[]; notAllowed: string[]; warnings: string[] };
type Place = { path?: string; rules: ReadingRules; noted?: Noted };

export function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/**
 * What differs between the families of routes that read a body member by member: what counts as sent, which spellings of
 * a value are taken, and how a fault is told. The words are a part of each family's contract.
 */
export type ReadingRules = {
  /** `all` tells every fault; `first` tells one, a value that is not allowed before any other (decision D31). */
  tells: 'first' | 'all';
  /** A member that is not sent reads as undefined and is no fault. */
  isSent(value: unknown): boolean;
  /** What counts as absent where a member is required. */
  isAbsent(value: unknown): boolean;
  missing: 'missing' | 'is required';
  maxTextCharacters: number;
  textFault(text: string, maxCharacters: number): string | undefined;
  /** Undefined for a value that is no flag. */
  toFlag(value: unknown): boolean | undefined;
  toNumber(value: unknown): unknown;
  /** The text of a value of the caller's own, such as one of its pairs; anything else as it came. */
  toPairText(value: unknown): unknown;
  isChoice(value: unknown, word: string | number): boolean;
  choiceFault(value: unknown, words: readonly (string | number)[]): Fault;
  listFault(value: unknown, maxItems: number): Fault | undefined;
  /**
   * Why a flag must have the one value that asks for what happens anyway (docs/decisions/0008); undefined: the other is
   * taken, with a warning.
   */
  onlyFault(value: boolean): string | undefined;
  templates: { mode: TemplateMode; sources: readonly SourceName[] };
};

/** A list or value that the interface does not allow, which one family tells with an error of its own. */
export const notAllowed = Symbol('not allowed');
type Fault = string | typeof notAllowed;

/** What this deployment does not do, said the same way everywhere (decision D30). */
export const unavailable = 'is not available in this version';

/** Which addresses a place takes: those of the schemes, or where a phone opens them those of its apps, too. */
export type Schemes = readonly string[] | 'web and apps';

// What is code, or a part of the phone, and no place to go to.
const refused = ['javascript:', 'vbscript:', 'data:', 'blob:', 'file:', 'content:', 'about:', 'intent:'];
// Without slashes 'shop.example:443' would be the scheme of an app.
const withoutSlashes = ['tel:', 'sms:', 'mailto:'];

const web = ['https:', 'http:'];

/** What is wrong with an address at a place that takes some; undefined if nothing is. */
export function addressFault(text: string, schemes: Schemes): string | undefined {
  const scheme = URL.canParse(text) ? new URL(text).protocol : '';
  if (schemes === 'web and apps')
    return web.includes(scheme) || withoutSlashes.includes(scheme) || isOfApp(text.trim(), scheme)
      ? undefined
      : 'must be a URL with https, http or the scheme of an app';
  return schemes.includes(scheme)
    ? undefined
    : `must be a URL with ${schemes.map((known) => known.replace(':', '')).join(' or ')}`;
}

function isOfApp(text: string, scheme: string): boolean {
  const prefix = `${scheme}//`;
  return (
    scheme !== '' &&
    !refused.includes(scheme) &&
    text.length > prefix.length &&
    text.slice(0, prefix.length).toLowerCase() === prefix
  );
}
