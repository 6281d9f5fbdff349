import { Group, NativeSelect, SegmentedControl, Stack, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { ReportedDevice } from '../../api/generated/deliveries.ts';
import { consoleClient } from '../../console.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { DataTable } from '../../parts/lists/data-table.tsx';
import { Paging } from '../../parts/lists/paging.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { RouteLink } from '../../parts/links.tsx';
import { platformNames } from '../../parts/text/platform-names.ts';
import { Ago } from '../../parts/text/time.tsx';
import type { ReportSearch } from './report-search.ts';

const route = getRouteApi('/w/$workspaceId/campaigns/$campaignId');

type ReportsTabProps = { platforms: readonly (keyof typeof platformNames)[] };

/** Lists the devices that reported the message as shown or clicked. */
export function ReportsTab({ platforms }: ReportsTabProps) {
  const { workspaceId, campaignId: id } = route.useParams();
  const { kind = 'CLICK', platform, after, ...others } = route.useSearch();
  const navigate = route.useNavigate();
  const go = (next: ReportSearch) => void navigate({ search: { ...others, ...next } });
  const ofPlatform = platform === undefined ? {} : { platform };
  const reports = useQuery({
    queryKey: ['campaign-reports', workspaceId, id, kind, platform, after],
    queryFn: () => consoleClient.deliveries.listReports({ workspaceId, id, kind, platform, after }),
    placeholderData: keepPreviousData,
  });
  return (
    <Stack gap="md">
      <Group gap="sm" justify="space-between" align="flex-end">
        <SegmentedControl
          aria-label="Reported as"
          transitionDuration={0}
          value={kind}
          data={[
            { value: 'CLICK', label: 'Clicked' },
            { value: 'IMPRESSION', label: 'Shown' },
          ]}
          onChange={(next) => go({ ...ofPlatform, kind: next as 'CLICK' | 'IMPRESSION' })}
        />
        {platforms.length > 1 && (
          <NativeSelect
            label="Platform"
            value={platform ?? ''}
            data={[{ value: '', label: 'Any' }, ...platforms.map((value) => ({ value, label: platformNames[value] }))]}
            onChange={({ currentTarget: { value } }) =>
              go({ kind, ...(value !== '' && { platform: value as keyof typeof platformNames }) })
            }
          />
        )}
      </Group>
      <Loaded query={reports}>
        {({ devices, next }) =>
          devices.length === 0 ? (
            <EmptyState title={kind === 'CLICK' ? 'No clicks reported yet' : 'Nothing reported as shown yet'}>
              Apps report which messages were shown and clicked. The installation deletes old reports.
            </EmptyState>
          ) : (
            <>
              <ReportTable devices={devices} />
              <Paging
                after={after}
                next={next}
                onTurned={(place) => go({ ...ofPlatform, kind, ...(place !== undefined && { after: place }) })}
              >
                <Text size="sm" c="dimmed">
                  Not sorted by time.
                </Text>
              </Paging>
            </>
          )
        }
      </Loaded>
    </Stack>
  );
}

function ReportTable({ devices }: { devices: ReportedDevice[] }) {
  const { workspaceId, campaignId } = route.useParams();
  return (
    <DataTable
      label="Reports of devices"
      minWidth={680}
      rows={devices}
      keyOf={({ deviceRowId, runId }) => `${deviceRowId} ${runId}`}
      columns={[
        {
          key: 'user',
          title: 'User id',
          cell: ({ userId, customerId }) =>
            userId === null ? (
              'removed since'
            ) : (
              <RouteLink
                to="/w/$workspaceId/people/$userId"
                params={{ workspaceId, userId }}
                search={{ campaign: campaignId }}
              >
                {customerId ?? userId}
              </RouteLink>
            ),
        },
        {
          key: 'device',
          title: 'Device',
          cell: ({ platform, deviceId }) => `${platformNames[platform]}, ${deviceId ?? 'removed since'}`,
        },
        { key: 'at', title: 'First', cell: ({ at }) => <Ago at={at} /> },
        { key: 'times', title: 'Reports', isNumber: true, cell: ({ times }) => times.toLocaleString('en') },
        { key: 'action', title: 'Button', cell: ({ action }) => action ?? '–' },
      ]}
    />
  );
}
