import { TextInput } from '@mantine/core';
import { formatDay } from './format-time.ts';

type TimeFilterProps = { name: string; label: string; value: string | undefined };

/** A bound of time; the address holds an instant, the field its minute. */
export function TimeFilter({ name, label, value }: TimeFilterProps) {
  return <TextInput name={name} type="datetime-local" label={label} defaultValue={value?.slice(0, 16) ?? ''} />;
}

/** How a chip says an instant. */
export function timeFilterText(value: string): string {
  return `${formatDay(value.slice(0, 10))}, ${value.slice(11, 16)}`;
}

type ReadFields<Name extends string> = { names: readonly Name[]; times?: readonly Name[] };

/** What was filled in, as the address says it; an empty field is none. */
export function readFilterFields<Name extends string>(
  form: FormData,
  { names, times = [] }: ReadFields<Name>,
): Partial<Record<Name, string>> {
  const chosen = names.flatMap((name) => {
    const text = String(form.get(name) ?? '').trim();
    return text === '' ? [] : [[name, times.includes(name) ? `${text}:00.000Z` : text]];
  });
  return Object.fromEntries(chosen) as Partial<Record<Name, string>>;
}
