import { notAllowed, unavailable } from './reading-rules.ts';
import type { Fault, ReadingRules, RequestFault } from './reading-rules.ts';

/**
 * Reads one object of a request member by member. An invalid value is noted with its path and reads as not sent, so that
 * one pass finds all faults. The rules decide which values are accepted and how a fault is worded.
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

  /** The faults in the order of reading, including those of readers that were made from this one. */
  get faults(): RequestFault[] {
    return this.#noted.faults;
  }

  /** Values that were accepted and have no effect. */
  get warnings(): string[] {
    return this.#noted.warnings;
  }

  /** Returns the one fault to report. A value that is not allowed precedes all other faults and has no reason. */
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
    // An item of a list is always present, whatever its value: it cannot be left out.
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

  /**
   * Notes a fault that is reported with this error, because it has a separate code or concerns a field other than the member
   * that was read.
   */
  reject(error: Error): void {
    this.#noted.faults.push({ field: this.path, reason: error.message, error });
  }

  /** Notes a value that is accepted but has an unexpected effect. */
  warn(name: string, words: string): void {
    this.#noted.warnings.push(`${this.pathOf(name)} ${words}`);
  }

  /** Notes a required member that is absent. @returns whether it was sent */
  requires(name: string): boolean {
    if (!this.isAbsent(name)) return true;
    this.missing(name);
    return false;
  }

  text(name: string, maxCharacters = this.rules.maxTextCharacters): string | undefined {
    const value = this.get(name);
    if (value === undefined) return undefined;
    const { rules } = this;
    const fault =
      typeof value === 'string'
        ? rules.textFault(value, maxCharacters)
        : (rules.notTextFault?.(maxCharacters) ?? 'must be a text');
    if (fault === undefined) return value as string;
    this.invalid(name, fault);
    return undefined;
  }

  /** An empty text counts as absent. */
  requiredText(name: string, maxCharacters?: number): string {
    return this.#requiresWords(name) ? (this.text(name, maxCharacters) ?? '') : '';
  }

  /**
   * Reads an id, which may be sent as a number. Larger numbers must be sent as texts: JSON readers round whole numbers beyond
   * 2^53, so two ids could become one.
   */
  requiredId(name: string, maxCharacters?: number): string {
    const value = this.get(name);
    if (typeof value !== 'number') return this.requiredText(name, maxCharacters);
    if (!Number.isSafeInteger(value)) this.invalid(name, 'is a number that cannot be an id; send it as a text');
    return String(value);
  }

  /** Reads a text that may be a template. An invalid template is rejected. */
  template(name: string, maxCharacters?: number): string | undefined {
    const text = this.text(name, maxCharacters);
    const fault = text === undefined ? undefined : this.rules.templates.fault(text);
    if (fault !== undefined) this.invalid(name, fault);
    return text;
  }

  requiredTemplate(name: string, maxCharacters?: number): string {
    return this.#requiresWords(name) ? (this.template(name, maxCharacters) ?? '') : '';
  }

  /** Reads a text that is the same for every user and therefore must not be a template. */
  plain(name: string, maxCharacters?: number): string | undefined {
    const text = this.text(name, maxCharacters);
    if (text !== undefined && this.rules.templates.isTemplate(text)) this.invalid(name, 'cannot be a template');
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

  /** Reads a list of these words and returns them in the order of `words`. */
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

  /** Reads a fraction from 0 to 1, such as a volume. */
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

  /** Returns the members that were sent, without those that count as absent. */
  sentMembers(): Record<string, unknown> {
    return Object.fromEntries(
      this.names().flatMap((name) => (this.get(name) === undefined ? [] : [[name, this.get(name)]])),
    );
  }

  /** Like sentMembers, for an object of pairs, where an empty text is a value. */
  pairMembers(): Record<string, unknown> {
    return Object.fromEntries(
      this.names().flatMap((name) => {
        const value = this.members[name] === '' ? '' : this.get(name);
        return value === undefined ? [] : [[name, value]];
      }),
    );
  }

  /** Returns a reader with the items of a list as members, named by index. */
  items(name: string, maxItems: number): RequestReader {
    return this.#at(this.list(name, maxItems) as unknown as Record<string, unknown>, this.pathOf(name));
  }

  /** Reads a list of non-empty texts and removes duplicates. */
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

  /** Reads a URL that may be a template. The URL that the template produces for a user is checked when it is rendered. */
  templateUrl(name: string, schemes: Schemes): string | undefined {
    const value = this.get(name);
    const isRendered = typeof value === 'string' && this.rules.templates.isTemplate(value);
    return isRendered ? this.template(name, 2_048) : this.url(name, schemes);
  }

  /** Returns a reader of the object of that name; undefined if it was not sent or is not an object. */
  findPart(name: string): RequestReader | undefined {
    const value = this.get(name);
    if (value === undefined) return undefined;
    if (isObject(value)) return this.#at(value, this.pathOf(name));
    this.invalid(name, 'must be an object');
    return undefined;
  }

  /** Returns a reader of the object of that name. An absent object reads as one without members. */
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

  /** Returns a reader of an object whose member names the caller chooses. The rules convert values that have an unambiguous text. */
  pairs(name: string): RequestReader {
    const pairs = this.part(name);
    const texts = Object.entries(pairs.pairMembers()).map(([key, value]) => [key, this.rules.toPairText(value)]);
    return pairs.over(Object.fromEntries(texts));
  }

  /** Returns a reader of these members at the same path. Used if a family accepts other spellings or adds defaults. */
  over(members: Record<string, unknown>): RequestReader {
    return this.#at(members, this.path);
  }

  /** Rejects documented members that this deployment does not support. */
  refuse(...names: string[]): void {
    for (const name of names) if (!this.isAbsent(name)) this.invalid(name, unavailable);
  }

  /** Requires these flags to have the only value that this deployment supports (docs/decisions/0008). */
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
    // If only the first fault is reported, the items of a list that is too long are read too: one may have a more severe fault.
    return this.rules.reports === 'first' && Array.isArray(value) ? value : undefined;
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

/** The URLs that a member accepts: URLs with one of these schemes, or web addresses and addresses of apps on a phone. */
export type Schemes = readonly string[] | 'web and apps';

// URLs with these schemes contain code or name a part of the phone, so a message must not open them.
const refused = ['javascript:', 'vbscript:', 'data:', 'blob:', 'file:', 'content:', 'about:', 'intent:'];
// All other schemes need slashes. Otherwise 'shop.example:443' would be read as an app's scheme.
const withoutSlashes = ['tel:', 'sms:', 'mailto:'];

const web = ['https:', 'http:'];

/** Returns why a member with these schemes rejects a URL; undefined if it accepts it. */
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
