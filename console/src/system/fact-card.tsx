import { Card, Group, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

/** Facts by their names, one a line; what is undefined is left out. */
export function FactCard({ title, facts }: { title: string; facts: [name: string, value: ReactNode][] }) {
  return (
    <Card withBorder component="section" aria-label={title} style={{ minWidth: 0 }}>
      <Title order={2} size="h5" mb="sm">
        {title}
      </Title>
      <Stack gap={6}>
        {facts
          .filter(([, value]) => value !== undefined)
          .map(([name, value]) => (
            <Group key={name} justify="space-between" gap="lg" align="flex-start" wrap="nowrap">
              <Text size="sm" c="dimmed" style={{ flex: 'none' }}>
                {name}
              </Text>
              <Text size="sm" component="div" ta="right" style={{ overflowWrap: 'anywhere', minWidth: 0 }}>
                {value}
              </Text>
            </Group>
          ))}
      </Stack>
    </Card>
  );
}
