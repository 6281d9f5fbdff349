import { NativeSelect, SimpleGrid, TextInput } from '@mantine/core';
import { useState } from 'react';
import { CampaignPicker } from '../campaigns/campaign-picker.tsx';
import { useCampaignName } from '../campaigns/use-campaign-name.ts';
import { readFilterFields } from '../parts/filter-fields.tsx';
import { FilterBar } from '../parts/filter-bar.tsx';
import { platformNames } from '../parts/platform-names.ts';
import type { DeliverySearch } from './delivery-search.ts';
import { stateWords } from '../parts/status-badge.tsx';

const outcomes = ['ACCEPTED', 'WAITING', 'GONE', 'REJECTED', 'EXPIRED', 'FAILED', 'WITHHELD'];
const platforms = Object.entries(platformNames).map(([value, label]) => ({ value, label }));
const words = {
  user: 'User id',
  campaign: 'Campaign',
  platform: 'Platform',
  outcome: 'Outcome',
  code: 'Provider code',
} as const;
const fields = Object.keys(words) as (keyof typeof words)[];

type DeliveryFilterFormProps = { search: DeliverySearch; onChosen: (search: DeliverySearch) => void };

/** The filters of the log. What is chosen goes into the address. */
export function DeliveryFilterForm({ search, onChosen }: DeliveryFilterFormProps) {
  const [campaign, setCampaign] = useState(search.campaign);
  const campaignName = useCampaignName(search.campaign);
  const shownOf = (key: (typeof fields)[number], value: string) =>
    ({
      campaign: campaignName,
      platform: platforms.find((platform) => platform.value === value)?.label,
      outcome: stateWords(value),
    })[key as string] ?? value;
  const chosen = fields.flatMap((key) => {
    const { [key]: value, ...others } = search;
    if (value === undefined) return [];
    return [{ name: words[key], value: shownOf(key, value), onRemoved: () => onChosen(others) }];
  });
  return (
    <FilterBar
      label="Deliveries"
      field={<TextInput name="user" label={words.user} defaultValue={search.user ?? ''} />}
      chosen={chosen}
      onSearched={(form) => onChosen(readFilterFields(form, { names: fields }))}
      onCleared={() => onChosen({})}
    >
      <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} spacing="sm">
        <CampaignPicker label={words.campaign} chosen={campaign} onChosen={setCampaign} />
        <input type="hidden" name="campaign" value={campaign ?? ''} />
        <NativeSelect
          name="platform"
          label={words.platform}
          data={[{ value: '', label: 'Any' }, ...platforms]}
          defaultValue={search.platform ?? ''}
        />
        <NativeSelect
          name="outcome"
          label={words.outcome}
          data={[{ value: '', label: 'Any' }, ...outcomes.map((value) => ({ value, label: stateWords(value) }))]}
          defaultValue={search.outcome ?? ''}
        />
        <TextInput name="code" label={words.code} defaultValue={search.code ?? ''} />
      </SimpleGrid>
    </FilterBar>
  );
}
