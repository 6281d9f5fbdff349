import { Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { CopyableBlock } from './copyable.tsx';

/** Says that there is nothing yet, with the command that changes it. */
export function EmptyState({ title, command, children }: { title: string; command?: string; children?: ReactNode }) {
  return (
    <Stack gap="xs" py="lg">
      <Title order={2} size="h5">
        {title}
      </Title>
      {children !== undefined && (
        <Text size="sm" component="div">
          {children}
        </Text>
      )}
      {command !== undefined && <CopyableBlock text={command} label="command" />}
    </Stack>
  );
}
