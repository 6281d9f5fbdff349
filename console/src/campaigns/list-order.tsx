import { NativeSelect } from '@mantine/core';
import type { CampaignFilters } from './campaign-filters.ts';

type ListOrderProps = { filters: CampaignFilters; onChosen: (filters: CampaignFilters) => void };

/** The order of the list. An index has it by when campaigns were made, both ways; by nothing else. */
export function ListOrder({ filters, onChosen }: ListOrderProps) {
  const { order, page: _page, ...others } = filters;
  return (
    <NativeSelect
      aria-label="Order"
      size="xs"
      value={order ?? 'newest'}
      data={[
        { value: 'newest', label: 'Newest first' },
        { value: 'oldest', label: 'Oldest first' },
      ]}
      onChange={({ currentTarget: { value } }) =>
        onChosen(value === 'oldest' ? { ...others, order: 'oldest' } : others)
      }
    />
  );
}
