import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import type { ReactNode } from 'react';

type AskedFormProps = {
  /** On the button that opens it. */
  label: string;
  children: (onLeave: () => void) => ReactNode;
};

/** A form that is not there until somebody asks for it. */
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
