import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Failure } from '../failure.tsx';

type ConfirmButtonProps = {
  /** The label of the button and of its confirmation: "Stop". */
  label: string;
  title: string;
  /** The effect, with names and numbers: "41,200 of 300,000 devices already have it". */
  hits: ReactNode;
  color?: string;
  /** The variant for a screen's main action. */
  variant?: 'default' | 'filled';
  size?: 'compact-xs' | 'xs' | 'sm';
  /** The accessible name, if the label alone is ambiguous: "Revoke key Shop". */
  ariaLabel?: string;
  isDisabled?: boolean;
  onConfirmed: () => Promise<unknown>;
};

/** A button for a destructive action. It asks first, and the question names the effect. */
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
      {/* Without the header of the component library, which would be a second banner landmark. */}
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
