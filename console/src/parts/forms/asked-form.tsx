import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import type { ReactNode } from 'react';

type AskedFormProps = {
  /** The label of the button that opens the form. */
  label: string;
  children: (onLeave: () => void) => ReactNode;
};

/** A form that a button opens. */
export function AskedForm({ label, children }: AskedFormProps) {
  const [isOpen, form] = useDisclosure(false);
  if (isOpen) return children(form.close);
  return (
    <Button
      variant="default"
      size="xs"
      mt="sm"
      leftSection={<IconPlus size={14} stroke={1.6} aria-hidden />}
      onClick={form.open}
    >
      {label}
    </Button>
  );
}
