import { Card, Code, Group, Stack, Text, Title } from '@mantine/core';
import type { FixedSettings as Fixed } from '../api/generated/settings.ts';
import { windowName } from '../overview/window-name.ts';
import { Copyable } from '../parts/copyable.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { FactsTable } from '../parts/facts-table.tsx';

/** What callers need to know and nobody changes here: ids, addresses, limits, with where each comes from. */
export function FixedSettings({ fixed }: { fixed: Fixed }) {
  const { workspaceId, dbName, url, dataCenter, headerPrefix, limits } = fixed;
  return (
    <Stack gap="lg">
      <Card withBorder component="section" aria-label="API details">
        <Title order={2} size="h5" mb="sm">
          API details
        </Title>
        <FactsTable
          facts={[
            ['Workspace id', <Copyable key="id" text={workspaceId} label="workspace id" />],
            [`Database name (${headerPrefix.value}-DBNAME)`, <Copyable key="db" text={dbName} label="database name" />],
            ['API base', <Copyable key="url" text={url} label="API base" />],
            ['Data center', <Copyable key="dc" text={dataCenter} label="data center" />],
            [
              'Header abbreviation',
              <Group key="prefix" gap="xs">
                <Copyable text={headerPrefix.value} label="header abbreviation" />
                <Text size="xs">
                  <Code>{headerPrefix.setting}</Code>; SVC is accepted as well
                </Text>
              </Group>,
            ],
          ]}
        />
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
              cell: ({ setting }) => (setting === null ? 'Documented API' : <Code>{setting}</Code>),
            },
          ]}
        />
      </section>
    </Stack>
  );
}
