/**
 * Text of others as PostgreSQL can store it: NUL and lone surrogates, which no column takes, become U+FFFD. For what is
 * kept to be looked at – a log, what a provider said. What a caller stores is refused instead, never changed.
 */
export function toStorableText(text: string): string {
  return text.replaceAll('\0', '\u{FFFD}').toWellFormed();
}

/** Whether a text that a caller stores can be: well-formed Unicode without NUL. */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** What toStorableText does, at every depth of a value that is stored as JSON, in member names too. */
export function toStorable<Value>(value: Value): Value {
  if (typeof value === 'string') return toStorableText(value) as Value;
  if (Array.isArray(value)) return value.map((item) => toStorable(item as unknown)) as Value;
  if (value === null || typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [toStorableText(name), toStorable(item as unknown)]),
  ) as Value;
}

/**
 * Where, in a value that came as JSON and is stored as it came, the first text or member name is that no column takes:
 * `a.b[0]`; of a name, the object that has it. Undefined when all can be stored.
 */
export function findUnstorable(value: unknown, path = ''): string | undefined {
  if (typeof value === 'string') return isStorableText(value) ? undefined : path;
  if (value === null || typeof value !== 'object') return undefined;
  const isList = Array.isArray(value);
  for (const [name, item] of Object.entries(value)) {
    if (!isStorableText(name)) return path;
    const dotted = path === '' ? name : `${path}.${name}`;
    const found = findUnstorable(item, isList ? `${path}[${name}]` : dotted);
    if (found !== undefined) return found;
  }
  return undefined;
}

export const unstorable = 'must be well-formed Unicode without NUL, names of members too';
