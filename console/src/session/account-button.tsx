import { Button } from '@mantine/core';
import type { ButtonProps } from '@mantine/core';
import { IconChevronDown, IconUserCircle } from '@tabler/icons-react';
import type { ComponentPropsWithRef } from 'react';
import { useSession } from './use-session.ts';

/** The name of the signed-in user, as the button of the menu. */
export function AccountButton(props: ButtonProps & ComponentPropsWithRef<'button'>) {
  const { account } = useSession();
  return (
    <Button
      variant="subtle"
      color="gray"
      size="compact-md"
      maw={200}
      leftSection={<IconUserCircle size={18} stroke={1.6} aria-hidden />}
      rightSection={<IconChevronDown size={14} stroke={1.6} aria-hidden />}
      {...props}
    >
      {account.name}
    </Button>
  );
}
