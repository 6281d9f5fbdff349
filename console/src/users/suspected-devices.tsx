import { Code, Stack, Text } from '@mantine/core';
import { keepPreviousData, useQuery, useQueryClient, queryOptions } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { providers } from '../api/generated/providers.ts';
import type { SuspectedDevice } from '../api/generated/users.ts';
import { consoleClient } from '../console.ts';
import { EmptyState } from '../parts/empty-state.tsx';
import { ConfirmButton } from '../parts/forms/confirm-button.tsx';
import { DataTable } from '../parts/lists/data-table.tsx';
import { Paging } from '../parts/lists/paging.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { RouteLink } from '../parts/links.tsx';
import { ToneBadge, stateWords } from '../parts/status-badge.tsx';
import { platformNames } from '../parts/text/platform-names.ts';
import { Ago } from '../parts/text/time.tsx';
import { showToast } from '../parts/toast/toast-list.ts';
import { useMay } from '../session/use-session.ts';
import { sendsOf } from './suspicion-note.tsx';

const route = getRouteApi('/w/$workspaceId/people');

/** Devices whose messages fail like those with dead tokens, with an action that keeps a device. */
export function SuspectedDevices() {
  const { workspaceId } = route.useParams();
  const { after } = route.useSearch();
  const navigate = route.useNavigate();
  const page = useQuery({
    ...suspectedDevicesQuery({ workspaceId, after }),
    placeholderData: keepPreviousData,
  });
  return (
    <Loaded query={page}>
      {({ devices, next }) => (
        <Stack gap="sm">
          {devices.length === 0 && next === null && after === undefined ? (
            <EmptyState title="No suspected devices">
              A device is listed here when its messages fail like those of a dead address while other devices of the
              same app get theirs. It leaves the audience only if that goes on for several sends over days.
            </EmptyState>
          ) : (
            <>
              <Rule device={devices[0]} />
              {devices.length > 0 && <SuspectTable devices={devices} />}
            </>
          )}
          <Paging
            after={after}
            next={next}
            onTurned={(place) =>
              void navigate({ search: { view: 'suspected', ...(place === undefined ? {} : { after: place }) } })
            }
          />
        </Stack>
      )}
    </Loaded>
  );
}

/** Explains what happens to suspected devices and what a user can do. The server supplies the numbers. */
function Rule({ device }: { device: SuspectedDevice | undefined }) {
  if (!device) return <Text size="sm">No device of this page is suspected any more.</Text>;
  const { leavesAfterSends, leavesAfterHours } = device.suspicion;
  return (
    <Text size="sm" maw={760}>
      Messages to these devices fail like those of a dead address, while other devices of the same app get theirs. After{' '}
      {leavesAfterSends} such sends over at least {leavesAfterHours} hours a device leaves the audience. A message that
      the provider accepts clears it, and so does its app when it registers the device again. Keep a device if you know
      that its address is good: it starts from zero, and one that has left is back.
    </Text>
  );
}

function SuspectTable({ devices }: { devices: SuspectedDevice[] }) {
  const { workspaceId } = route.useParams();
  const mayKeep = useMay('people.write');
  return (
    <DataTable
      label="Suspected devices"
      minWidth={860}
      rows={devices}
      keyOf={({ id }) => id}
      columns={[
        {
          key: 'user',
          title: 'User id',
          cell: ({ userId, customerId }) => (
            <RouteLink
              to="/w/$workspaceId/people/$userId"
              params={{ workspaceId, userId }}
              style={{ overflowWrap: 'anywhere' }}
            >
              {customerId}
            </RouteLink>
          ),
        },
        {
          key: 'device',
          title: 'Device',
          cell: ({ deviceId }) => <span style={{ overflowWrap: 'anywhere' }}>{deviceId}</span>,
        },
        {
          key: 'platform',
          title: 'Platform',
          cell: ({ platform, provider }) => (
            <>
              {platformNames[platform]}
              {provider && ` by ${providers[provider].short}`}
            </>
          ),
        },
        { key: 'code', title: 'Provider’s word', cell: ({ suspicion }) => <Code>{suspicion.code}</Code> },
        { key: 'sends', title: 'Failed', cell: ({ suspicion }) => sendsOf(suspicion) },
        { key: 'since', title: 'Since', cell: ({ suspicion }) => <Ago at={suspicion.since} /> },
        { key: 'last', title: 'Last', cell: ({ suspicion }) => <Ago at={suspicion.lastAt} /> },
        { key: 'audience', title: 'Audience', cell: (device) => <Audience device={device} /> },
        ...(mayKeep
          ? [{ key: 'keep', title: 'Actions', cell: (device: SuspectedDevice) => <KeepButton device={device} /> }]
          : []),
      ]}
    />
  );
}

function Audience({ device: { state, suspicion } }: { device: SuspectedDevice }) {
  if (suspicion.hasLeft) return <ToneBadge tone="failed">Left</ToneBadge>;
  if (state === 'ACTIVE') return <ToneBadge tone="going">In the audience</ToneBadge>;
  return <ToneBadge tone="still">{stateWords(state)}</ToneBadge>;
}

function KeepButton({ device: { id, userId, customerId, deviceId, suspicion } }: { device: SuspectedDevice }) {
  const { workspaceId } = route.useParams();
  const queries = useQueryClient();
  return (
    <ConfirmButton
      size="compact-xs"
      color="accent"
      label="Keep"
      ariaLabel={`Keep ${deviceId} of ${customerId}`}
      title={`Keep ${deviceId} of ${customerId}?`}
      hits={
        suspicion.hasLeft
          ? `It is in the audience again, and its ${suspicion.sends} failed sends are forgotten.`
          : `It stays in the audience, and its ${sendsOf(suspicion)} that failed are forgotten.`
      }
      onConfirmed={async () => {
        await consoleClient.users.changeDevice({ workspaceId, id: userId, deviceRowId: id, action: 'keep' });
        showToast({ text: `${deviceId} kept` });
        await Promise.all([
          queries.invalidateQueries({ queryKey: ['suspected-devices', workspaceId] }),
          queries.invalidateQueries({ queryKey: ['person', workspaceId, userId] }),
        ]);
      }}
    />
  );
}

/** A page of suspected devices. The newest one has the total. */
export const suspectedDevicesQuery = ({ workspaceId, after }: { workspaceId: string; after?: string | undefined }) =>
  queryOptions({
    queryKey: ['suspected-devices', workspaceId, after],
    queryFn: () => consoleClient.users.listSuspectedDevices({ workspaceId, after }),
  });
