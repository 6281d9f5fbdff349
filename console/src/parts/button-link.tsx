import { Button } from '@mantine/core';
import { createLink } from '@tanstack/react-router';

/** A link to a screen that looks like what it is: the way to do something. */
export const ButtonLink = createLink(function LinkedButton({
  variant = 'default',
  ...props
}: React.ComponentPropsWithRef<'a'> & { variant?: 'default' | 'filled' }) {
  return <Button component="a" variant={variant} {...(props as object)} />;
});
