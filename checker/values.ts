/** Reads values of answers, which may have any shape. */

/** Returns the member of a value at a path; undefined if there is none. */
export function get(value: unknown, ...path: (string | number)[]): unknown {
  return path.reduce<unknown>(
    (found, name) =>
      typeof found === 'object' && found !== null ? (found as Record<string, unknown>)[name] : undefined,
    value,
  );
}

export function listAt(value: unknown, ...path: (string | number)[]): unknown[] {
  const found = get(value, ...path);
  return Array.isArray(found) ? found : [];
}

export function textAt(value: unknown, ...path: (string | number)[]): string {
  const found = get(value, ...path);
  return typeof found === 'string' || typeof found === 'number' ? String(found) : '';
}

/** Groups items; those without a key are left out. */
export function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string | undefined): Map<string, Item[]> {
  const groups = Map.groupBy(items, keyOf);
  groups.delete(undefined);
  return groups as Map<string, Item[]>;
}
