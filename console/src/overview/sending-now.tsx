import { Box, Group, Progress, Stack, Text } from '@mantine/core';
import type { Overview, RunningSend } from '../api/generated/overview.ts';
import { formatDuration } from '../parts/format-duration.ts';
import { RouteLink } from '../parts/route-link.tsx';
import { Time } from '../parts/time.tsx';
import { useWorkspace } from '../shell/workspace.ts';
import { OverviewCard } from './overview-card.tsx';

/** What is being sent, what is paused, what comes next. */
export function SendingNow({ overview }: { overview: Overview }) {
  const { running, paused, scheduled, now } = overview;
  const { id: workspaceId } = useWorkspace();
  return (
    <OverviewCard
      title="Sending now"
      more={
        <RouteLink to="/w/$workspaceId/campaigns" params={{ workspaceId }} search={{}}>
          All campaigns
        </RouteLink>
      }
    >
      <Stack gap="md">
        {running.length === 0 && <Text size="sm">No campaign is being sent.</Text>}
        {running.map((send) => (
          <Running key={send.runId} send={send} now={now} />
        ))}
        {paused.map(({ campaignId, campaignName, reason, runs, platform, waits }) => (
          <Text key={`${waits} ${platform} ${reason}`} size="sm" style={{ overflowWrap: 'anywhere' }}>
            {waits === 'all' ? 'Paused' : 'Devices wait'}: <CampaignLink id={campaignId} name={campaignName} />
            {runs > 1 && ` and ${(runs - 1).toLocaleString('en')} more sends`}: {reason}
          </Text>
        ))}
        {scheduled.length > 0 && (
          <Box>
            <Text size="sm" fw={600} mb={4}>
              Next
            </Text>
            <Stack gap={4}>
              {scheduled.map(({ campaignId, campaignName, nextAt }) => (
                <Text key={campaignId} size="sm" component="div" style={{ overflowWrap: 'anywhere' }}>
                  <CampaignLink id={campaignId} name={campaignName} />, <Time at={nextAt} />
                </Text>
              ))}
            </Stack>
          </Box>
        )}
      </Stack>
    </OverviewCard>
  );
}

function CampaignLink({ id, name }: { id: string; name: string }) {
  const { id: workspaceId } = useWorkspace();
  return (
    <RouteLink to="/w/$workspaceId/campaigns/$campaignId" params={{ workspaceId, campaignId: id }}>
      {name}
    </RouteLink>
  );
}

function Running({ send, now }: { send: RunningSend; now: string }) {
  const { campaignId, campaignName, audienceDevices, accepted, notDelivered, startedAt } = send;
  const done = accepted + notDelivered;
  const seconds = startedAt === null ? 0 : (Date.parse(now) - Date.parse(startedAt)) / 1000;
  const rate = seconds > 0 ? done / seconds : 0;
  const left = audienceDevices === null ? 0 : Math.max(0, audienceDevices - done);
  return (
    <Box>
      <Group justify="space-between" gap="xs" mb={4}>
        <Text size="sm" style={{ overflowWrap: 'anywhere', minWidth: 0 }}>
          <CampaignLink id={campaignId} name={campaignName} />
        </Text>
        <Text size="sm">
          {audienceDevices === null
            ? 'Finding its audience'
            : `${done.toLocaleString('en')} of ${audienceDevices.toLocaleString('en')}`}
        </Text>
      </Group>
      <Progress
        value={audienceDevices ? Math.min(100, (done / audienceDevices) * 100) : 0}
        aria-label={`Devices of ${campaignName} that are processed`}
        animated
      />
      {rate >= 1 && (
        <Text size="xs" mt={4}>
          {Math.round(rate).toLocaleString('en')} a second
          {left > 0 && `, about ${formatDuration((left / rate) * 1000)} to go`}
        </Text>
      )}
    </Box>
  );
}
