import { Anchor, Stack, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { consoleClient } from '../console.ts';
import { ColumnChoice } from '../parts/column-choice.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { ListTools } from '../parts/list-tools.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Paging } from '../parts/paging.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { RouteLink } from '../parts/route-link.tsx';
import { SavedViews } from '../parts/saved-views.tsx';
import { useWorkspace } from '../shell/workspace.ts';
import { DeliveryFilterForm } from './delivery-filter-form.tsx';
import { deliveryColumns } from './delivery-columns.ts';
import { readDeliverySearch, toDeliveryFilters } from './delivery-search.ts';
import type { DeliverySearch } from './delivery-search.ts';
import { DeliveryTable } from './delivery-table.tsx';
import { OpenedDelivery } from './opened-delivery.tsx';
import { formatDay } from '../parts/format-time.ts';

const route = getRouteApi('/w/$workspaceId/deliveries');

/** Traces any message. The address holds filters, page and the open row. */
export function DeliveriesPage() {
  const { id: workspaceId } = useWorkspace();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const filters = toDeliveryFilters(search);
  const found = useQuery({
    queryKey: ['deliveries', workspaceId, filters],
    queryFn: () => consoleClient.deliveries.list({ workspaceId, ...filters }),
    placeholderData: keepPreviousData,
  });
  const { row, after, ...chosen } = search;
  const { columns, ...others } = search;
  return (
    <Stack gap="md">
      <PageHeader title="Delivery log" about="One line per message and device, newest first." />
      <ListTools
        filters={
          <DeliveryFilterForm
            key={JSON.stringify(chosen)}
            search={chosen}
            onChosen={(next) => void navigate({ search: columns ? { ...next, columns } : next })}
          />
        }
      >
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
              <DeliveryTable deliveries={deliveries} search={search} />
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

/** The file begins with the newest, whichever page is shown. */
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
