import { Box, Card, Group, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { DeliveryExplanation } from '../api/generated/explain.ts';
import { CampaignPicker } from '../campaigns/campaign-picker.tsx';
import { consoleClient } from '../console.ts';
import { Loaded } from '../parts/loaded.tsx';
import { platformNames } from '../parts/text/platform-names.ts';
import { StatusBadge } from '../parts/status-badge.tsx';
import { Time } from '../parts/text/time.tsx';
import { useWorkspace } from '../shell/workspace.ts';

const route = getRouteApi('/w/$workspaceId/people/$userId');

/** Explains for each run why a user got a campaign or not. */
export function DidTheyGetIt({ customerId }: { customerId: string }) {
  const { id: workspaceId } = useWorkspace();
  const { campaign = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const explanation = useQuery({
    queryKey: ['explain', workspaceId, campaign, customerId],
    queryFn: () => consoleClient.deliveries.explain({ workspaceId, campaignId: campaign, customerId }),
    enabled: /^[0-9a-f]{24}$/.test(campaign),
  });
  return (
    <Card withBorder component="section" aria-labelledby="did-they-get-it">
      <Title order={2} size="h5" mb="xs" id="did-they-get-it">
        Did they get it, and why?
      </Title>
      <Box maw={520}>
        <CampaignPicker
          label="Campaign"
          chosen={campaign === '' ? undefined : campaign}
          onChosen={(id) => void navigate({ search: id === undefined ? {} : { campaign: id } })}
        />
      </Box>
      {explanation.fetchStatus !== 'idle' || explanation.isFetched ? (
        <Loaded query={explanation}>{(data) => <Explained explanation={data} />}</Loaded>
      ) : null}
    </Card>
  );
}

function Explained({ explanation: { campaign, explanation, runs } }: { explanation: DeliveryExplanation }) {
  return (
    <Stack gap="sm" mt="md" aria-live="polite">
      <Text fw={600}>{campaign.name}</Text>
      {runs.length === 0 && <Text size="sm">{explanation}</Text>}
      {runs.map((run) => (
        <div key={run.runId}>
          <Text size="sm" component="div">
            <Time at={run.createdAt} />: {run.explanation}
          </Text>
          {run.devices.map((device, number) => (
            <Group key={device.deviceId ?? number} gap="xs" mt={4} ml="md">
              <StatusBadge status={device.step} />
              <Text size="sm" component="div">
                {platformNames[device.platform]}, {device.deviceId ?? 'removed since'}: {device.explanation}
                {device.at !== null && (
                  <>
                    {' '}
                    (<Time at={device.at} />)
                  </>
                )}
              </Text>
            </Group>
          ))}
        </div>
      ))}
    </Stack>
  );
}
