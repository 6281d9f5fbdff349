import { NativeSelect, SimpleGrid, TextInput } from '@mantine/core';
import type { AuditFilters } from '../api/accounts.ts';
import { readFilterFields, TimeFilter, timeFilterText } from '../parts/filter-fields.tsx';
import { FilterBar } from '../parts/filter-bar.tsx';
import { actionNames, kindNames } from './action-names.ts';

const words = { object: 'Object', actor: 'Who', action: 'What', from: 'From (UTC)', until: 'Before (UTC)' } as const;
const fields = Object.keys(words) as (keyof typeof words)[];
const times = ['from', 'until'] as const;
const kinds = [...kindNames].map(([value, label]) => ({ value, label }));

type AuditFilterFormProps = { search: AuditFilters; onChosen: (search: AuditFilters) => void };

/** The filters of the audit log. What is chosen goes into the address. */
export function AuditFilterForm({ search, onChosen }: AuditFilterFormProps) {
  const chosen = fields.flatMap((field) => {
    const { [field]: value, ...others } = search;
    if (value === undefined) return [];
    const shown = shownOf(field, value);
    return [{ name: words[field], value: shown, onRemoved: () => onChosen(others) }];
  });
  return (
    <FilterBar
      label="Audit log"
      field={
        <TextInput name="object" label={words.object} placeholder="Name or id" defaultValue={search.object ?? ''} />
      }
      chosen={chosen}
      onSearched={(form) => onChosen(readFilterFields(form, { names: fields, times }))}
      onCleared={() => onChosen({})}
    >
      <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} spacing="sm">
        <TextInput name="actor" label={words.actor} defaultValue={search.actor ?? ''} />
        <NativeSelect
          name="action"
          label={words.action}
          data={[{ value: '', label: 'Any' }, ...kinds]}
          defaultValue={search.action ?? ''}
        />
        {times.map((name) => (
          <TimeFilter key={name} name={name} label={words[name]} value={search[name]} />
        ))}
      </SimpleGrid>
    </FilterBar>
  );
}

function shownOf(field: (typeof fields)[number], value: string): string {
  if ((times as readonly string[]).includes(field)) return timeFilterText(value);
  return field === 'action' ? (kindNames.get(value) ?? actionNames[value] ?? value) : value;
}
