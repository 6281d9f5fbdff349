import { Card, Group, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { RouteLink } from '../parts/links.tsx';
import { useMay } from '../session/use-session.ts';
import { useWorkspace } from '../shell/workspace.ts';

type OverviewCardProps = { title: string; more?: ReactNode; children: ReactNode };

/** A card of the overview, with a link to its screen. */
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

type DeliveryNumberProps = {
  rows: { campaign?: string; platform?: string; outcome: string; code?: string };
  children: string;
};

/** A number of deliveries, linked to their rows for users who may see them. */
export function DeliveryNumber({ rows, children }: DeliveryNumberProps) {
  const { id: workspaceId } = useWorkspace();
  const maySee = useMay('people.read');
  // Zero has no rows to link to.
  if (!maySee || children === '0' || children === '–') return children;
  return (
    <RouteLink to="/w/$workspaceId/deliveries" params={{ workspaceId }} search={rows}>
      {children}
    </RouteLink>
  );
}
