import { Button, Card, Group, Stack, Text, TextInput, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { DeliveryExplanation } from '../api/generated/explain.ts';
import { consoleClient } from '../console.ts';
import { Loaded } from '../parts/loaded.tsx';
import { platformNames } from '../parts/platform-names.ts';
import { StatusBadge } from '../parts/status-badge.tsx';
import { Time } from '../parts/time.tsx';
import { useWorkspace } from '../shell/workspace.ts';

const route = getRouteApi('/w/$workspaceId/people/$userId');
const newestCampaigns = 'newest-campaigns';

/** Answers the question support is asked, by what decided in each sending of a campaign. */
export function DidTheyGetIt({ customerId }: { customerId: string }) {
  const { id: workspaceId } = useWorkspace();
  const { campaign = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const campaigns = useQuery({
    queryKey: ['newest-campaigns', workspaceId],
    queryFn: () => consoleClient.campaigns.search(workspaceId, { limit: 15, page: 1 }),
    staleTime: 60_000,
  });
  const explanation = useQuery({
    queryKey: ['explain', workspaceId, campaign, customerId],
    queryFn: () => consoleClient.deliveries.explain({ workspaceId, campaignId: campaign, customerId }),
    enabled: /^[0-9a-f]{24}$/.test(campaign),
  });
  return (
    <Card withBorder component="section" aria-labelledby="did-they-get-it">
      <Title order={2} size="h5" mb="xs" id="did-they-get-it">
        Why did this user get it or not?
      </Title>
      <form
        key={campaign}
        onSubmit={(event) => {
          event.preventDefault();
          const chosen = String(new FormData(event.currentTarget).get('campaign') ?? '').trim();
          void navigate({ search: chosen === '' ? {} : { campaign: chosen } });
        }}
      >
        <Group align="end" gap="sm">
          <TextInput
            name="campaign"
            label="Campaign id"
            description="The latest are suggested"
            pattern="[0-9a-f]{24}"
            title="24 characters of 0-9 and a-f"
            list={newestCampaigns}
            defaultValue={campaign}
            style={{ flexGrow: 1 }}
          />
          <datalist id={newestCampaigns}>
            {(campaigns.data ?? []).map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </datalist>
          <Button type="submit">Explain</Button>
        </Group>
      </form>
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
