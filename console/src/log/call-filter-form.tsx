import { NativeSelect, SimpleGrid, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { consoleClient } from '../console.ts';
import { readFilterFields, TimeFilter, timeFilterText } from '../parts/filter-fields.tsx';
import { FilterBar } from '../parts/filter-bar.tsx';
import { useMay } from '../session/use-session.ts';
import { useWorkspace } from '../shell/workspace.ts';
import type { LogSearch } from './log-search.ts';

const statuses = {
  '2xx': 'Succeeded (2xx)',
  '3xx': 'Redirected (3xx)',
  '4xx': 'Refused (4xx)',
  '5xx': 'Failed (5xx)',
} as const;
const words = {
  path: 'Path',
  status: 'Status',
  key: 'Key',
  text: 'Id or text',
  from: 'From (UTC)',
  before: 'Before (UTC)',
} as const;
const fields = Object.keys(words) as (keyof typeof words)[];

const times = ['from', 'before'] as const;

type CallFilterFormProps = { search: LogSearch; onChosen: (search: LogSearch) => void };

/** The filters of the calls. What is chosen goes into the address. */
export function CallFilterForm({ search, onChosen }: CallFilterFormProps) {
  const keys = useKeys(search);
  // Which calls they are is a view of its own, and what is shown of them is no filter.
  const { of, only, columns } = search;
  const base: LogSearch = { ...(of && { of }), ...(only && { only }), ...(columns && { columns }) };
  const chosen = fields.flatMap((field) => {
    const { [field]: value, ...others } = search;
    if (value === undefined) return [];
    const shown =
      field === 'key'
        ? (keys?.find(({ id }) => id === value)?.name ?? value)
        : field === 'status'
          ? (statuses[value as keyof typeof statuses] ?? value)
          : field === 'from' || field === 'before'
            ? timeFilterText(value)
            : value;
    return [{ name: words[field], value: shown, onRemoved: () => onChosen(others) }];
  });
  return (
    <FilterBar
      label="Calls"
      field={
        <TextInput name="path" label={words.path} placeholder="/v2.1/transaction" defaultValue={search.path ?? ''} />
      }
      chosen={chosen}
      onSearched={(form) => onChosen({ ...base, ...readFilterFields(form, { names: fields, times }) })}
      onCleared={() => onChosen(base)}
    >
      <SimpleGrid cols={{ base: 1, xs: 2, md: 3, lg: 5 }} spacing="sm">
        <NativeSelect
          name="status"
          label={words.status}
          data={[{ value: '', label: 'Any' }, ...Object.entries(statuses).map(([value, label]) => ({ value, label }))]}
          defaultValue={search.status ?? ''}
        />
        {keys !== undefined && search.of === undefined && (
          <NativeSelect
            name="key"
            label={words.key}
            data={[{ value: '', label: 'Any' }, ...keys.map(({ id, name }) => ({ value: id, label: name }))]}
            defaultValue={search.key ?? ''}
          />
        )}
        <TextInput name="text" label={words.text} defaultValue={search.text ?? ''} />
        {times.map((name) => (
          <TimeFilter key={name} name={name} label={words[name]} value={search[name]} />
        ))}
      </SimpleGrid>
    </FilterBar>
  );
}

/** Those who may not see keys see the calls of all of them. */
function useKeys({ of }: LogSearch) {
  const { id: workspaceId } = useWorkspace();
  const maySeeKeys = useMay('keys.read');
  const keys = useQuery({
    queryKey: ['keys', workspaceId],
    queryFn: () => consoleClient.keys.list(workspaceId),
    enabled: maySeeKeys && of === undefined,
  });
  return maySeeKeys ? (keys.data ?? []) : undefined;
}
