import type { CampaignBody } from '@carillon/client';
import { Button, Card, Group, Progress, Stack, Table, Text, Title } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { AudienceCount, CampaignFault, Reach } from '../../api/generated/composer.ts';
import { consoleClient } from '../../console.ts';
import { Definition } from '../../parts/text/definition.tsx';
import { Failure } from '../../parts/failure.tsx';
import { Notice } from '../../parts/notice.tsx';
import { platformNames } from '../../parts/text/platform-names.ts';
import { placeText } from '../../segments/filter/filter-tree.ts';
import { useWorkspace } from '../../shell/workspace.ts';
import { platforms, platformsOf, sentBody } from '../campaign-body.ts';
import type { Platform } from '../campaign-body.ts';
import { sentence, useCampaignForm } from '../campaign-form.ts';
import { filterFault } from './filter-audience.tsx';

const number = (count: number) => count.toLocaleString('en');

/** Counts the users of the audience, those with a reachable device, and the reasons for the rest. */
export function AudienceCountCard() {
  const count = useAudienceCount();
  return (
    <Card withBorder style={{ position: 'sticky', top: 72 }} role="region" aria-label="Who would be reached now">
      <Stack gap="sm" aria-busy={count.isFetching}>
        <Group justify="space-between">
          <Title order={2} size="h5">
            Who would be reached now
          </Title>
          <Button size="compact-xs" variant="default" loading={count.isFetching} onClick={() => void count.refetch()}>
            Count again
          </Button>
        </Group>
        {count.error !== null && <Failure error={count.error} what="The count failed" />}
        {count.data && <Counted count={count.data} />}
      </Stack>
    </Card>
  );
}

function Counted({ count }: { count: AudienceCount }) {
  const { body, check } = useCampaignForm();
  const chosen = platformsOf(body);
  if (count.state === 'TOO_SLOW')
    return (
      <Notice tone="warning" title={`Counting took longer than ${count.afterSeconds} s`}>
        The audience is too large to count while you wait. You can still send the campaign; its report shows the number.
      </Notice>
    );
  if (count.state === 'UNREADABLE') {
    const fault = count.faults[0] ?? check?.faults.find(filterFault);
    return <Text size="sm">{fault === undefined ? 'Choose an audience to see its size.' : faultText(fault)}</Text>;
  }
  const { users, reached } = reachOf(count, chosen);
  return (
    <>
      {count.pending.map((reason) => (
        <Notice key={reason} tone="warning">
          {sentence(reason)}.
        </Notice>
      ))}
      <div>
        <Text fz={28} fw={600} lh="36px" data-count="reached">
          {number(reached)}
        </Text>
        <Text size="sm">
          of {number(users)} {users === 1 ? 'person' : 'people'} would get it
        </Text>
      </div>
      <Progress value={users === 0 ? 0 : (reached / users) * 100} aria-label="Part of the people who would get it" />
      <DeviceTable count={count} chosen={chosen} />
      <Reasons count={count} chosen={chosen} />
    </>
  );
}

/** Describes a fault. A fault of filters begins with the name of its condition. */
function faultText(fault: CampaignFault): string {
  const inFilters = filterFault(fault);
  return inFilters === undefined ? sentence(fault.issue) : `${placeText(inFilters)}${inFilters.words}.`;
}

type CountedProps = { count: Extract<AudienceCount, { state: 'COUNTED' }>; chosen: Platform[] };

function DeviceTable({ count, chosen }: CountedProps) {
  const of = (platform: Platform, state: string) =>
    count.devices.find((row) => row.platform === platform && row.state === state)?.devices ?? 0;
  const columns = [
    ['ACTIVE', 'Reachable'],
    ['OPTED_OUT', 'Opted out'],
    ['BLOCKED', 'Blocked'],
    ['GONE', 'Gone'],
  ] as const;
  return (
    <Table.ScrollContainer type="native" minWidth={300} tabIndex={0} role="region" aria-label="Devices per platform">
      <Table verticalSpacing={4} horizontalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Devices</Table.Th>
            {columns.map(([state, word]) => (
              <Table.Th key={state} scope="col" ta="right">
                <Definition word={word} />
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {platforms.map((platform) => (
            <Table.Tr key={platform} data-platform={platform}>
              <Table.Td>
                {platformNames[platform]}
                {!chosen.includes(platform) && (
                  <Text size="xs" c="dimmed">
                    Not chosen
                  </Text>
                )}
              </Table.Td>
              {columns.map(([state]) => (
                <Table.Td
                  key={state}
                  ta="right"
                  data-state={state}
                  {...(of(platform, state) === 0 && { c: 'var(--mantine-color-placeholder)' })}
                >
                  {number(of(platform, state))}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

const reasons: Record<Exclude<Reach, 'REACHED'>, (count: string, chosen: string) => string> = {
  NO_DEVICE: (count) => `${count} have no known device`,
  TOPIC_OPTED_OUT: (count) => `${count} left the topic`,
  TOPIC_NOT_OPTED_IN: (count) => `${count} have not joined the topic`,
  OTHER_PLATFORM: (count, chosen) => `${count} can be reached, but not on ${chosen}`,
  OPTED_OUT: (count) => `${count} turned messages off`,
  BLOCKED: (count) => `${count} have only devices that are blocked`,
  GONE: (count) => `${count} have only devices whose app is gone`,
};

function Reasons({ count, chosen }: CountedProps) {
  const names = chosen.map((platform) => platformNames[platform]).join(' or ');
  const rows = count.users.filter((row) => row.reach !== 'REACHED' && row.users > 0);
  if (rows.length === 0) return null;
  return (
    <div>
      <Text size="sm" fw={600}>
        Why others would not
      </Text>
      <Text size="sm" component="ul" my={4} pl="lg">
        {rows.map((row) => (
          <li key={row.reach}>{reasons[row.reach as Exclude<Reach, 'REACHED'>](number(row.users), names)}</li>
        ))}
      </Text>
      <Text size="xs" c="dimmed">
        Everybody counts once, by their best device. Frequency caps and quiet hours are applied to each when the
        campaign is sent.
      </Text>
    </div>
  );
}

const settleMilliseconds = 400;
// The count is the most expensive of these requests, and the audience changes slowly.
const freshMilliseconds = 30_000;

/** Counts the users that the campaign would reach now. Repeats the count after a change of audience or platforms. */
export function useAudienceCount() {
  const { id: workspaceId } = useWorkspace();
  const { body } = useCampaignForm();
  const asked = JSON.stringify(
    sentBody({
      basic_details: { platforms: platformsOf(body) },
      segmentation_details: body.segmentation_details ?? {},
      ...(body.advanced?.topic === undefined ? {} : { advanced: { topic: body.advanced.topic } }),
    }),
  );
  const [settled] = useDebouncedValue(asked, settleMilliseconds);
  return useQuery<AudienceCount>({
    queryKey: ['audience-count', workspaceId, settled],
    queryFn: ({ signal }) =>
      consoleClient.composer.countAudience({ workspaceId, campaign: JSON.parse(settled) as CampaignBody, signal }),
    placeholderData: keepPreviousData,
    staleTime: freshMilliseconds,
  });
}

export type Reached = ReturnType<typeof reachOf>;

/**
 * The users of the audience, those who would get the message, and how many are outside its topic. `devices`: those of the chosen
 * platforms that accept messages, of users in the topic or not.
 */
export function reachOf(count: Extract<AudienceCount, { state: 'COUNTED' }>, platforms: readonly string[]) {
  const users = count.users.reduce((sum, row) => sum + row.users, 0);
  const reached = count.users.find(({ reach }) => reach === 'REACHED')?.users ?? 0;
  const devices = count.devices
    .filter(({ platform, state }) => state === 'ACTIVE' && platforms.includes(platform))
    .reduce((sum, row) => sum + row.devices, 0);
  const outsideTopic = count.users
    .filter(({ reach }) => reach === 'TOPIC_OPTED_OUT' || reach === 'TOPIC_NOT_OPTED_IN')
    .reduce((sum, row) => sum + row.users, 0);
  return { users, reached, devices, outsideTopic };
}
