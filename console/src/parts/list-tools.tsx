import { Group } from '@mantine/core';
import type { ReactNode } from 'react';
import styles from './list-tools.module.css';

/** The filters of a list, and beside them what is chosen of it. A form has no other form in it, so that the tools lie over it. */
export function ListTools({ filters, children }: { filters: ReactNode; children: ReactNode }) {
  return (
    <div className={styles.list}>
      {filters}
      <Group justify="flex-end" gap="xs" className={styles.tools!}>
        {children}
      </Group>
    </div>
  );
}
