import { Group, Text, Title } from '@mantine/core';
import type { SystemNode } from '../api/generated/system.ts';
import { CopyTextButton } from '../parts/copyable.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { formatBytes } from '../parts/format-bytes.ts';
import { formatAge } from '../parts/format-duration.ts';
import { formatDay } from '../parts/format-time.ts';
import { ToneBadge } from '../parts/status-badge.tsx';

const roles = { all: 'API and sending', api: 'API', worker: 'Sending' } as const;

/** Every process of the installation that was heard of within a day. */
export function NodeTable({ nodes, now }: { nodes: SystemNode[]; now: string }) {
  return (
    <section>
      <Title order={2} size="h5" mb="xs">
        Nodes
      </Title>
      <DataTable
        label="Nodes"
        minWidth={720}
        rows={nodes}
        keyOf={({ id }) => id}
        columns={[
          {
            key: 'node',
            title: 'Node',
            cell: ({ id, host, processId, certificateEndsAt }) => (
              <>
                <Group gap={4} wrap="nowrap">
                  {host}, process {processId}
                  <CopyTextButton text={id} label={`id of the node on ${host}`} />
                </Group>
                {certificateEndsAt !== null && (
                  <Text size="xs" c="dimmed">
                    Certificate until {formatDay(certificateEndsAt.slice(0, 10))}
                  </Text>
                )}
              </>
            ),
          },
          { key: 'role', title: 'Role', cell: ({ role }) => roles[role] },
          { key: 'version', title: 'Version', cell: ({ version }) => version },
          { key: 'since', title: 'Uptime', cell: ({ startedAt }) => formatAge(startedAt, now) },
          { key: 'memory', title: 'Memory', isNumber: true, cell: ({ memoryBytes }) => formatBytes(memoryBytes) },
          {
            key: 'connections',
            title: 'Connections',
            isNumber: true,
            cell: ({ connections }) => `up to ${connections}`,
          },
          {
            key: 'seen',
            title: 'Last seen',
            cell: ({ seenAt, isAlive }) => (
              <>
                <ToneBadge tone={isAlive ? 'done' : 'failed'}>{isAlive ? 'Alive' : 'Silent'}</ToneBadge>
                <Text size="xs" c="dimmed">
                  {formatAge(seenAt, now)} ago
                </Text>
              </>
            ),
          },
        ]}
      />
    </section>
  );
}
