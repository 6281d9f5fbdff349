import { Loader, Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { consoleClient } from '../console.ts';
import { formatDay } from '../parts/text/format-time.ts';
import { useWorkspace } from '../shell/workspace.ts';

type CampaignPickerProps = {
  label: string;
  /** The id of the chosen campaign. */
  chosen: string | undefined;
  /** The id of a campaign that is not offered. */
  except?: string;
  onChosen: (id: string | undefined) => void;
};

const settleMilliseconds = 250;
const maxOffered = 15;
const isId = /^[0-9a-f]{24}$/;

/** Finds a campaign by part of its name or by its id. Before the user types, it offers the newest campaigns. */
export function CampaignPicker({ label, chosen, except, onChosen }: CampaignPickerProps) {
  const { id: workspaceId } = useWorkspace();
  const chosenName = useCampaignName(chosen);
  const [written, setWritten] = useState('');
  // If the field shows the name of the chosen campaign, the user is not searching.
  const [name] = useDebouncedValue(written === chosenName ? '' : written.trim(), settleMilliseconds);
  const found = useQuery({
    queryKey: ['campaign-names', workspaceId, name],
    queryFn: () =>
      consoleClient.campaigns.search(workspaceId, {
        ...{ limit: maxOffered, page: 1 },
        // A pasted id matches exactly one campaign.
        ...(name === '' ? {} : { campaign_fields: isId.test(name) ? { ids: [name] } : { name } }),
      }),
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  });
  const offered = (found.data ?? [])
    .filter(({ id }) => id !== except && id !== chosen)
    .map((campaign) => ({
      value: campaign.id,
      label: `${campaign.name} · ${formatDay(campaign.createdAt.slice(0, 10))}`,
    }));
  const own = chosen === undefined ? [] : [{ value: chosen, label: chosenName ?? chosen }];
  return (
    <Select
      label={label}
      placeholder="Type a part of its name"
      searchable
      clearable
      clearButtonProps={{ 'aria-label': `Clear ${label}` }}
      value={chosen ?? null}
      data={[...own, ...offered]}
      // The server filters, so the list shows every result.
      filter={({ options }) => options}
      searchValue={written}
      onSearchChange={setWritten}
      onChange={(id) => onChosen(id ?? undefined)}
      nothingFoundMessage={found.isFetching ? 'Searching' : 'No matching campaigns'}
      rightSection={found.isFetching && written !== '' ? <Loader size={14} /> : undefined}
      maxDropdownHeight={280}
      // Renders the list inside the page, where a card does not clip it.
      comboboxProps={{ shadow: 'md', transitionProps: { duration: 0 }, portalProps: { target: '#main' } }}
    />
  );
}

/**
 * Returns the name of the campaign with this id; undefined while it loads, or if there is no such campaign.
 */
export function useCampaignName(id: string | undefined): string | undefined {
  const { id: workspaceId } = useWorkspace();
  const report = useQuery({
    queryKey: ['campaign', workspaceId, id],
    queryFn: () => consoleClient.campaigns.read({ workspaceId, id: id! }),
    enabled: id !== undefined,
    staleTime: 60_000,
  });
  return report.data?.campaign.name;
}
