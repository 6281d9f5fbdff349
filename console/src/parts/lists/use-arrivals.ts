import { useRef } from 'react';

type List = {
  /** The filters of the list. Other filters show other rows, which are not new. */
  of: string;
  /** Undefined until the list has loaded. */
  keys: readonly string[] | undefined;
};

type Seen = { of: string; keys: ReadonlySet<string>; arrived: ReadonlySet<string> };

/** Returns the rows that the latest refetch of a list added. */
export function useArrivals({ of, keys }: List): ReadonlySet<string> {
  const seen = useRef<Seen>(undefined);
  if (keys !== undefined) seen.current = nextSeen(seen.current, { of, keys });
  return seen.current?.arrived ?? none;
}

const none: ReadonlySet<string> = new Set();

/** @returns the same object if the rows are the same, so that they stay new until others arrive */
export function nextSeen(before: Seen | undefined, { of, keys }: { of: string; keys: readonly string[] }): Seen {
  if (before?.of !== of) return { of, keys: new Set(keys), arrived: none };
  const arrived = keys.filter((key) => !before.keys.has(key));
  if (arrived.length === 0) return before;
  return { of, keys: new Set(keys), arrived: new Set(arrived) };
}
