import { Button, Code, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { UserTopic } from '../api/generated/topics.ts';
import { consoleClient } from '../console.ts';
import { Failure } from '../parts/failure.tsx';
import { DataTable } from '../parts/lists/data-table.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Section } from '../parts/section.tsx';
import { Ago } from '../parts/text/time.tsx';
import { useMay } from '../session/use-session.ts';
import { useWorkspace } from '../shell/workspace.ts';

type OfUser = { userId: string; customerId: string };

/** The topics that a user is in, and where the user chose. A workspace without topics shows nothing. */
export function UserTopics({ userId: id, customerId }: OfUser) {
  const { id: workspaceId } = useWorkspace();
  const mayChange = useMay('people.write');
  const queries = useQueryClient();
  const queryKey = ['person', workspaceId, id, 'topics'];
  const topics = useQuery({ queryKey, queryFn: () => consoleClient.users.readTopics({ workspaceId, id }) });
  const set = useMutation({
    mutationFn: ({ key, isIn }: { key: string; isIn: boolean }) =>
      consoleClient.users.setTopics({ workspaceId, id, topics: { [key]: isIn } }),
    onSuccess: (stored) => queries.setQueryData(queryKey, stored),
  });
  // Most workspaces have no topics, and a section that disappears would move what is below it.
  if (topics.isPending || topics.data?.length === 0) return null;
  return (
    <Section title="Topics">
      {set.error !== null && <Failure error={set.error} />}
      <Loaded query={topics}>
        {(rows) => (
          <DataTable
            label={`Topics of ${customerId}`}
            rows={rows}
            keyOf={({ key }) => key}
            columns={[
              {
                key: 'name',
                title: 'Topic',
                cell: ({ key, name }) => (
                  <>
                    <span dir="auto">{name}</span> <Code>{key}</Code>
                  </>
                ),
              },
              { key: 'state', title: 'In it', cell: ({ isIn }) => (isIn ? 'Yes' : 'No') },
              { key: 'since', title: 'Chosen', cell: (topic) => <Chosen topic={topic} /> },
              ...(mayChange
                ? [
                    {
                      key: 'actions',
                      title: 'Actions',
                      cell: ({ key, name, isIn }: UserTopic) => (
                        <Button
                          variant="default"
                          size="compact-xs"
                          loading={set.isPending && set.variables.key === key}
                          onClick={() => set.mutate({ key, isIn: !isIn })}
                          aria-label={isIn ? `Take out of ${name}` : `Add to ${name}`}
                        >
                          {isIn ? 'Take out' : 'Add'}
                        </Button>
                      ),
                    },
                  ]
                : []),
            ]}
          />
        )}
      </Loaded>
      {mayChange && (
        <Text size="xs" c="dimmed" mt={4}>
          Change a topic only if the user asked for it. The audit log says who did it.
        </Text>
      )}
    </Section>
  );
}

const sources: Record<NonNullable<UserTopic['source']>, string> = {
  API: 'through the API',
  APP: 'in an app or site',
  PAGE: 'on the preference page',
  CONSOLE: 'by an operator',
  IMPORT: 'in an import',
};

function Chosen({ topic: { chosenAt, source } }: { topic: UserTopic }) {
  if (chosenAt === null || source === null) return 'No choice: follows the default';
  return (
    <>
      <Ago at={chosenAt} />, {sources[source]}
    </>
  );
}
