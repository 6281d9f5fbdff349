import { textFault } from '../users/user-attributes.ts';

export type FilterFaultCode = 'invalid' | 'too-deep' | 'too-many-segments' | 'too-long' | 'unavailable';

/** Why a filter is rejected; thrown and caught within the parser. The message is public. */
export class FilterFault extends Error {
  readonly code: FilterFaultCode;
  constructor(code: FilterFaultCode, reason: string) {
    super(reason);
    this.code = code;
  }
}

/** The members of one object of a filter tree, read by name; null counts as absent. */
export class FilterMembers {
  readonly path: string;
  readonly #members: Record<string, unknown>;

  /** @param path such as `filters[0]`; empty for the tree itself */
  constructor(value: unknown, path: string) {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new FilterFault('invalid', `${path === '' ? 'the filters' : path} must be an object`);
    this.path = path;
    this.#members = value as Record<string, unknown>;
  }

  pathOf(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`;
  }

  get(name: string): unknown {
    return Object.hasOwn(this.#members, name) ? (this.#members[name] ?? undefined) : undefined;
  }

  flag(name: string): boolean {
    const value = this.get(name) ?? false;
    if (typeof value === 'boolean') return value;
    throw this.fault(name, 'must be true or false');
  }

  /** The members of the object in a member. */
  inner(name: string): FilterMembers {
    return new FilterMembers(this.get(name), this.pathOf(name));
  }

  /** The members of each object in a list. */
  list(name: string): FilterMembers[] {
    return Array.from(
      this.get(name) as unknown[],
      (item, index) => new FilterMembers(item, `${this.pathOf(name)}[${index}]`),
    );
  }

  /** A text in Unicode NFC. @param maxBytes of UTF-8 */
  text(name: string, maxBytes: number): string {
    const value = this.get(name);
    if (value === undefined) throw this.fault(name, 'is required');
    return toText(value, { path: this.pathOf(name), maxBytes });
  }

  choice<Choice extends string>(name: string, choices: readonly Choice[]): Choice {
    const value = this.get(name);
    const choice = choices.find((one) => one === value);
    if (choice !== undefined) return choice;
    throw this.fault(
      name,
      value === undefined ? 'is required' : `must be one of ${choices.join(', ')}, not ${quote(value)}`,
    );
  }

  /** Rejects a member that would have no effect. */
  refuse(name: string, reason: string): void {
    if (this.get(name) !== undefined) throw this.fault(name, reason);
  }

  /** Rejects by name an option that this service does not support (decision D30). */
  refuseUnavailable(name: string): void {
    if (this.get(name) !== undefined)
      throw new FilterFault('unavailable', `${this.pathOf(name)} is not available in this service`);
  }

  /** Returns the paths of unknown members, which the HTTP layer reports (decision D5). */
  unknown(known: readonly string[]): string[] {
    return Object.keys(this.#members).flatMap((name) => (known.includes(name) ? [] : [this.pathOf(name)]));
  }

  fault(name: string, reason: string): FilterFault {
    return new FilterFault('invalid', `${this.pathOf(name)} ${reason}`);
  }
}

export function toText(value: unknown, { path, maxBytes }: { path: string; maxBytes: number }): string {
  if (typeof value !== 'string') throw new FilterFault('invalid', `${path} must be a text`);
  // Checked before NFC, which is slow for a long text and can also lengthen one.
  if (value.length > maxBytes) throw new FilterFault('too-long', `${path} must have at most ${maxBytes} bytes`);
  const fault = textFault(value);
  if (fault !== undefined) throw new FilterFault('invalid', `${path} ${fault}`);
  const text = value.normalize('NFC');
  if (Buffer.byteLength(text) > maxBytes)
    throw new FilterFault('too-long', `${path} must have at most ${maxBytes} bytes`);
  return text;
}

/** Returns a value in a form suitable for a reason: short and plain text only. */
export function quote(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 50)) : `a value of type ${typeof value}`;
}
