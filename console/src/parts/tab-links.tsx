import { Group } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import styles from './tab-links.module.css';
import views from './views.module.css';

/** Parts of a screen, of which one is shown; its address says which. */
export function TabLinks({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Group component="nav" gap="lg" className={`${views.views} ${styles.tabs}`} {...{ 'aria-label': label }}>
      {children}
    </Group>
  );
}

type TabAnchorProps = React.ComponentPropsWithRef<'a'> & { isCurrent: boolean };

/** What is current is the screen's to say: the router compares whole addresses, and a tab keeps what was chosen in another. */
export const TabLink = createLink(function TabAnchor({ isCurrent, ...props }: TabAnchorProps) {
  return <a {...props} aria-current={isCurrent ? 'page' : undefined} className={`${views.view} ${styles.tab}`} />;
});
