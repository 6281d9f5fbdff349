import { Button, Card, Checkbox, Group, NativeSelect, SimpleGrid, TextInput } from '@mantine/core';
import type { CampaignFilters } from './campaign-filters.ts';

type CampaignFilterFormProps = { filters: CampaignFilters; onChosen: (filters: CampaignFilters) => void };

const channels = ['PUSH', 'EMAIL', 'SMS'];
const types = ['ONE_TIME', 'PERIODIC', 'EVENT_TRIGGERED', 'BUSINESS_EVENT_TRIGGERED'];

/** The filters of the V5 search. What is chosen goes into the address; the view stays as it is. */
export function CampaignFilterForm({ filters, onChosen }: CampaignFilterFormProps) {
  const options = (words: string[], any: string) => [{ value: '', label: any }, ...words];
  return (
    <Card withBorder>
      <form
        role="search"
        aria-label="Campaigns"
        onSubmit={(event) => {
          event.preventDefault();
          onChosen({ ...viewOf(filters), ...readFields(new FormData(event.currentTarget)) });
        }}
      >
        <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} spacing="sm">
          <TextInput name="name" label="Name contains" defaultValue={filters.name ?? ''} />
          <TextInput
            name="tag"
            label="Any of these tags"
            placeholder="spring, sale"
            defaultValue={filters.tag?.join(', ') ?? ''}
          />
          <NativeSelect
            name="channel"
            label="Channel"
            data={options(channels, 'Push and email')}
            defaultValue={filters.channel?.[0] ?? ''}
          />
          <NativeSelect name="type" label="Type" data={options(types, 'Any')} defaultValue={filters.type?.[0] ?? ''} />
          <TextInput name="creator" label="Created by" defaultValue={filters.creator?.join(', ') ?? ''} />
          <TextInput name="from" label="Created from (UTC)" type="date" defaultValue={filters.from ?? ''} />
          <TextInput name="to" label="Created until (UTC)" type="date" defaultValue={filters.to ?? ''} />
          <TextInput name="version" label="Version" inputMode="numeric" defaultValue={filters.version ?? ''} />
          <TextInput name="id" label="Ids" defaultValue={filters.id?.join(', ') ?? ''} />
        </SimpleGrid>
        <Checkbox
          name="children"
          mt="sm"
          label="Include executions of recurring campaigns"
          defaultChecked={filters.children === 'with'}
        />
        <Group justify="flex-end" mt="sm">
          <Button variant="default" onClick={() => onChosen(viewOf(filters))}>
            Clear
          </Button>
          <Button type="submit">Search</Button>
        </Group>
      </form>
    </Card>
  );
}

function viewOf({ view }: CampaignFilters): CampaignFilters {
  return view === undefined ? {} : { view };
}

function readFields(fields: FormData): CampaignFilters {
  const text = (name: string) => String(fields.get(name) ?? '').trim();
  const list = (name: string) =>
    text(name)
      .split(',')
      .map((word) => word.trim())
      .filter((word) => word !== '');
  const found: CampaignFilters = {};
  if (fields.get('children') !== null) found.children = 'with';
  for (const name of ['name', 'from', 'to', 'version'] as const) if (text(name) !== '') found[name] = text(name);
  for (const name of ['tag', 'channel', 'type', 'creator', 'id'] as const)
    if (list(name).length > 0) found[name] = list(name);
  return found;
}
