/**
 * Makes third-party text storable in PostgreSQL: NUL and lone surrogates, which no column accepts, become U+FFFD. It is for
 * text that is kept for reading – a log, a provider's message. Text that a caller stores is rejected instead, never changed.
 */
export function toStorableText(text: string): string {
  if (isStorableText(text)) return text;
  return text.replaceAll('\0', '\u{FFFD}').toWellFormed();
}

/** True if a caller's text can be stored: well-formed Unicode without NUL. */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/**
 * Applies toStorableText at every depth of a value that is stored as JSON, including member names. Nearly every value can be
 * stored as it is, and is returned itself.
 */
export function toStorable<Value>(value: Value): Value {
  return findUnstorable(value) === undefined ? value : replaceUnstorable(value);
}

function replaceUnstorable<Value>(value: Value): Value {
  if (typeof value === 'string') return toStorableText(value) as Value;
  if (Array.isArray(value)) return value.map((item) => replaceUnstorable(item as unknown)) as Value;
  if (value === null || typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [toStorableText(name), replaceUnstorable(item as unknown)]),
  ) as Value;
}

/**
 * Finds the first text or member name that no column accepts, in a value that arrived as JSON and is stored unchanged.
 * Returns its path, such as `a.b[0]`; for a name, the path of its object. Undefined if everything can be stored.
 */
export function findUnstorable(value: unknown, path = ''): string | undefined {
  if (typeof value === 'string') return isStorableText(value) ? undefined : path;
  if (value === null || typeof value !== 'object') return undefined;
  const isList = Array.isArray(value);
  for (const name of Object.keys(value)) {
    if (!isStorableText(name)) return path;
    const item = (value as Record<string, unknown>)[name];
    if (typeof item === 'string' ? isStorableText(item) : item === null || typeof item !== 'object') continue;
    const dotted = path === '' ? name : `${path}.${name}`;
    const found = findUnstorable(item, isList ? `${path}[${name}]` : dotted);
    if (found !== undefined) return found;
  }
  return undefined;
}

export const unstorable = 'must be well-formed Unicode without NUL, names of members too';
