import { Box, Button, Card, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { CampaignTemplate } from '../api/generated/templates.ts';
import { consoleClient } from '../console.ts';
import { EmptyState } from '../parts/empty-state.tsx';
import { Failure } from '../parts/failure.tsx';
import { ConfirmButton } from '../parts/forms/confirm-button.tsx';
import { NameButton } from '../parts/forms/name-button.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { messageOfContent } from '../parts/phone/phone-message.ts';
import { Phone } from '../parts/phone/phone.tsx';
import { platformNames } from '../parts/text/platform-names.ts';
import { Ago } from '../parts/text/time.tsx';
import { showToast } from '../parts/toast/toast-list.ts';
import { Waiting } from '../parts/waiting.tsx';
import { useMay } from '../session/use-session.ts';
import { useWorkspace } from '../shell/workspace.ts';
import { describeSchedule } from './report/describe-schedule.ts';
import { members, sentMessages } from './report/sent-messages.ts';

/** Campaigns that are stored as templates for new drafts. */
export function TemplatesPage() {
  const { id: workspaceId } = useWorkspace();
  const templates = useQuery({
    queryKey: ['templates', workspaceId],
    queryFn: () => consoleClient.templates.list(workspaceId),
  });
  return (
    <Stack gap="md">
      <PageHeader about="A template keeps the message, audience, schedule and goals of a campaign. Using it creates a draft." />
      <Loaded query={templates} waiting={<Waiting rows={5} />}>
        {(list) =>
          list.length === 0 ? (
            <EmptyState title="No templates yet">
              Open a campaign that you want to use again, and choose “Save as template”.
            </EmptyState>
          ) : (
            <TemplateCards templates={list} />
          )
        }
      </Loaded>
    </Stack>
  );
}

function TemplateCards({ templates }: { templates: CampaignTemplate[] }) {
  return (
    <SimpleGrid component="ul" cols={{ base: 1, sm: 2, lg: 3 }} spacing="md" m={0} p={0} aria-label="Templates">
      {templates.map((template) => (
        <TemplateCard key={template.id} template={template} />
      ))}
    </SimpleGrid>
  );
}

/** A template with its first message as a phone shows it. */
function TemplateCard({ template }: { template: CampaignTemplate }) {
  const { name, request, createdAt, createdBy } = template;
  const { name: appName } = useWorkspace();
  const mayWrite = useMay('campaigns.write');
  const [first] = sentMessages(request)[0]?.platforms ?? [];
  const title = (
    <Title order={2} size="h5" style={{ overflowWrap: 'anywhere' }}>
      {name}
    </Title>
  );
  return (
    <Card withBorder component="li" style={{ listStyle: 'none' }}>
      {first === undefined ? (
        <>
          {title}
          <Text size="sm">No message yet.</Text>
        </>
      ) : (
        <Phone
          message={messageOfContent({
            platform: first.platform,
            content: { ...first.content, basic_details: members(first.content.basic_details) },
            appName,
          })}
          caption={title}
        />
      )}
      <Text size="sm" mt="sm">
        {describeSchedule(request)}
      </Text>
      <Text size="xs" c="dimmed" mb="sm" component="div">
        {platformsOf(request)} · saved <Ago at={createdAt} /> by {createdBy}
      </Text>
      {mayWrite && (
        <Box mt="auto">
          <TemplateActions template={template} />
        </Box>
      )}
    </Card>
  );
}

function TemplateActions({ template: { id, name } }: { template: CampaignTemplate }) {
  const { id: workspaceId } = useWorkspace();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const renew = () => queries.invalidateQueries({ queryKey: ['templates', workspaceId] });
  const use = useMutation({
    mutationFn: () => consoleClient.templates.use({ workspaceId, id }),
    onSuccess: (draft) =>
      navigate({
        to: '/w/$workspaceId/campaigns/$campaignId/edit',
        params: { workspaceId, campaignId: draft.id },
        search: {},
      }),
  });
  return (
    <>
      <Group gap="xs" wrap="nowrap">
        <Button size="xs" loading={use.isPending} onClick={() => use.mutate()} aria-label={`Use ${name}`}>
          Use
        </Button>
        <NameButton
          label="Rename"
          ariaLabel={`Rename ${name}`}
          title={`Rename “${name}”`}
          field="Name of the template"
          initial={name}
          size="xs"
          onNamed={async (next) => {
            await consoleClient.templates.rename({ workspaceId, id, name: next });
            await renew();
            showToast({
              text: `Renamed to “${next}”`,
              undo: async () => {
                await consoleClient.templates.rename({ workspaceId, id, name });
                await renew();
              },
            });
          }}
        />
        <ConfirmButton
          label="Delete"
          ariaLabel={`Delete ${name}`}
          title={`Delete “${name}”?`}
          hits="Campaigns made from it stay as they are. This cannot be undone."
          size="xs"
          onConfirmed={async () => {
            await consoleClient.templates.remove({ workspaceId, id });
            await renew();
            showToast({ text: `“${name}” is deleted` });
          }}
        />
      </Group>
      {use.error !== null && <Failure error={use.error} />}
    </>
  );
}

function platformsOf(request: Record<string, unknown>): string {
  const { platforms } = members(request.basic_details);
  const names = (Array.isArray(platforms) ? platforms : []).map(
    (platform) => platformNames[platform as keyof typeof platformNames],
  );
  return names.length === 0 ? '–' : names.join(', ');
}
