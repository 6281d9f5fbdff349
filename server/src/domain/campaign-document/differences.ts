/** A member that differs, by its path, such as `basic_details.name`. Undefined: not there. */
export type Difference = { path: string; before: unknown; after: unknown };

/**
 * Returns the members that differ between two documents, in the order of the second, then those that were removed. Lists are compared as a
 * whole: an entry that was put in front would otherwise change all others. Pure.
 */
export function differencesOf(before: unknown, after: unknown, path = ''): Difference[] {
  if (isMembers(before) && isMembers(after)) {
    const names = [...new Set([...Object.keys(after), ...Object.keys(before)])];
    return names.flatMap((name) => differencesOf(ownOf(before, name), ownOf(after, name), join(path, name)));
  }
  // Each member of a new part has a line, as readable as one that was changed.
  if (before === undefined && isMembers(after) && Object.keys(after).length > 0) return differencesOf({}, after, path);
  if (after === undefined && isMembers(before) && Object.keys(before).length > 0)
    return differencesOf(before, {}, path);
  return textOf(before) === textOf(after) ? [] : [{ path, before, after }];
}

function ownOf(holder: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(holder, name) ? holder[name] : undefined;
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function isMembers(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** Objects in lists may have their members in another order, because PostgreSQL sorts them. */
function textOf(value: unknown): string | undefined {
  return JSON.stringify(value, (_name, part: unknown) =>
    isMembers(part) ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1))) : part,
  );
}
