import { Checkbox, NativeSelect, SimpleGrid, TextInput, Button, Group } from '@mantine/core';
import { FilterBar } from '../parts/lists/filter-bar.tsx';
import type { ChosenFilter } from '../parts/lists/filter-bar.tsx';
import { formatDay } from '../parts/text/format-time.ts';
import { useSession } from '../session/use-session.ts';
import type { CampaignFilters } from './campaign-filters.ts';

type CampaignFilterFormProps = { filters: CampaignFilters; onChosen: (filters: CampaignFilters) => void };

const channels: Record<string, string> = { PUSH: 'Push', EMAIL: 'Email', SMS: 'SMS' };
const types: Record<string, string> = {
  ONE_TIME: 'One time',
  PERIODIC: 'Recurring',
  EVENT_TRIGGERED: 'Event triggered',
  BUSINESS_EVENT_TRIGGERED: 'Business event triggered',
};

const words: Record<Exclude<keyof CampaignFilters, 'view' | 'page' | 'order' | 'columns'>, string> = {
  name: 'Name contains',
  tag: 'Any of these tags',
  channel: 'Channel',
  type: 'Type',
  creator: 'Created by',
  from: 'Created from',
  to: 'Created until',
  version: 'Version',
  id: 'Ids',
  children: 'Executions',
};

/** The filters of the V5 search. Submitting them changes the address; the view stays. */
export function CampaignFilterForm({ filters, onChosen }: CampaignFilterFormProps) {
  const options = (names: Record<string, string>, any: string) => [
    { value: '', label: any },
    ...Object.entries(names).map(([value, label]) => ({ value, label })),
  ];
  return (
    <FilterBar
      label="Campaigns"
      field={<TextInput name="name" label={words.name} defaultValue={filters.name ?? ''} />}
      chosen={chosenOf(filters, onChosen)}
      onSearched={(fields) => onChosen({ ...viewOf(filters), ...readFields(fields) })}
      onCleared={() => onChosen(viewOf(filters))}
    >
      <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} spacing="sm">
        <TextInput
          name="tag"
          label={words.tag}
          placeholder="spring, sale"
          defaultValue={filters.tag?.join(', ') ?? ''}
        />
        <NativeSelect
          name="channel"
          label={words.channel}
          data={options(channels, 'Push and email')}
          defaultValue={filters.channel?.[0] ?? ''}
        />
        <NativeSelect
          name="type"
          label={words.type}
          data={options(types, 'Any')}
          defaultValue={filters.type?.[0] ?? ''}
        />
        <TextInput name="creator" label={words.creator} defaultValue={filters.creator?.join(', ') ?? ''} />
        <TextInput name="from" label={`${words.from} (UTC)`} type="date" defaultValue={filters.from ?? ''} />
        <TextInput name="to" label={`${words.to} (UTC)`} type="date" defaultValue={filters.to ?? ''} />
        <TextInput name="version" label={words.version} inputMode="numeric" defaultValue={filters.version ?? ''} />
        <TextInput name="id" label={words.id} defaultValue={filters.id?.join(', ') ?? ''} />
      </SimpleGrid>
      <Checkbox
        name="children"
        mt="sm"
        label="Include executions of recurring campaigns"
        defaultChecked={filters.children === 'with'}
      />
    </FilterBar>
  );
}

function chosenOf(filters: CampaignFilters, onChosen: CampaignFilterFormProps['onChosen']): ChosenFilter[] {
  return (Object.keys(words) as (keyof typeof words)[]).flatMap((key) => {
    const { [key]: value, page: _page, ...others } = filters;
    if (value === undefined) return [];
    return [
      {
        name: words[key],
        value: [value]
          .flat()
          .map((one) => shownOf(key, one))
          .join(', '),
        onRemoved: () => onChosen(others),
      },
    ];
  });
}

/** Formats a value for its chip. */
function shownOf(key: keyof typeof words, value: string): string {
  switch (key) {
    case 'children':
      return 'Included';
    case 'channel':
      return channels[value] ?? value;
    case 'type':
      return types[value] ?? value;
    case 'from':
    case 'to':
      return /^\d{4}-\d\d-\d\d$/.test(value) ? formatDay(value) : value;
    default:
      return value;
  }
}

/** Search parameters that are not filters and stay when filters change. */
function viewOf({ view, order, columns }: CampaignFilters): CampaignFilters {
  return { ...(view && { view }), ...(order && { order }), ...(columns && { columns }) };
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

type QuickFiltersProps = { filters: CampaignFilters; onChosen: (filters: CampaignFilters) => void };
type Quick = { name: string; of: Partial<CampaignFilters> };

const dayMilliseconds = 86_400_000;

/** The most used filters, as buttons that switch them on and off. */
export function QuickFilters({ filters, onChosen }: QuickFiltersProps) {
  const { account } = useSession();
  const weekAgo = new Date(Date.now() - 6 * dayMilliseconds).toISOString().slice(0, 10);
  const quick: Quick[] = [
    { name: 'Recurring', of: { type: ['PERIODIC'] } },
    { name: 'Created by me', of: { creator: [account.name] } },
    { name: 'Last 7 days', of: { from: weekAgo } },
  ];
  return (
    <Group gap={6} role="group" aria-label="Quick filters">
      {quick.map(({ name, of }) => {
        const keys = Object.keys(of) as (keyof CampaignFilters)[];
        const isOn = keys.every((key) => JSON.stringify(filters[key]) === JSON.stringify(of[key]));
        const { page: _page, ...others } = filters;
        const without = Object.fromEntries(Object.entries(others).filter(([key]) => !(key in of)));
        return (
          <Button
            key={name}
            size="compact-sm"
            radius="xl"
            variant={isOn ? 'light' : 'default'}
            aria-pressed={isOn}
            onClick={() => onChosen(isOn ? without : { ...others, ...of })}
          >
            {name}
          </Button>
        );
      })}
    </Group>
  );
}
