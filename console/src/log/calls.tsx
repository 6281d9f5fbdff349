import { Box, Code, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { CallPage, LoggedCall } from '../api/generated/calls.ts';
import { consoleClient } from '../console.ts';
import { ColumnChoice } from '../parts/column-choice.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { ListTools } from '../parts/list-tools.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Paging } from '../parts/paging.tsx';
import { RouteLink } from '../parts/route-link.tsx';
import { SavedViews } from '../parts/saved-views.tsx';
import { shownColumns } from '../parts/shown-columns.ts';
import { Ago } from '../parts/ago.tsx';
import { Time } from '../parts/time.tsx';
import { useWorkspace } from '../shell/workspace.ts';
import { CallFilterForm } from './call-filter-form.tsx';
import { CallStatus } from './call-status.tsx';
import styles from './calls.module.css';
import { callColumns } from './call-columns.ts';
import type { CallColumn } from './call-columns.ts';
import { readLogSearch } from './log-search.ts';
import type { LogSearch } from './log-search.ts';
import { OpenedCall } from './opened-call.tsx';

const route = getRouteApi('/w/$workspaceId/log');

/** Calls of the API, newest first, each with why it was refused; one that is open stands beside them where there is room. */
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
    // A page of the past stays as it is.
    refetchInterval: after === undefined ? 3000 : false,
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
                  <CallTable calls={page.calls} search={search} />
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

function CallTable({ calls, search }: { calls: LoggedCall[]; search: LogSearch }) {
  const { id: workspaceId } = useWorkspace();
  const isBeside = search.call !== undefined;
  const columns = isBeside ? [] : shownColumns(search.columns, callColumns);
  return (
    <DataTable
      label="Calls"
      minWidth={340 + columns.length * 175}
      rows={calls}
      keyOf={({ id }) => id}
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
