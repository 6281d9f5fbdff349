export type AddressSearch = Record<string, string | string[]>;

/** `?tag=a&tag=b&page=2` → lists where a name is repeated, texts elsewhere. */
export function parseAddressSearch(text: string): AddressSearch {
  const parameters = new URLSearchParams(text);
  return Object.fromEntries(
    [...new Set(parameters.keys())].map((name) => {
      const values = parameters.getAll(name);
      return [name, values.length === 1 ? values[0]! : values];
    }),
  );
}

/** The same way back. What is undefined or empty is left out, so that an address says only what was chosen. */
export function formatAddressSearch(search: Record<string, unknown>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== undefined && one !== null && one !== '') parameters.append(name, String(one));
  }
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

/** A name's values, whether it was repeated or not. */
export function listOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.filter((one): one is string => typeof one === 'string');
  return typeof value === 'string' && value !== '' ? [value] : [];
}

/** The columns of a list that were chosen; which of them there are the list knows. */
export function columnsOf({ columns }: AddressSearch): { columns?: string[] } {
  const chosen = listOf(columns);
  return chosen.length === 0 ? {} : { columns: chosen };
}

export function textOf(value: unknown): string | undefined {
  return listOf(value)[0];
}
