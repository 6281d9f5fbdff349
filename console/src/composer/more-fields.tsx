import { Button, Collapse, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';

/** What few campaigns need, out of the way until it is asked for. */
export function MoreFields({
  label,
  isOpen = false,
  children,
}: {
  label: string;
  isOpen?: boolean;
  children: ReactNode;
}) {
  const [isShown, more] = useDisclosure(isOpen);
  return (
    <div>
      <Button variant="subtle" size="compact-sm" px={0} onClick={more.toggle} aria-expanded={isShown}>
        {isShown ? '− ' : '+ '}
        {label}
      </Button>
      <Collapse expanded={isShown} transitionDuration={0}>
        <Stack gap="sm" mt="xs">
          {isShown && children}
        </Stack>
      </Collapse>
    </div>
  );
}
