import { Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { consoleClient } from '../console.ts';
import { Callbacks } from '../log/callbacks.tsx';
import { Emails } from '../log/emails.tsx';
import { Loaded } from '../parts/loaded.tsx';

type MessageLogProps = { workspaceId: string; operationIds: string[] };

/** Whom the results were told: the callbacks with every try, and the mails. */
export function MessageLog({ workspaceId, operationIds }: MessageLogProps) {
  const callbacks = useQuery({
    queryKey: ['callbacks', workspaceId],
    queryFn: () => consoleClient.messages.listCallbacks({ workspaceId }),
    refetchInterval: 5000,
  });
  const emails = useQuery({
    queryKey: ['mails', workspaceId],
    queryFn: () => consoleClient.messages.listEmails({ workspaceId }),
    refetchInterval: 5000,
  });
  return (
    <section>
      <Title order={2} size="h5" mb="xs">
        Callbacks and emails
      </Title>
      <Stack>
        <Loaded query={callbacks}>
          {({ callbacks: all }) => {
            const own = all.filter(({ operationId }) => operationId !== null && operationIds.includes(operationId));
            return own.length === 0 ? (
              <Text size="sm">No callbacks yet.</Text>
            ) : (
              <Callbacks callbacks={own} workspaceId={workspaceId} />
            );
          }}
        </Loaded>
        <Loaded query={emails}>
          {({ emails: all }) => {
            const own = all.filter(({ operationId }) => operationId !== null && operationIds.includes(operationId));
            return own.length > 0 && <Emails emails={own} />;
          }}
        </Loaded>
      </Stack>
    </section>
  );
}
