import { Button, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { CampaignTemplate } from '../api/generated/templates.ts';
import { consoleClient } from '../console.ts';
import { EmptyState } from '../parts/empty-state.tsx';
import { Failure } from '../parts/failure.tsx';
import { ConfirmButton } from '../parts/forms/confirm-button.tsx';
import { NameButton } from '../parts/forms/name-button.tsx';
import { DataTable } from '../parts/lists/data-table.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { PageHeader } from '../parts/page-header.tsx';
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
            <TemplateTable templates={list} />
          )
        }
      </Loaded>
    </Stack>
  );
}

function TemplateTable({ templates }: { templates: CampaignTemplate[] }) {
  const mayWrite = useMay('campaigns.write');
  return (
    <DataTable
      label="Templates"
      minWidth={820}
      rows={templates}
      keyOf={({ id }) => id}
      columns={[
        {
          key: 'name',
          title: 'Name',
          cell: ({ name, request }) => (
            <>
              <Text size="sm" fw={500} style={{ overflowWrap: 'anywhere' }}>
                {name}
              </Text>
              <Text size="xs" c="dimmed" lineClamp={1} maw={320}>
                {firstTitle(request)}
              </Text>
            </>
          ),
        },
        { key: 'platforms', title: 'Platforms', cell: ({ request }) => platformsOf(request) },
        { key: 'schedule', title: 'Schedule', cell: ({ request }) => describeSchedule(request) },
        {
          key: 'made',
          title: 'Saved',
          cell: ({ createdAt, createdBy }) => (
            <>
              <Ago at={createdAt} />
              <Text size="xs" c="dimmed">
                by {createdBy}
              </Text>
            </>
          ),
        },
        ...(mayWrite
          ? [
              {
                key: 'actions',
                title: 'Actions',
                cell: (template: CampaignTemplate) => <TemplateActions template={template} />,
              },
            ]
          : []),
      ]}
    />
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

function firstTitle(request: Record<string, unknown>): string {
  const [platform] = sentMessages(request)[0]?.platforms ?? [];
  const { title } = members(platform?.content.basic_details);
  return typeof title === 'string' ? title : 'No message yet';
}
