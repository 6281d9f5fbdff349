import { Card, Code, Group, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import type { FixedSettings as Fixed } from '../api/generated/settings.ts';
import { windowName } from '../overview/window-name.ts';
import { Copyable } from '../parts/copyable.tsx';
import { DataTable } from '../parts/data-table.tsx';

/** What callers need to know and nobody changes here: ids, addresses, limits, with where each comes from. */
export function FixedSettings({ fixed }: { fixed: Fixed }) {
  const { workspaceId, dbName, url, dataCenter, headerPrefix, limits } = fixed;
  return (
    <Stack gap="lg">
      <Card withBorder component="section" aria-label="For callers of the API">
        <Title order={2} size="h5" mb="sm">
          For callers of the API
        </Title>
        <Stack gap="xs">
          <Entry name="Workspace ID">
            <Copyable text={workspaceId} label="workspace id" />
          </Entry>
          <Entry name={`Database name (${headerPrefix.value}-DBNAME)`}>
            <Copyable text={dbName} label="database name" />
          </Entry>
          <Entry name="API base">
            <Copyable text={url} label="API base" />
          </Entry>
          <Entry name="Data center">
            <Copyable text={dataCenter} label="data center" />
          </Entry>
          <Entry name="Header abbreviation">
            <Copyable text={headerPrefix.value} label="header abbreviation" />
            <Text size="xs">
              <Code>{headerPrefix.setting}</Code>; SVC is accepted as well
            </Text>
          </Entry>
        </Stack>
      </Card>
      <section>
        <Title order={2} size="h5" mb="xs">
          Limits
        </Title>
        <DataTable
          label="Limits"
          rows={limits}
          keyOf={({ id }) => id}
          columns={[
            { key: 'name', title: 'What', cell: ({ name, windowSeconds }) => `${name}${windowName(windowSeconds)}` },
            { key: 'most', title: 'At most', isNumber: true, cell: ({ most }) => most.toLocaleString('en') },
            { key: 'used', title: 'Used', isNumber: true, cell: ({ used }) => used.toLocaleString('en') },
            {
              key: 'source',
              title: 'From',
              cell: ({ setting }) => (setting === null ? 'the interface' : <Code>{setting}</Code>),
            },
          ]}
        />
      </section>
    </Stack>
  );
}

function Entry({ name, children }: { name: string; children: ReactNode }) {
  return (
    <Group gap="xs">
      <Text size="sm" fw={600}>
        {name}
      </Text>
      {children}
    </Group>
  );
}
