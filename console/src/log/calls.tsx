import { Checkbox, Code, Group, NativeSelect, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { LoggedCall } from '../api/generated/call.ts';
import { consoleClient } from '../console.ts';
import { DataTable } from '../parts/data-table.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Paging } from '../parts/paging.tsx';
import { RouteLink } from '../parts/route-link.tsx';
import { StatusBadge } from '../parts/status-badge.tsx';
import { Time } from '../parts/time.tsx';
import { useMay } from '../session/use-session.ts';
import { useWorkspace } from '../shell/workspace.ts';
import type { LogSearch } from './log-search.ts';
import { OpenedCall } from './opened-call.tsx';

const route = getRouteApi('/w/$workspaceId/log');

/** Calls of the API, newest first, each with why it was refused. */
export function Calls({ search }: { search: LogSearch }) {
  const { id: workspaceId } = useWorkspace();
  const navigate = route.useNavigate();
  const { call, after, ...chosen } = search;
  const filters = after === undefined ? chosen : { ...chosen, after };
  const found = useQuery({
    queryKey: ['calls', workspaceId, filters],
    queryFn: () => consoleClient.calls.list({ workspaceId, ...filters }),
    placeholderData: keepPreviousData,
    // A page of the past stays as it is.
    refetchInterval: after === undefined ? 3000 : false,
  });
  return (
    <>
      <Group align="end" gap="md">
        <Checkbox
          label="Refused calls only"
          checked={search.only === 'refused'}
          onChange={(event) => {
            const { only: _only, ...rest } = chosen;
            void navigate({ search: event.currentTarget.checked ? { ...rest, only: 'refused' } : rest });
          }}
        />
        <KeyFilter search={chosen} />
      </Group>
      {call !== undefined && <OpenedCall id={call} closed={filters} />}
      <Loaded query={found}>
        {({ calls, next }) => (
          <>
            {calls.length === 0 ? <NoCalls search={filters} /> : <CallTable calls={calls} search={search} />}
            <Paging
              after={after}
              next={next}
              onTurned={(place) =>
                void navigate({ search: place === undefined ? chosen : { ...chosen, after: place } })
              }
            />
          </>
        )}
      </Loaded>
    </>
  );
}

/** Those who may not see keys see the calls of all of them. */
function KeyFilter({ search }: { search: LogSearch }) {
  const { id: workspaceId } = useWorkspace();
  const navigate = route.useNavigate();
  const maySeeKeys = useMay('keys.read');
  const keys = useQuery({
    queryKey: ['keys', workspaceId],
    queryFn: () => consoleClient.keys.list(workspaceId),
    enabled: maySeeKeys,
  });
  if (!maySeeKeys || search.of === 'nobody') return null;
  return (
    <NativeSelect
      label="Key"
      data={[{ value: '', label: 'Any' }, ...(keys.data ?? []).map(({ id, name }) => ({ value: id, label: name }))]}
      value={search.key ?? ''}
      onChange={(event) => {
        const { key: _key, ...rest } = search;
        const { value } = event.currentTarget;
        void navigate({ search: value === '' ? rest : { ...rest, key: value } });
      }}
    />
  );
}

function CallTable({ calls, search }: { calls: LoggedCall[]; search: LogSearch }) {
  const { id: workspaceId } = useWorkspace();
  return (
    <DataTable
      label="Calls"
      minWidth={860}
      rows={calls}
      keyOf={({ id }) => id}
      columns={[
        {
          key: 'at',
          title: 'When',
          cell: ({ id, receivedAt }) => (
            <RouteLink
              to="/w/$workspaceId/log"
              params={{ workspaceId }}
              search={{ ...search, call: id }}
              activeProps={{}}
              aria-current={search.call === id}
            >
              <Time at={receivedAt} />
            </RouteLink>
          ),
        },
        {
          key: 'call',
          title: 'Call',
          cell: ({ method, path }) => (
            <Code style={{ overflowWrap: 'anywhere' }}>
              {method} {path}
            </Code>
          ),
        },
        {
          key: 'answer',
          title: 'Answer',
          cell: ({ status, errorName, errorText }) => (
            <>
              <Text size="sm">
                {status} {errorName !== null && <StatusBadge status="REFUSED" />}
              </Text>
              {errorName !== null && <Text size="xs">{errorText ?? errorName}</Text>}
            </>
          ),
        },
        { key: 'key', title: 'Key', cell: ({ keyName }) => keyName ?? '–' },
        {
          key: 'took',
          title: 'Took',
          isNumber: true,
          cell: ({ durationMilliseconds }) => `${Math.round(durationMilliseconds)} ms`,
        },
      ]}
    />
  );
}

function NoCalls({ search }: { search: LogSearch }) {
  const { id: workspaceId } = useWorkspace();
  const overview = useQuery({
    queryKey: ['overview', workspaceId],
    queryFn: () => consoleClient.overview.read(workspaceId),
    staleTime: 60_000,
  });
  if (Object.keys(search).length > 0) return <EmptyState title="No matching calls" />;
  const command = overview.data?.curl;
  return (
    <EmptyState title="No calls yet" {...(command === undefined ? {} : { command })}>
      Paste this into a terminal, and the call appears here within a second.
    </EmptyState>
  );
}
