import { Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { StatusBadge } from './status-badge.tsx';

/** Below the title of a page: how it stands, and the few words that say what it is. */
export function StatusLine({ status, children }: { status: string; children: ReactNode }) {
  return (
    <Group gap="xs" align="baseline" wrap="nowrap">
      <StatusBadge status={status} />
      <Text span inherit style={{ minWidth: 0 }}>
        {children}
      </Text>
    </Group>
  );
}
