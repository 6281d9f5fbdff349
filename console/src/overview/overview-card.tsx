import { Card, Group, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

type OverviewCardProps = { title: string; more?: ReactNode; children: ReactNode };

/** One question of the overview and its answer, with the way to all of it. */
export function OverviewCard({ title, more, children }: OverviewCardProps) {
  return (
    <Card withBorder component="section" aria-label={title} style={{ minWidth: 0 }}>
      <Group justify="space-between" mb="sm" wrap="nowrap" gap="xs">
        <Title order={2} size="h5">
          {title}
        </Title>
        <Text size="sm" component="div" ta="right">
          {more}
        </Text>
      </Group>
      {children}
    </Card>
  );
}
