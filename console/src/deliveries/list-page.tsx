import { Anchor, Button, Stack, Text, NativeSelect, SimpleGrid, TextInput } from '@mantine/core';
import { IconBroadcast } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { CampaignPicker, useCampaignName } from '../campaigns/campaign-picker.tsx';
import { consoleClient } from '../console.ts';
import { EmptyState } from '../parts/empty-state.tsx';
import { ColumnChoice } from '../parts/lists/column-choice.tsx';
import { ListTools, readFilterFields, FilterBar } from '../parts/lists/filter-bar.tsx';
import { Paging } from '../parts/lists/paging.tsx';
import { useArrivals } from '../parts/lists/use-arrivals.ts';
import { SavedViews } from '../parts/lists/saved-views.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { RouteLink } from '../parts/links.tsx';
import { stateWords } from '../parts/status-badge.tsx';
import { formatDay } from '../parts/text/format-time.ts';
import { platformNames } from '../parts/text/platform-names.ts';
import { useWorkspace } from '../shell/workspace.ts';
import { readDeliverySearch, toDeliveryFilters, writeRow } from './delivery-search.ts';
import type { DeliverySearch } from './delivery-search.ts';
import { deliveryColumns, DeliveryTable } from './delivery-table.tsx';
import { OpenedDelivery } from './opened-delivery.tsx';

const route = getRouteApi('/w/$workspaceId/deliveries');
const liveMilliseconds = 2000;

/** Finds messages. The address holds filters, page and opened row. */
export function DeliveriesPage() {
  const { id: workspaceId } = useWorkspace();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const filters = toDeliveryFilters(search);
  // Older pages do not change.
  const isLive = search.live === 'on' && search.after === undefined;
  const found = useQuery({
    queryKey: ['deliveries', workspaceId, filters],
    queryFn: () => consoleClient.deliveries.list({ workspaceId, ...filters }),
    placeholderData: keepPreviousData,
    // Only on request: a page of a log of many millions of rows takes the database some work each time.
    refetchInterval: isLive ? liveMilliseconds : false,
  });
  const { row, after, ...chosen } = search;
  const { columns, ...others } = search;
  const arrived = useArrivals({
    of: JSON.stringify(filters),
    keys: found.isPlaceholderData ? undefined : found.data?.deliveries.map(writeRow),
  });
  return (
    <Stack gap="md">
      <PageHeader about="One line per message and device, newest first." />
      <ListTools
        filters={
          <DeliveryFilterForm
            key={JSON.stringify(chosen)}
            search={chosen}
            onChosen={(next) =>
              void navigate({
                search: { ...next, ...(columns && { columns }), ...(search.live && { live: search.live }) },
              })
            }
          />
        }
      >
        {after === undefined && <LiveButton isLive={isLive} search={search} />}
        <ColumnChoice
          of={deliveryColumns}
          asked={columns}
          onChosen={(next) => void navigate({ search: next ? { ...others, columns: next } : others })}
        />
        <SavedViews
          screen="deliveries"
          search={chosen}
          linkOf={({ search: saved, ...link }) => (
            <RouteLink
              to="/w/$workspaceId/deliveries"
              params={{ workspaceId }}
              search={readDeliverySearch(saved)}
              activeProps={{}}
              {...link}
            />
          )}
        />
      </ListTools>
      {row !== undefined && <OpenedDelivery row={row} closed={after === undefined ? chosen : { ...chosen, after }} />}
      <Loaded query={found}>
        {({ deliveries, next, keptSince }) => (
          <>
            {deliveries.length === 0 ? (
              <NoDeliveries isFiltered={Object.keys(filters).length > 0} hasMore={next !== null} />
            ) : (
              <DeliveryTable deliveries={deliveries} search={search} arrived={arrived} />
            )}
            {next === null && keptSince !== null && (
              <Text size="sm" component="div">
                The log begins on {formatDay(keptSince)} (UTC). For earlier messages, each campaign keeps the totals.
              </Text>
            )}
            <Paging
              after={after}
              next={next}
              onTurned={(place) =>
                void navigate({ search: place === undefined ? chosen : { ...chosen, after: place } })
              }
            >
              {deliveries.length > 0 && (
                <Anchor size="sm" href={fileUrlOf({ workspaceId, search })} download underline="always">
                  Download CSV (up to 10,000 rows)
                </Anchor>
              )}
            </Paging>
          </>
        )}
      </Loaded>
    </Stack>
  );
}

/** Shows the messages as they are sent, newest first. */
function LiveButton({ isLive, search }: { isLive: boolean; search: DeliverySearch }) {
  const navigate = route.useNavigate();
  const { live: _live, ...others } = search;
  return (
    <Button
      variant={isLive ? 'light' : 'default'}
      aria-pressed={isLive}
      size="xs"
      leftSection={<IconBroadcast size={14} stroke={1.6} aria-hidden />}
      onClick={() => void navigate({ search: isLive ? others : { ...others, live: 'on' }, replace: true })}
    >
      Live
    </Button>
  );
}

/** The file begins with the newest row, regardless of the page. */
function fileUrlOf({ workspaceId, search }: { workspaceId: string; search: DeliverySearch }): string {
  const { after: _after, ...filters } = toDeliveryFilters(search);
  return consoleClient.deliveries.fileUrl({ workspaceId, ...filters });
}

function NoDeliveries({ isFiltered, hasMore }: { isFiltered: boolean; hasMore: boolean }) {
  const { id: workspaceId } = useWorkspace();
  const overview = useQuery({
    queryKey: ['overview', workspaceId],
    queryFn: () => consoleClient.overview.read(workspaceId),
    staleTime: 60_000,
  });
  if (isFiltered)
    return (
      <EmptyState title="No matching messages">
        {hasMore ? 'The last 31 days were searched; older messages are a click away.' : 'Remove a filter.'}
      </EmptyState>
    );
  const command = overview.data?.curl;
  return (
    <EmptyState title="Nothing sent yet" {...(command === undefined ? {} : { command })}>
      Paste this into a terminal, and each of its messages appears here.
    </EmptyState>
  );
}

const filterOutcomes = ['ACCEPTED', 'WAITING', 'GONE', 'REJECTED', 'EXPIRED', 'FAILED', 'WITHHELD'];
const filterPlatforms = Object.entries(platformNames).map(([value, label]) => ({ value, label }));
const filterNames = {
  user: 'User id',
  campaign: 'Campaign',
  platform: 'Platform',
  outcome: 'Outcome',
  code: 'Provider code',
} as const;
const filterFields = Object.keys(filterNames) as (keyof typeof filterNames)[];

type DeliveryFilterFormProps = { search: DeliverySearch; onChosen: (search: DeliverySearch) => void };

/** The filters of the log. Submitting them changes the address. */
function DeliveryFilterForm({ search, onChosen }: DeliveryFilterFormProps) {
  const [campaign, setCampaign] = useState(search.campaign);
  const campaignName = useCampaignName(search.campaign);
  const shownOf = (key: (typeof filterFields)[number], value: string) =>
    ({
      campaign: campaignName,
      platform: filterPlatforms.find((platform) => platform.value === value)?.label,
      outcome: stateWords(value),
    })[key as string] ?? value;
  const chosen = filterFields.flatMap((key) => {
    const { [key]: value, ...others } = search;
    if (value === undefined) return [];
    return [{ name: filterNames[key], value: shownOf(key, value), onRemoved: () => onChosen(others) }];
  });
  return (
    <FilterBar
      label="Deliveries"
      field={<TextInput name="user" label={filterNames.user} defaultValue={search.user ?? ''} />}
      chosen={chosen}
      onSearched={(form) => onChosen(readFilterFields(form, { names: filterFields }))}
      onCleared={() => onChosen({})}
    >
      <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} spacing="sm">
        <CampaignPicker label={filterNames.campaign} chosen={campaign} onChosen={setCampaign} />
        <input type="hidden" name="campaign" value={campaign ?? ''} />
        <NativeSelect
          name="platform"
          label={filterNames.platform}
          data={[{ value: '', label: 'Any' }, ...filterPlatforms]}
          defaultValue={search.platform ?? ''}
        />
        <NativeSelect
          name="outcome"
          label={filterNames.outcome}
          data={[{ value: '', label: 'Any' }, ...filterOutcomes.map((value) => ({ value, label: stateWords(value) }))]}
          defaultValue={search.outcome ?? ''}
        />
        <TextInput name="code" label={filterNames.code} defaultValue={search.code ?? ''} />
      </SimpleGrid>
    </FilterBar>
  );
}
