import { isObject } from '../request-reader/request-reader.ts';

/**
 * What a change makes of the parts of a campaign: objects are merged, null removes, everything else takes the place of
 * what was there (JSON Merge Patch, RFC 7396).
 */
export function mergeParts(present: Record<string, unknown>, change: Record<string, unknown>): Record<string, unknown> {
  const merged = new Map(Object.entries(present));
  for (const [name, value] of Object.entries(change)) {
    if (value === null) merged.delete(name);
    else if (isObject(value)) {
      const before = merged.get(name);
      merged.set(name, mergeParts(isObject(before) ? before : {}, value));
    } else merged.set(name, value);
  }
  return Object.fromEntries(merged);
}
