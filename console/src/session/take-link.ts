export type Link = { kind: 'sign-in'; code: string };

const kinds = ['sign-in'] as const;

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
