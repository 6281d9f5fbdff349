import { Card, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { CopyableBlock } from './copyable.tsx';

/** What this screen shows, as a call to the API. */
export function RequestBehind({ curl, children }: { curl: string; children: ReactNode }) {
  return (
    <Card withBorder>
      <Title order={2} size="h5">
        API equivalent
      </Title>
      <Text size="sm" mb="xs" component="div">
        {children}
      </Text>
      <CopyableBlock text={curl} label="curl command" />
    </Card>
  );
}
