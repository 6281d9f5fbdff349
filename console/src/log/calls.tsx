import { Box, Code, Text, NativeSelect, SimpleGrid, TextInput } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { CallPage, LoggedCall } from '../api/generated/calls.ts';
import { consoleClient } from '../console.ts';
import { EmptyState } from '../parts/empty-state.tsx';
import { ColumnChoice, shownColumns } from '../parts/lists/column-choice.tsx';
import type { ColumnSet } from '../parts/lists/column-choice.tsx';
import { DataTable } from '../parts/lists/data-table.tsx';
import { ListTools, readFilterFields, TimeFilter, timeFilterText, FilterBar } from '../parts/lists/filter-bar.tsx';
import { Paging } from '../parts/lists/paging.tsx';
import { useArrivals } from '../parts/lists/use-arrivals.ts';
import { SavedViews } from '../parts/lists/saved-views.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { RouteLink } from '../parts/links.tsx';
import { Ago, Time } from '../parts/text/time.tsx';
import { useMay } from '../session/use-session.ts';
import { useWorkspace } from '../shell/workspace.ts';
import styles from './calls.module.css';
import { readLogSearch } from './log-search.ts';
import type { LogSearch } from './log-search.ts';
import { CallStatus, OpenedCall } from './opened-call.tsx';

const route = getRouteApi('/w/$workspaceId/log');

/** API calls, newest first, with the reason of each error. On wide screens the opened call is next to the list. */
export function Calls({ search }: { search: LogSearch }) {
  const { id: workspaceId } = useWorkspace();
  const navigate = route.useNavigate();
  const { call, after, ...chosen } = search;
  const shown = after === undefined ? chosen : { ...chosen, after };
  const { columns, ...filters } = shown;
  const { columns: _columns, ...others } = search;
  const found = useQuery({
    queryKey: ['calls', workspaceId, filters],
    queryFn: () => consoleClient.calls.list({ workspaceId, ...filters }),
    placeholderData: keepPreviousData,
    // Older pages do not change.
    refetchInterval: after === undefined ? 3000 : false,
  });
  const arrived = useArrivals({
    of: JSON.stringify(filters),
    keys: found.isPlaceholderData ? undefined : found.data?.calls.map(({ id }) => id),
  });
  return (
    <>
      <ListTools
        filters={
          <CallFilterForm
            key={JSON.stringify(chosen)}
            search={chosen}
            onChosen={(next) => void navigate({ search: next })}
          />
        }
      >
        <ColumnChoice
          of={callColumns}
          asked={columns}
          onChosen={(next) => void navigate({ search: next ? { ...others, columns: next } : others })}
        />
        <SavedViews
          screen="calls"
          search={chosen}
          linkOf={({ search: saved, ...link }) => (
            <RouteLink
              to="/w/$workspaceId/log"
              params={{ workspaceId }}
              search={readLogSearch(saved)}
              activeProps={{}}
              {...link}
            />
          )}
        />
      </ListTools>
      <Box className={call === undefined ? undefined : styles.beside}>
        <Box style={{ minWidth: 0 }}>
          <Loaded query={found}>
            {(page) => (
              <>
                {page.calls.length === 0 ? (
                  <NoCalls search={filters} page={page} />
                ) : (
                  <CallTable calls={page.calls} search={search} arrived={arrived} />
                )}
                {page.searchedUntil !== null && (
                  <Text size="sm" component="div" mt="xs">
                    Searched back to <Time at={page.searchedUntil} />; “Older” searches on.
                  </Text>
                )}
                <Box mt="md">
                  <Paging
                    after={after}
                    next={page.next}
                    onTurned={(place) =>
                      void navigate({ search: place === undefined ? chosen : { ...chosen, after: place } })
                    }
                  />
                </Box>
              </>
            )}
          </Loaded>
        </Box>
        {call !== undefined && (
          <Box className={styles.opened}>
            <OpenedCall id={call} closed={shown} />
          </Box>
        )}
      </Box>
    </>
  );
}

type CallTableProps = { calls: LoggedCall[]; search: LogSearch; arrived: ReadonlySet<string> };

function CallTable({ calls, search, arrived }: CallTableProps) {
  const { id: workspaceId } = useWorkspace();
  const isBeside = search.call !== undefined;
  const columns = isBeside ? [] : shownColumns(search.columns, callColumns);
  return (
    <DataTable
      label="Calls"
      minWidth={340 + columns.length * 175}
      rows={calls}
      keyOf={({ id }) => id}
      arrived={arrived}
      columns={[
        { key: 'answer', title: 'Status', cell: (call) => <CallStatus call={call} /> },
        {
          key: 'call',
          title: 'Call',
          cell: ({ id, method, path, errorName, errorText, receivedAt }) => (
            <>
              <RouteLink
                to="/w/$workspaceId/log"
                params={{ workspaceId }}
                search={{ ...search, call: id }}
                resetScroll={false}
                activeProps={{}}
                aria-current={search.call === id}
              >
                <Code style={{ overflowWrap: 'anywhere', background: 'none', padding: 0 }}>
                  {method} {path}
                </Code>
              </RouteLink>
              {errorName !== null && (
                <Text size="xs" c="dimmed">
                  {errorText ?? errorName}
                </Text>
              )}
              {isBeside && (
                <Text size="xs" c="dimmed" component="div">
                  <Ago at={receivedAt} />
                </Text>
              )}
            </>
          ),
        },
        ...columns.map((column) => ({
          key: column,
          title: callColumns.names[column],
          isNumber: column === 'took',
          cell: cells[column],
        })),
      ]}
    />
  );
}

const cells: Record<CallColumn, (call: LoggedCall) => ReactNode> = {
  key: ({ keyName }) => keyName ?? '–',
  took: ({ durationMilliseconds }) => `${Math.round(durationMilliseconds)} ms`,
  at: ({ receivedAt }) => <Ago at={receivedAt} />,
  route: ({ route: path }) => <Code style={{ overflowWrap: 'anywhere' }}>{path}</Code>,
  warnings: ({ warnings }) =>
    warnings.length === 0 ? '–' : <span style={{ overflowWrap: 'anywhere' }}>{warnings.join('; ')}</span>,
};

function NoCalls({ search, page }: { search: LogSearch; page: CallPage }) {
  const { id: workspaceId } = useWorkspace();
  const isFiltered = Object.keys(search).length > 0;
  const overview = useQuery({
    queryKey: ['overview', workspaceId],
    queryFn: () => consoleClient.overview.read(workspaceId),
    staleTime: 60_000,
    enabled: !isFiltered,
  });
  if (isFiltered) return <EmptyState title={page.next === null ? 'No matching calls' : 'None among these calls'} />;
  const command = overview.data?.curl;
  return (
    <EmptyState title="No calls yet" {...(command === undefined ? {} : { command })}>
      Paste this into a terminal, and the call appears here within a second.
    </EmptyState>
  );
}

type CallColumn = 'key' | 'took' | 'at' | 'route' | 'warnings';

/** Optional columns, in addition to status and path. */
const callColumns: ColumnSet<CallColumn> = {
  names: { key: 'Key', took: 'Took', at: 'When', route: 'Route', warnings: 'Warnings' },
  usual: ['key', 'took', 'at'],
};

const statuses = {
  '2xx': 'Succeeded (2xx)',
  '3xx': 'Redirected (3xx)',
  '4xx': 'Refused (4xx)',
  '5xx': 'Failed (5xx)',
} as const;
const filterNames = {
  path: 'Path',
  status: 'Status',
  key: 'Key',
  text: 'Id or text',
  from: 'From (UTC)',
  before: 'Before (UTC)',
} as const;
const filterFields = Object.keys(filterNames) as (keyof typeof filterNames)[];

const timeFields = ['from', 'before'] as const;

type CallFilterFormProps = { search: LogSearch; onChosen: (search: LogSearch) => void };

/** The filters of the calls. Submitting them changes the address. */
function CallFilterForm({ search, onChosen }: CallFilterFormProps) {
  const keys = useKeys(search);
  // The view and the columns are not filters, so they stay.
  const { of, only, columns } = search;
  const base: LogSearch = { ...(of && { of }), ...(only && { only }), ...(columns && { columns }) };
  const chosen = filterFields.flatMap((field) => {
    const { [field]: value, ...others } = search;
    if (value === undefined) return [];
    const shown =
      field === 'key'
        ? (keys?.find(({ id }) => id === value)?.name ?? value)
        : field === 'status'
          ? (statuses[value as keyof typeof statuses] ?? value)
          : field === 'from' || field === 'before'
            ? timeFilterText(value)
            : value;
    return [{ name: filterNames[field], value: shown, onRemoved: () => onChosen(others) }];
  });
  return (
    <FilterBar
      label="Calls"
      field={
        <TextInput
          name="path"
          label={filterNames.path}
          placeholder="/v2.1/transaction"
          defaultValue={search.path ?? ''}
        />
      }
      chosen={chosen}
      onSearched={(form) =>
        onChosen({ ...base, ...readFilterFields(form, { names: filterFields, times: timeFields }) })
      }
      onCleared={() => onChosen(base)}
    >
      <SimpleGrid cols={{ base: 1, xs: 2, md: 3, lg: 5 }} spacing="sm">
        <NativeSelect
          name="status"
          label={filterNames.status}
          data={[{ value: '', label: 'Any' }, ...Object.entries(statuses).map(([value, label]) => ({ value, label }))]}
          defaultValue={search.status ?? ''}
        />
        {keys !== undefined && search.of === undefined && (
          <NativeSelect
            name="key"
            label={filterNames.key}
            data={[{ value: '', label: 'Any' }, ...keys.map(({ id, name }) => ({ value: id, label: name }))]}
            defaultValue={search.key ?? ''}
          />
        )}
        <TextInput name="text" label={filterNames.text} defaultValue={search.text ?? ''} />
        {timeFields.map((name) => (
          <TimeFilter key={name} name={name} label={filterNames[name]} value={search[name]} />
        ))}
      </SimpleGrid>
    </FilterBar>
  );
}

/** Users who may not see keys see the calls of all keys. */
function useKeys({ of }: LogSearch) {
  const { id: workspaceId } = useWorkspace();
  const maySeeKeys = useMay('keys.read');
  const keys = useQuery({
    queryKey: ['keys', workspaceId],
    queryFn: () => consoleClient.keys.list(workspaceId),
    enabled: maySeeKeys && of === undefined,
  });
  return maySeeKeys ? (keys.data ?? []) : undefined;
}
