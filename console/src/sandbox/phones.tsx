import { Button, Code, Grid, Group, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { InboxMessage } from '../api/generated/overview.ts';
import { consoleClient } from '../console.ts';
import { CopyableBlock, CopyTextButton } from '../parts/copyable.tsx';
import { DataTable } from '../parts/lists/data-table.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { messageOfInbox } from '../parts/phone/phone-message.ts';
import { Phone } from '../parts/phone/phone.tsx';
import { platformNames } from '../parts/text/platform-names.ts';
import { Ago } from '../parts/text/time.tsx';
import { useWorkspace } from '../shell/workspace.ts';
import { VirtualDevices } from './virtual-devices.tsx';

/** Messages of the simulated devices, newest first, each as its device shows it and with its payload. */
export function Phones({ workspaceId }: { workspaceId: string }) {
  const [openedId, open] = useState<string>();
  const inbox = useQuery({
    queryKey: ['inbox', workspaceId],
    queryFn: () => consoleClient.overview.readInbox({ workspaceId }),
    refetchInterval: 1000,
  });
  const overview = useQuery({
    queryKey: ['overview', workspaceId],
    queryFn: () => consoleClient.overview.read(workspaceId),
    staleTime: 60_000,
  });
  const command = overview.data?.curl;
  return (
    <>
      <VirtualDevices workspaceId={workspaceId} />
      <section>
        <Title order={2} size="h5" mb="xs">
          On the phones
        </Title>
        <Loaded query={inbox}>
          {(messages) => {
            const [newest] = messages;
            if (newest === undefined)
              return (
                <EmptyState title="Nothing has arrived yet" {...(command === undefined ? {} : { command })}>
                  Paste this into a terminal, and it arrives within a second.
                </EmptyState>
              );
            const opened = messages.find(({ id }) => id === openedId);
            return (
              <Grid gap="lg">
                <Grid.Col span={{ base: 12, lg: 8 }}>
                  <Arrived messages={messages} openedId={opened?.id} onOpened={open} />
                </Grid.Col>
                <Grid.Col span={{ base: 12, lg: 4 }}>
                  <Drawn message={opened ?? newest} />
                </Grid.Col>
                {opened && (
                  <Grid.Col span={12}>
                    <Payload message={opened} />
                  </Grid.Col>
                )}
              </Grid>
            );
          }}
        </Loaded>
      </section>
    </>
  );
}

// This many fit next to the picture of a phone.
const shownFirst = 10;

type ArrivedProps = {
  messages: InboxMessage[];
  openedId: string | undefined;
  onOpened: (id: string | undefined) => void;
};

function Arrived({ messages, openedId, onOpened }: ArrivedProps) {
  const [isWhole, showAll] = useState(false);
  return (
    <>
      <DataTable
        label="On the phones"
        minWidth={620}
        rows={isWhole ? messages : messages.slice(0, shownFirst)}
        keyOf={({ id }) => id}
        columns={[
          { key: 'at', title: 'When', cell: ({ receivedAt }) => <Ago at={receivedAt} /> },
          {
            key: 'device',
            title: 'Device',
            cell: ({ platform, deviceToken }) => (
              <>
                {platformNames[platform]}
                <Group gap={4} wrap="nowrap">
                  <Code>{shorten(deviceToken)}</Code>
                  <CopyTextButton text={deviceToken} label={`token ${shorten(deviceToken)}`} />
                </Group>
              </>
            ),
          },
          {
            key: 'message',
            title: 'Message',
            cell: ({ title, body }) => (
              <>
                <Text size="sm" fw={600} lineClamp={2}>
                  {title}
                </Text>
                <Text size="sm" lineClamp={2}>
                  {body}
                </Text>
              </>
            ),
          },
          {
            key: 'payload',
            title: 'Payload',
            cell: ({ id, title, platform }) => (
              <Button
                size="compact-xs"
                variant={openedId === id ? 'filled' : 'default'}
                aria-pressed={openedId === id}
                aria-label={`Show the payload of ${title} on ${platformNames[platform]}`}
                onClick={() => onOpened(openedId === id ? undefined : id)}
              >
                Show
              </Button>
            ),
          },
        ]}
      />
      {!isWhole && messages.length > shownFirst && (
        <Button variant="default" size="xs" mt="sm" onClick={() => showAll(true)}>
          Show all {messages.length}
        </Button>
      )}
    </>
  );
}

function Drawn({ message }: { message: InboxMessage }) {
  const { name: appName } = useWorkspace();
  return (
    <Stack
      gap="xs"
      component="article"
      aria-label={`${message.title} on ${platformNames[message.platform]}`}
      style={{ position: 'sticky', top: 72 }}
    >
      {message.screen.shownBy === 'nobody' ? (
        <Text size="sm">The app got this message, and nothing was shown.</Text>
      ) : (
        <Phone
          message={messageOfInbox(message, appName)}
          caption={
            <Text size="sm" fw={600}>
              {platformNames[message.platform]}
            </Text>
          }
        />
      )}
    </Stack>
  );
}

function Payload({ message }: { message: InboxMessage }) {
  const headers = Object.entries(message.transport).map(([name, value]) => `${name}: ${value}`);
  return (
    <Stack gap="xs">
      <CopyableBlock label="transport" text={headers.join('\n')} />
      <CopyableBlock label="screen" text={JSON.stringify(message.screen, null, 2)} />
      <CopyableBlock label="payload" text={JSON.stringify(message.payload, null, 2)} />
    </Stack>
  );
}

function shorten(token: string): string {
  return token.length > 16 ? `${token.slice(0, 9)}…${token.slice(-5)}` : token;
}
