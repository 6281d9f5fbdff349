import { Box, Group, Progress, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Overview, OverviewCampaign, RunningSend } from '../api/generated/overview.ts';
import { RouteLink } from '../parts/links.tsx';
import { formatDuration } from '../parts/text/format-time.ts';
import { Ago, Time } from '../parts/text/time.tsx';
import { useWorkspace } from '../shell/workspace.ts';
import { OverviewCard } from './overview-card.tsx';

const maxShown = 3;

/** Running, paused, next and latest sends. */
export function SendsCard({ overview }: { overview: Overview }) {
  const { running, paused, scheduled, campaigns, now } = overview;
  const { id: workspaceId } = useWorkspace();
  const sent = campaigns.filter(({ counts }) => counts.length > 0).slice(0, maxShown);
  return (
    <OverviewCard
      title="Sends"
      more={
        <RouteLink to="/w/$workspaceId/campaigns" params={{ workspaceId }} search={{}}>
          All campaigns
        </RouteLink>
      }
    >
      <Stack gap="md">
        {(running.length > 0 || paused.length > 0) && (
          <Part title="Running">
            {running.slice(0, maxShown).map((send) => (
              <Running key={send.runId} send={send} now={now} />
            ))}
            {paused.map(({ campaignId, campaignName, reason, runs, platform, waits }) => (
              <Text key={`${waits} ${platform} ${reason}`} size="sm" style={{ overflowWrap: 'anywhere' }}>
                {waits === 'all' ? 'Paused' : 'Devices wait'}: <CampaignLink id={campaignId} name={campaignName} />
                {runs > 1 && ` and ${(runs - 1).toLocaleString('en')} more sends`}: {reason}
              </Text>
            ))}
          </Part>
        )}
        <Part title="Next">
          {scheduled.length === 0 && <Text size="sm">Nothing is scheduled.</Text>}
          {scheduled.slice(0, maxShown).map(({ campaignId, campaignName, nextAt }) => (
            <Row key={campaignId} value={<Time at={nextAt} />}>
              <CampaignLink id={campaignId} name={campaignName} />
            </Row>
          ))}
        </Part>
        {sent.length > 0 && (
          <Part title="Latest">
            {sent.map((campaign) => (
              <Latest key={campaign.id} campaign={campaign} />
            ))}
          </Part>
        )}
      </Stack>
    </OverviewCard>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Box>
      <Text size="xs" c="dimmed" fw={500} mb={4}>
        {title}
      </Text>
      <Stack gap={6}>{children}</Stack>
    </Box>
  );
}

function Row({ value, children }: { value: ReactNode; children: ReactNode }) {
  return (
    <Group justify="space-between" gap="xs" wrap="nowrap" align="baseline">
      <Text size="sm" component="div" style={{ overflowWrap: 'anywhere', minWidth: 0 }}>
        {children}
      </Text>
      <Text size="xs" c="dimmed" component="div" ta="right" style={{ flex: 'none' }}>
        {value}
      </Text>
    </Group>
  );
}

function Latest({ campaign: { id, name, counts, createdAt } }: { campaign: OverviewCampaign }) {
  const accepted = counts
    .filter(({ outcome }) => outcome === 'ACCEPTED')
    .reduce((sum, { devices }) => sum + devices, 0);
  return (
    <Row
      value={
        <>
          {accepted.toLocaleString('en')} accepted, <Ago at={createdAt} />
        </>
      }
    >
      <CampaignLink id={id} name={name} />
    </Row>
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
      <Row
        value={
          audienceDevices === null
            ? startedAt === null
              ? 'Finding its audience'
              : `${done.toLocaleString('en')} sent so far`
            : `${done.toLocaleString('en')} of ${audienceDevices.toLocaleString('en')}`
        }
      >
        <CampaignLink id={campaignId} name={campaignName} />
      </Row>
      <Progress
        mt={4}
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
