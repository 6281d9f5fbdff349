import { Anchor } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import styles from './route-link.module.css';

/** A link to a screen, underlined: colour alone would not tell it from text. */
export const RouteLink = createLink(function UnderlinedAnchor({
  className,
  ...props
}: React.ComponentPropsWithRef<'a'>) {
  // The router gives one that leads to where one is a class of its own ("active"), beside ours and not in its place.
  const classNames = className === undefined ? styles.link! : `${styles.link} ${className}`;
  return <Anchor inherit underline="never" className={classNames} {...(props as object)} />;
});
