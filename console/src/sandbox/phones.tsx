import { Button, Code, Group, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { InboxMessage } from '../api/generated/overview.ts';
import { consoleClient } from '../console.ts';
import { CopyableBlock, CopyTextButton } from '../parts/copyable.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { platformNames } from '../parts/platform-names.ts';
import { Time } from '../parts/time.tsx';
import { VirtualDevices } from './virtual-devices.tsx';

/** What arrived on the simulated devices, newest first, and the payload as the device got it. */
export function Phones({ workspaceId }: { workspaceId: string }) {
  const [opened, open] = useState<InboxMessage>();
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
          {(messages) =>
            messages.length === 0 ? (
              <EmptyState title="Nothing has arrived yet" {...(command === undefined ? {} : { command })}>
                Paste this into a terminal, and it arrives within a second.
              </EmptyState>
            ) : (
              <DataTable
                label="On the phones"
                minWidth={760}
                rows={messages}
                keyOf={({ id }) => id}
                columns={[
                  { key: 'at', title: 'When', cell: ({ receivedAt }) => <Time at={receivedAt} /> },
                  {
                    key: 'device',
                    title: 'Device',
                    cell: ({ platform, deviceToken }) => (
                      <Group gap="xs" wrap="nowrap">
                        {platformNames[platform]} <Code>{shorten(deviceToken)}</Code>
                        <CopyTextButton text={deviceToken} label={`token ${shorten(deviceToken)}`} />
                      </Group>
                    ),
                  },
                  {
                    key: 'message',
                    title: 'Message',
                    cell: ({ title, body }) => (
                      <>
                        <Text size="sm" fw={600}>
                          {title}
                        </Text>
                        <Text size="sm">{body}</Text>
                      </>
                    ),
                  },
                  {
                    key: 'payload',
                    title: 'Payload',
                    cell: (message) => (
                      <Button
                        size="compact-xs"
                        variant="default"
                        aria-label={`Payload of ${message.title} on ${platformNames[message.platform]}`}
                        onClick={() => open(opened?.id === message.id ? undefined : message)}
                      >
                        Show
                      </Button>
                    ),
                  },
                ]}
              />
            )
          }
        </Loaded>
        {opened && (
          <CopyableBlock
            label="transport"
            text={Object.entries(opened.transport)
              .map(([name, value]) => `${name}: ${value}`)
              .join('\n')}
          />
        )}
        {opened && <CopyableBlock label="screen" text={JSON.stringify(opened.screen, null, 2)} />}
        {opened && <CopyableBlock label="payload" text={JSON.stringify(opened.payload, null, 2)} />}
      </section>
    </>
  );
}

function shorten(token: string): string {
  return token.length > 24 ? `${token.slice(0, 16)}…${token.slice(-6)}` : token;
}
