import { Button, Popover } from '@mantine/core';
import { useState } from 'react';
import type { ReactNode } from 'react';

type InsertMenuProps = {
  /** What is inserted, such as "an emoji", and the field that gets it. */
  what: string;
  label: string;
  title: string;
  face: ReactNode;
  onPicked: (text: string) => void;
  /** The choices; picking one closes the menu. */
  choices: (props: { onPicked: (text: string) => void }) => ReactNode;
};

/** A button next to a text field that opens a menu of things to insert. */
export function InsertMenu({ what, label, title, face, onPicked, choices: Choices }: InsertMenuProps) {
  const [isOpen, open] = useState(false);
  return (
    <Popover opened={isOpen} onChange={open} width={300} position="bottom-end" trapFocus>
      <Popover.Target>
        <Button
          variant="default"
          onClick={() => open(!isOpen)}
          aria-label={`Insert ${what} into ${label}`}
          title={title}
          px="sm"
          style={{ flexShrink: 0 }}
        >
          {face}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Choices
          onPicked={(text) => {
            open(false);
            onPicked(text);
          }}
        />
      </Popover.Dropdown>
    </Popover>
  );
}
