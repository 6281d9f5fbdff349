export type AddressSearch = Record<string, string | string[]>;

/** Parses `?tag=a&tag=b&page=2`. Repeated names become lists, others texts. */
export function parseAddressSearch(text: string): AddressSearch {
  const parameters = new URLSearchParams(text);
  return Object.fromEntries(
    [...new Set(parameters.keys())].map((name) => {
      const values = parameters.getAll(name);
      return [name, values.length === 1 ? values[0]! : values];
    }),
  );
}

/** Formats search parameters. Undefined and empty values are left out. */
export function formatAddressSearch(search: Record<string, unknown>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== undefined && one !== null && one !== '') parameters.append(name, String(one));
  }
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

/** Returns the values of a name, repeated or not. */
export function listOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.filter((one): one is string => typeof one === 'string');
  return typeof value === 'string' && value !== '' ? [value] : [];
}

/** Returns the chosen columns. The list ignores unknown ones. */
export function columnsOf({ columns }: AddressSearch): { columns?: string[] } {
  const chosen = listOf(columns);
  return chosen.length === 0 ? {} : { columns: chosen };
}

export function textOf(value: unknown): string | undefined {
  return listOf(value)[0];
}
