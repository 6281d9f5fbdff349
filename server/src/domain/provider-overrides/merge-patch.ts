import { isObject } from '../request-reader/request-reader.ts';

/** The target with the members of the patch: null takes one away, objects are merged, anything else replaces (RFC 7386 §2). */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  // A map, because a member may be called __proto__.
  const merged = new Map(isObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), value));
  }
  return Object.fromEntries(merged);
}
