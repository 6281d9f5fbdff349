import { Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { consoleClient } from '../console.ts';
import { Callbacks } from '../log/callbacks.tsx';
import { Emails } from '../log/emails.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Section } from '../parts/section.tsx';

/** Whom the results of a segment's files were told: the callbacks with every try, and the emails. */
export function MessageLog({ workspaceId, segmentId }: { workspaceId: string; segmentId: string }) {
  const callbacks = useQuery({
    queryKey: ['callbacks', workspaceId, segmentId],
    queryFn: () => consoleClient.messages.listCallbacks({ workspaceId, segmentId }),
    refetchInterval: 5000,
  });
  const emails = useQuery({
    queryKey: ['mails', workspaceId, segmentId],
    queryFn: () => consoleClient.messages.listEmails({ workspaceId, segmentId }),
    refetchInterval: 5000,
  });
  return (
    <Stack gap="lg">
      <Section title="Callbacks">
        <Loaded query={callbacks}>
          {({ callbacks: own }) =>
            own.length === 0 ? (
              <Text size="sm">No callback was asked for.</Text>
            ) : (
              <Callbacks callbacks={own} workspaceId={workspaceId} />
            )
          }
        </Loaded>
      </Section>
      <Section title="Emails">
        <Loaded query={emails}>
          {({ emails: own }) =>
            own.length === 0 ? <Text size="sm">No email was asked for.</Text> : <Emails emails={own} />
          }
        </Loaded>
      </Section>
    </Stack>
  );
}
