const kinds = ['sign-in', 'first-owner', 'invitation', 'new-password', 'refused'] as const;

/** What a one-time link is for, and its code; of `refused` the word why a company account opened nothing. */
export type Link = { kind: (typeof kinds)[number]; code: string };

/** Takes a one-time code out of the address before anything else sees it: it must not be copied, kept or reloaded. */
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
