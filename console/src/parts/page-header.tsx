import { Group, Stack, Text, Title } from '@mantine/core';
import { useMatch } from '@tanstack/react-router';
import { useEffect } from 'react';
import type { ReactNode } from 'react';
import { useFonts } from '../theme/use-fonts.ts';
import styles from './page-header.module.css';

/** The only heading of a screen, its subject, and its actions. Without a title it shows the one of the screen's table. */
export function PageHeader({ title: given, about, actions }: PageHeaderProps) {
  const ofScreen = useMatch({ strict: false, shouldThrow: false, select: ({ staticData }) => staticData.title });
  const title = given ?? ofScreen ?? '';
  useFonts();
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

type PageHeaderProps = { title?: string; about?: ReactNode; actions?: ReactNode };
