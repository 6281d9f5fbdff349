import type { RequestFault } from '../errors.ts';
import { quote } from '../segments/filter-members.ts';
import { isTemplate, templateFault } from '../template/template-mode.ts';
import { sourceNames } from '../template/template-syntax.ts';
import { textFault } from '../users/user-attributes.ts';

/** What this deployment does not do, said the same way everywhere (decision D30). */
export const unavailable = 'is not available in this version';

const usualLongest = 4_096;

/**
 * One object of a campaign's record, read by name. What is wrong is noted and reads as not sent, so that one reading
 * tells all of it. Null, an empty text, an empty list and an empty object count as not sent: clients fill forms with
 * them.
 */
export class Part {
  readonly path: string;
  readonly faults: RequestFault[];
  readonly #members: Record<string, unknown>;

  constructor(members: Record<string, unknown>, { path, faults }: { path: string; faults: RequestFault[] }) {
    this.#members = members;
    this.path = path;
    this.faults = faults;
  }

  pathOf(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`;
  }

  get(name: string): unknown {
    const value = Object.hasOwn(this.#members, name) ? this.#members[name] : undefined;
    return isSent(value) ? value : undefined;
  }

  names(): string[] {
    return Object.keys(this.#members);
  }

  missing(name: string): void {
    this.faults.push({ field: this.pathOf(name), reason: 'missing' });
  }

  invalid(name: string, reason: string): void {
    this.faults.push({ field: this.pathOf(name), reason });
  }

  /** Notes a member that is required and absent. @returns whether it was sent */
  requires(name: string): boolean {
    if (this.get(name) !== undefined) return true;
    this.missing(name);
    return false;
  }

  text(name: string, longest = usualLongest): string | undefined {
    const value = this.get(name);
    if (value === undefined) return undefined;
    const fault = typeof value === 'string' ? textFault(value) : 'must be a text';
    if (fault !== undefined) this.invalid(name, fault);
    else if ((value as string).length > longest) this.invalid(name, `must have at most ${longest} characters`);
    else return value as string;
    return undefined;
  }

  requiredText(name: string, longest?: number): string {
    return this.requires(name) ? (this.text(name, longest) ?? '') : '';
  }

  /** A text that may be a template; one that is none is refused. */
  template(name: string, longest?: number): string | undefined {
    const text = this.text(name, longest);
    const fault = text === undefined ? undefined : templateFault(text, { mode: 'AUTO', sources: sourceNames });
    if (fault !== undefined) this.invalid(name, fault);
    return text;
  }

  requiredTemplate(name: string, longest?: number): string {
    return this.requires(name) ? (this.template(name, longest) ?? '') : '';
  }

  /** A text that is the same for everybody, and so no template. */
  plain(name: string, longest?: number): string | undefined {
    const text = this.text(name, longest);
    if (text !== undefined && isTemplate(text, 'AUTO')) this.invalid(name, 'cannot be a template');
    return text;
  }

  requiredPlain(name: string, longest?: number): string {
    return this.requires(name) ? (this.plain(name, longest) ?? '') : '';
  }

  /** One of these words; case does not matter, as the samples of the interface differ. */
  choice<const Word extends string>(name: string, words: readonly Word[]): Word | undefined {
    const value = this.get(name);
    if (value === undefined) return undefined;
    const found = words.find((word) => typeof value === 'string' && word.toUpperCase() === value.toUpperCase());
    if (found === undefined)
      this.invalid(name, `must be one of ${words.join(', ')} in this version, not ${quote(value)}`);
    return found;
  }

  flag(name: string): boolean | undefined {
    const value = this.get(name);
    if (value === undefined || typeof value === 'boolean') return value;
    if (value === 'true' || value === 'false') return value === 'true';
    this.invalid(name, 'must be true or false');
    return undefined;
  }

  integer(name: string, { minimum, maximum }: { minimum: number; maximum: number }): number | undefined {
    const value = this.get(name);
    if (value === undefined) return undefined;
    const number = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;
    if (Number.isInteger(number) && (number as number) >= minimum && (number as number) <= maximum)
      return number as number;
    this.invalid(name, `must be a whole number from ${minimum} to ${maximum}`);
    return undefined;
  }

  list(name: string, maxItems: number): unknown[] {
    const value = this.get(name);
    if (value === undefined) return [];
    if (Array.isArray(value) && value.length <= maxItems) return value;
    this.invalid(name, `must be a list of at most ${maxItems} items`);
    return [];
  }

  texts(name: string, { maxItems, longest }: { maxItems: number; longest: number }): string[] {
    const items = this.list(name, maxItems);
    const isText = (item: unknown): item is string =>
      typeof item === 'string' && item !== '' && item.length <= longest && textFault(item) === undefined;
    if (items.every(isText)) return [...new Set(items)];
    this.invalid(name, `must hold texts of 1 to ${longest} characters`);
    return [];
  }

  url(name: string, schemes: readonly string[]): string | undefined {
    const text = this.text(name, 2_048);
    if (text === undefined) return undefined;
    if (URL.canParse(text) && schemes.includes(new URL(text).protocol)) return text;
    this.invalid(name, `must be a URL with ${schemes.map((scheme) => scheme.replace(':', '')).join(' or ')}`);
    return undefined;
  }

  /** A web address, which a template becomes for each person; what it becomes is looked at then. */
  templateUrl(name: string, schemes: readonly string[]): string | undefined {
    const value = this.get(name);
    const isRendered = typeof value === 'string' && isTemplate(value, 'AUTO');
    return isRendered ? this.template(name, 2_048) : this.url(name, schemes);
  }

  /** The object of that name; an absent one reads as one without members. */
  part(name: string): Part {
    const value = this.get(name);
    const at = { path: this.pathOf(name), faults: this.faults };
    if (value === undefined) return new Part({}, at);
    if (isObject(value)) return new Part(value, at);
    this.invalid(name, 'must be an object');
    return new Part({}, at);
  }

  parts(name: string, maxItems: number): Part[] {
    return this.list(name, maxItems).map((item, index) => {
      const at = { path: `${this.pathOf(name)}[${index}]`, faults: this.faults };
      if (!isObject(item)) this.faults.push({ field: at.path, reason: 'must be an object' });
      return new Part(isObject(item) ? item : {}, at);
    });
  }

  /** Refuses members by name: known ones that are not carried out. */
  refuse(...names: string[]): void {
    for (const name of names) if (this.get(name) !== undefined) this.invalid(name, unavailable);
  }

  /** Takes of a flag the one value that asks for what happens anyway (docs/decisions/0008). */
  only(value: boolean, ...names: string[]): void {
    for (const name of names) {
      const sent = this.flag(name);
      if (sent !== undefined && sent !== value) this.invalid(name, `must be ${value}: ${!value} ${unavailable}`);
    }
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function isSent(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return false;
  if (Array.isArray(value)) return value.length > 0;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}
