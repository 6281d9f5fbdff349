import { Group, Stack, Text, Title } from '@mantine/core';
import { useEffect } from 'react';
import type { ReactNode } from 'react';
import styles from './page-header.module.css';

/** The one heading of a screen, what it is about, and what can be done with the whole of it. */
export function PageHeader({ title, about, actions }: { title: string; about?: ReactNode; actions?: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Carillon`;
  }, [title]);
  return (
    <div className={styles.header}>
      <Stack gap={4} className={styles.title!}>
        <Title order={1} size="h2" style={{ overflowWrap: 'anywhere', letterSpacing: '-0.01em' }}>
          {title}
        </Title>
        {about !== undefined && (
          <Text size="md" c="dimmed" component="div">
            {about}
          </Text>
        )}
      </Stack>
      {actions !== undefined && <Group gap="xs">{actions}</Group>}
    </div>
  );
}
