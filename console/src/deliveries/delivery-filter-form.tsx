import { Button, Card, Group, NativeSelect, SimpleGrid, TextInput } from '@mantine/core';
import { platformNames } from '../parts/platform-names.ts';
import type { DeliverySearch } from './delivery-search.ts';

const outcomes = ['ACCEPTED', 'WAITING', 'GONE', 'REJECTED', 'EXPIRED', 'FAILED', 'WITHHELD'];
const fields = ['campaign', 'user', 'platform', 'outcome', 'code'] as const;

type DeliveryFilterFormProps = { search: DeliverySearch; onChosen: (search: DeliverySearch) => void };

/** The filters of the log. What is chosen goes into the address. */
export function DeliveryFilterForm({ search, onChosen }: DeliveryFilterFormProps) {
  const platforms = Object.entries(platformNames).map(([value, label]) => ({ value, label }));
  return (
    <Card withBorder>
      <form
        role="search"
        aria-label="Deliveries"
        onSubmit={(event) => {
          event.preventDefault();
          onChosen(readFields(new FormData(event.currentTarget)));
        }}
      >
        <SimpleGrid cols={{ base: 1, xs: 2, md: 5 }} spacing="sm">
          <TextInput
            name="campaign"
            label="Campaign id"
            pattern="[0-9a-f]{24}"
            title="24 characters of 0-9 and a-f"
            defaultValue={search.campaign ?? ''}
          />
          <TextInput name="user" label="User id" defaultValue={search.user ?? ''} />
          <NativeSelect
            name="platform"
            label="Platform"
            data={[{ value: '', label: 'Any' }, ...platforms]}
            defaultValue={search.platform ?? ''}
          />
          <NativeSelect
            name="outcome"
            label="Outcome"
            data={[{ value: '', label: 'Any' }, ...outcomes]}
            defaultValue={search.outcome ?? ''}
          />
          <TextInput name="code" label="Provider's code" defaultValue={search.code ?? ''} />
        </SimpleGrid>
        <Group justify="flex-end" mt="sm">
          <Button variant="default" onClick={() => onChosen({})}>
            Clear
          </Button>
          <Button type="submit">Search</Button>
        </Group>
      </form>
    </Card>
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
