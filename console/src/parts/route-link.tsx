import { Anchor } from '@mantine/core';
import { createLink } from '@tanstack/react-router';

/** A link to a screen, underlined: colour alone would not tell it from text. */
export const RouteLink = createLink(function UnderlinedAnchor(props: React.ComponentPropsWithRef<'a'>) {
  return <Anchor inherit underline="always" {...(props as object)} />;
});
