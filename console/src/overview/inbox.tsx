import { Badge, Card, Group, SimpleGrid, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { InboxMessage } from '../api/generated/overview.ts';
import { consoleClient } from '../console.ts';
import { platformNames } from '../parts/text/platform-names.ts';
import { Ago } from '../parts/text/time.tsx';

/** Messages of the simulated phones, newest first. */
export function Inbox({ workspaceId }: { workspaceId: string }) {
  const inbox = useQuery({
    queryKey: ['inbox', workspaceId],
    queryFn: () => consoleClient.overview.readInbox({ workspaceId }),
    refetchInterval: 1000,
  });
  const messages = inbox.data ?? [];
  return (
    <section aria-label="Inbox of the simulated devices">
      <Title order={2} size="h5" mb="sm">
        On the phones
      </Title>
      {messages.length === 0 ? (
        <Text size="sm">Pushes to simulated devices appear here within a second.</Text>
      ) : (
        <SimpleGrid cols={{ base: 1, sm: 2, md: 3 }} aria-live="polite">
          {messages.slice(0, 3).map((message) => (
            <InboxNotification key={message.id} message={message} />
          ))}
        </SimpleGrid>
      )}
    </section>
  );
}

/** A message as its platform shows it: the app above on phones, the site below in browsers. */
function InboxNotification({ message }: { message: InboxMessage }) {
  const isBrowser = message.platform === 'WEB';
  const source = isBrowser ? 'Via your browser' : 'Your app';
  return (
    <Card withBorder shadow="sm" radius={message.platform === 'IOS' ? 'lg' : 'md'} padding="sm">
      <Group justify="space-between" gap="xs" mb={4}>
        <Badge>{platformNames[message.platform]}</Badge>
        <Text size="xs" c="dimmed" component="div">
          {isBrowser ? '' : `${source} · `}
          <Ago at={message.receivedAt} />
        </Text>
      </Group>
      <Text fw={600} size="sm" lineClamp={1}>
        {message.title}
      </Text>
      <Text size="sm" lineClamp={3}>
        {message.body}
      </Text>
      {isBrowser && (
        <Text size="xs" c="dimmed">
          {source}
        </Text>
      )}
    </Card>
  );
}
