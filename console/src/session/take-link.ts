const kinds = ['sign-in', 'first-owner', 'invitation', 'new-password', 'refused'] as const;

/** The purpose of a one-time link, and its code. `refused` has the reason why a company account was rejected. */
export type Link = { kind: (typeof kinds)[number]; code: string };

/**
 * Removes a one-time code from the address before other code reads it, so that it is not copied, stored or reloaded.
 */
export function takeLink(): Link | undefined {
  const parameters = new URLSearchParams(location.hash.slice(1));
  for (const kind of kinds) {
    const code = parameters.get(kind);
    if (code === null) continue;
    history.replaceState(null, '', location.pathname);
    return { kind, code };
  }
  return undefined;
}

export function hasLink(): boolean {
  const parameters = new URLSearchParams(location.hash.slice(1));
  return kinds.some((kind) => parameters.has(kind));
}
