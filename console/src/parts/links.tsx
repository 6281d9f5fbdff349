import { Anchor, Button, Group } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import styles from './links.module.css';
import views from './views.module.css';

/** A link to a screen. It is underlined, because colour alone does not distinguish it from text. */
export const RouteLink = createLink(function UnderlinedAnchor({
  className,
  ...props
}: React.ComponentPropsWithRef<'a'>) {
  // The router gives a link to the current address a class ("active"), which is added to this one.
  const classNames = className === undefined ? styles.link! : `${styles.link} ${className}`;
  return <Anchor inherit underline="never" className={classNames} {...(props as object)} />;
});

/** A link to a screen that looks like a button, because it starts an action. */
export const ButtonLink = createLink(function LinkedButton({
  variant = 'default',
  ...props
}: React.ComponentPropsWithRef<'a'> & { variant?: 'default' | 'filled' }) {
  return <Button component="a" variant={variant} {...(props as object)} />;
});

/** The tabs of a screen. The address names the one that is shown. */
export function TabLinks({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Group component="nav" gap="lg" className={`${views.views} ${styles.tabs}`} {...{ 'aria-label': label }}>
      {children}
    </Group>
  );
}

type TabAnchorProps = React.ComponentPropsWithRef<'a'> & { isCurrent: boolean };

/** The screen passes `isCurrent`: the router compares whole addresses, but a tab keeps the choices made in another tab. */
export const TabLink = createLink(function TabAnchor({ isCurrent, ...props }: TabAnchorProps) {
  return <a {...props} aria-current={isCurrent ? 'page' : undefined} className={`${views.view} ${styles.tab}`} />;
});
