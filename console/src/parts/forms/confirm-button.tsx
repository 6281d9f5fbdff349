import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Failure } from '../failure.tsx';

type ConfirmButtonProps = {
  /** On the button, and again on the one that does it: "Stop". */
  label: string;
  title: string;
  /** What it hits, with names and numbers: "41,200 of 300,000 devices already have it". */
  hits: ReactNode;
  color?: string;
  /** What a screen is for may stand out. */
  variant?: 'default' | 'filled';
  size?: 'compact-xs' | 'xs' | 'sm';
  /** Says which of many, where the label alone does not: "Revoke key Shop". */
  ariaLabel?: string;
  isDisabled?: boolean;
  onConfirmed: () => Promise<unknown>;
};

/** Nothing is ended by one click: the button asks, and the question names what is hit. */
export function ConfirmButton({ color = 'red.9', size = 'sm', ...props }: ConfirmButtonProps) {
  const [isOpen, dialog] = useDisclosure(false);
  const act = useMutation({ mutationFn: props.onConfirmed, onSuccess: dialog.close });
  return (
    <>
      <Button
        variant={props.variant ?? 'default'}
        size={size}
        onClick={() => {
          act.reset();
          dialog.open();
        }}
        {...(props.ariaLabel === undefined ? {} : { 'aria-label': props.ariaLabel })}
        disabled={props.isDisabled ?? false}
      >
        {props.label}
      </Button>
      {/* Without the kit's header, which would be a second banner of the page. */}
      <Modal.Root opened={isOpen} onClose={dialog.close} transitionProps={{ duration: 0 }}>
        <Modal.Overlay />
        <Modal.Content>
          <Modal.Body>
            <Stack>
              <Modal.Title fw={600}>{props.title}</Modal.Title>
              <Text size="sm" component="div">
                {props.hits}
              </Text>
              {act.error !== null && <Failure error={act.error} />}
              <Group justify="flex-end">
                <Button variant="default" onClick={dialog.close}>
                  Cancel
                </Button>
                <Button color={color} loading={act.isPending} onClick={() => act.mutate()}>
                  {props.label}
                </Button>
              </Group>
            </Stack>
          </Modal.Body>
        </Modal.Content>
      </Modal.Root>
    </>
  );
}
