import { Button, Checkbox, NativeSelect, Popover, Stack } from '@mantine/core';
import { IconColumns3 } from '@tabler/icons-react';
import { campaignColumns, usualColumns } from './campaign-filters.ts';
import type { CampaignColumn, CampaignFilters } from './campaign-filters.ts';

type ListOptionsProps = { filters: CampaignFilters; onChosen: (filters: CampaignFilters) => void };

/** The order of the list. An index has it by when campaigns were made, both ways; by nothing else. */
export function ListOrder({ filters, onChosen }: ListOptionsProps) {
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

/** Which columns the list has. */
export function ListColumns({ filters, onChosen }: ListOptionsProps) {
  const { columns = usualColumns, ...others } = filters;
  const choose = (column: CampaignColumn, isShown: boolean) => {
    const next = (Object.keys(campaignColumns) as CampaignColumn[]).filter((one) =>
      one === column ? isShown : columns.includes(one),
    );
    const isUsual = next.join() === usualColumns.join();
    onChosen(isUsual || next.length === 0 ? others : { ...others, columns: next });
  };
  return (
    <Popover position="bottom-end" withinPortal={false} trapFocus>
      <Popover.Target>
        <Button variant="default" size="xs" leftSection={<IconColumns3 size={14} stroke={1.6} aria-hidden />}>
          Columns
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="xs" role="group" aria-label="Columns shown">
          {(Object.keys(campaignColumns) as CampaignColumn[]).map((column) => (
            <Checkbox
              key={column}
              size="xs"
              label={campaignColumns[column]}
              checked={columns.includes(column)}
              onChange={({ currentTarget }) => choose(column, currentTarget.checked)}
            />
          ))}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
