import { Anchor } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import styles from './route-link.module.css';

/** A link to a screen, underlined: colour alone would not tell it from text. */
export const RouteLink = createLink(function UnderlinedAnchor(props: React.ComponentPropsWithRef<'a'>) {
  return <Anchor inherit underline="never" className={styles.link!} {...(props as object)} />;
});
