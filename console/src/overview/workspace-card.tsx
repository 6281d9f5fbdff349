import { Anchor, Card, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Overview } from '../api/generated/overview.ts';
import { Copyable } from '../parts/copyable.tsx';

export function WorkspaceCard({ overview }: { overview: Overview }) {
  const { workspace, url } = overview;
  return (
    <Card withBorder>
      <Title order={2} size="h5" mb="sm">
        Workspace {workspace.name}
      </Title>
      <Stack gap="xs">
        <Entry name="Workspace id">
          <Copyable text={workspace.id} label="workspace id" />
        </Entry>
        <Entry name="Database name">
          <Copyable text={workspace.dbName} label="database name" />
        </Entry>
        <Entry name="API base">
          <Copyable text={url} label="API base" />
        </Entry>
        <Text size="sm">
          Time zone {workspace.timeZone} ·{' '}
          <Anchor href="/docs" underline="always">
            API reference
          </Anchor>
        </Text>
      </Stack>
    </Card>
  );
}

function Entry({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {name}
      </Text>
      {children}
    </div>
  );
}
