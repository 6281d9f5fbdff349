/**
 * Text of others as PostgreSQL can store it: NUL and lone surrogates, which no column takes, become U+FFFD. For what is
 * kept to be looked at – a log, what a provider said. What a caller stores is refused instead, never changed.
 */
export function toStorableText(text: string): string {
  return text.replaceAll('\0', '\u{FFFD}').toWellFormed();
}

/** The same at every depth of a value that is stored as JSON, in member names too. */
export function toStorable<Value>(value: Value): Value {
  if (typeof value === 'string') return toStorableText(value) as Value;
  if (Array.isArray(value)) return value.map((item) => toStorable(item as unknown)) as Value;
  if (value === null || typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [toStorableText(name), toStorable(item as unknown)]),
  ) as Value;
}
