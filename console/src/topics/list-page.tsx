import { Code, Group, Stack, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { Topic } from '../api/generated/topics.ts';
import { consoleClient } from '../console.ts';
import { EmptyState } from '../parts/empty-state.tsx';
import { ConfirmButton } from '../parts/forms/confirm-button.tsx';
import { DataTable } from '../parts/lists/data-table.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { showToast } from '../parts/toast/toast-list.ts';
import { Waiting } from '../parts/waiting.tsx';
import { useMay } from '../session/use-session.ts';
import { useWorkspace } from '../shell/workspace.ts';
import { ChangeTopicButton, NewTopicButton } from './topic-dialog.tsx';

/** The topics that users can join or leave. */
export function TopicsPage() {
  const { id: workspaceId } = useWorkspace();
  const queries = useQueryClient();
  const mayWrite = useMay('campaigns.write');
  const queryKey = ['topics', workspaceId];
  const topics = useQuery({ queryKey, queryFn: () => consoleClient.topics.list(workspaceId) });
  const onChanged = async () => {
    await queries.invalidateQueries({ queryKey });
    // The composer offers the topics.
    await queries.invalidateQueries({ queryKey: ['composer', workspaceId] });
  };
  return (
    <Stack gap="lg">
      <PageHeader
        about="People choose which topics they get: in your app, on the preference page, or through your server. A campaign that names a topic reaches only the people in it."
        actions={mayWrite && <NewTopicButton onChanged={onChanged} />}
      />
      <Loaded query={topics} waiting={<Waiting rows={3} />}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState title="No topics yet">
              Add one for each kind of message that users may not want, such as offers or news. Messages that they need,
              such as order updates, have no topic.
            </EmptyState>
          ) : (
            <TopicTable topics={rows} onChanged={onChanged} />
          )
        }
      </Loaded>
    </Stack>
  );
}

function TopicTable({ topics, onChanged }: { topics: Topic[]; onChanged: () => Promise<unknown> }) {
  const mayWrite = useMay('campaigns.write');
  return (
    <DataTable
      label="Topics"
      minWidth={760}
      rows={topics}
      keyOf={({ key }) => key}
      columns={[
        {
          key: 'name',
          title: 'Topic',
          cell: ({ name, description }) => (
            <>
              <Text size="sm" fw={500} dir="auto" style={{ overflowWrap: 'anywhere' }}>
                {name}
              </Text>
              <Text size="xs" c="dimmed" dir="auto" style={{ overflowWrap: 'anywhere' }}>
                {description}
              </Text>
            </>
          ),
        },
        { key: 'key', title: 'Key', cell: ({ key }) => <Code>{key}</Code> },
        { key: 'default', title: 'Who is in it', cell: ({ isInByDefault }) => defaultText(isInByDefault) },
        { key: 'position', title: 'Position', isNumber: true, cell: ({ position }) => position },
        ...(mayWrite
          ? [
              {
                key: 'actions',
                title: 'Actions',
                cell: (topic: Topic) => (
                  <Group gap="xs" wrap="nowrap">
                    <ChangeTopicButton topic={topic} onChanged={onChanged} />
                    <DeleteButton topic={topic} onChanged={onChanged} />
                  </Group>
                ),
              },
            ]
          : []),
      ]}
    />
  );
}

function defaultText(isInByDefault: boolean): string {
  return isInByDefault ? 'Everyone who did not leave' : 'Only people who joined';
}

function DeleteButton({ topic: { key, name }, onChanged }: { topic: Topic; onChanged: () => Promise<unknown> }) {
  const { id: workspaceId } = useWorkspace();
  return (
    <ConfirmButton
      label="Delete"
      ariaLabel={`Delete ${name}`}
      title={`Delete “${name}”?`}
      hits={
        <>
          The topic disappears from apps and from the preference page, and what users chose about it is deleted. Drafts
          that name it cannot be published until they name another topic or none. A new topic with the key {key} starts
          without choices. While a campaign that names it is scheduled or sends, the topic cannot be deleted. This
          cannot be undone.
        </>
      }
      size="compact-xs"
      onConfirmed={async () => {
        await consoleClient.topics.remove({ workspaceId, key });
        await onChanged();
        showToast({ text: `“${name}” is deleted` });
      }}
    />
  );
}
