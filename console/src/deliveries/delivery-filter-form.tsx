import { NativeSelect, SimpleGrid, TextInput } from '@mantine/core';
import { FilterBar } from '../parts/filter-bar.tsx';
import { platformNames } from '../parts/platform-names.ts';
import type { DeliverySearch } from './delivery-search.ts';

const outcomes = ['ACCEPTED', 'WAITING', 'GONE', 'REJECTED', 'EXPIRED', 'FAILED', 'WITHHELD'];
const words = {
  user: 'User id',
  campaign: 'Campaign id',
  platform: 'Platform',
  outcome: 'Outcome',
  code: 'Provider’s code',
} as const;
const fields = Object.keys(words) as (keyof typeof words)[];

type DeliveryFilterFormProps = { search: DeliverySearch; onChosen: (search: DeliverySearch) => void };

/** The filters of the log. What is chosen goes into the address. */
export function DeliveryFilterForm({ search, onChosen }: DeliveryFilterFormProps) {
  const platforms = Object.entries(platformNames).map(([value, label]) => ({ value, label }));
  const chosen = fields.flatMap((key) => {
    const { [key]: value, ...others } = search;
    return value === undefined ? [] : [{ name: words[key], value, onRemoved: () => onChosen(others) }];
  });
  return (
    <FilterBar
      label="Deliveries"
      field={<TextInput name="user" label={words.user} defaultValue={search.user ?? ''} />}
      chosen={chosen}
      onSearched={(form) => onChosen(readFields(form))}
      onCleared={() => onChosen({})}
    >
      <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} spacing="sm">
        <TextInput
          name="campaign"
          label={words.campaign}
          pattern="[0-9a-f]{24}"
          title="24 characters of 0-9 and a-f"
          defaultValue={search.campaign ?? ''}
        />
        <NativeSelect
          name="platform"
          label={words.platform}
          data={[{ value: '', label: 'Any' }, ...platforms]}
          defaultValue={search.platform ?? ''}
        />
        <NativeSelect
          name="outcome"
          label={words.outcome}
          data={[{ value: '', label: 'Any' }, ...outcomes]}
          defaultValue={search.outcome ?? ''}
        />
        <TextInput name="code" label={words.code} defaultValue={search.code ?? ''} />
      </SimpleGrid>
    </FilterBar>
  );
}

function readFields(form: FormData): DeliverySearch {
  return Object.fromEntries(
    fields.flatMap((name) => {
      const text = String(form.get(name) ?? '').trim();
      return text === '' ? [] : [[name, text]];
    }),
  );
}
