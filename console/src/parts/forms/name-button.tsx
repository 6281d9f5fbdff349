import { Button, Group, Modal, Stack, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation } from '@tanstack/react-query';
import { Failure } from '../failure.tsx';

type NameButtonProps = {
  /** The label of the button and of its dialog: "Rename". */
  label: string;
  title: string;
  field: string;
  /** The initial name. */
  initial: string;
  maxLength?: number;
  size?: 'compact-xs' | 'xs' | 'sm';
  /** The accessible name, if the label alone is ambiguous. */
  ariaLabel?: string;
  onNamed: (name: string) => Promise<unknown>;
};

/** A button that asks for a name, then runs the action. */
export function NameButton({ size = 'sm', maxLength = 256, ...props }: NameButtonProps) {
  const [isOpen, dialog] = useDisclosure(false);
  const act = useMutation({ mutationFn: props.onNamed, onSuccess: dialog.close });
  return (
    <>
      <Button
        variant="default"
        size={size}
        onClick={() => {
          act.reset();
          dialog.open();
        }}
        {...(props.ariaLabel === undefined ? {} : { 'aria-label': props.ariaLabel })}
      >
        {props.label}
      </Button>
      {/* Without the header of the component library, which would be a second banner landmark. */}
      <Modal.Root opened={isOpen} onClose={dialog.close} transitionProps={{ duration: 0 }}>
        <Modal.Overlay />
        <Modal.Content>
          <Modal.Body>
            <form
              onSubmit={(event) => {
                event.preventDefault();
                act.mutate(String(new FormData(event.currentTarget).get('name') ?? '').trim());
              }}
            >
              <Stack>
                <Modal.Title fw={600}>{props.title}</Modal.Title>
                <TextInput
                  name="name"
                  label={props.field}
                  defaultValue={props.initial}
                  maxLength={maxLength}
                  required
                  data-autofocus
                  autoComplete="off"
                />
                {act.error !== null && <Failure error={act.error} />}
                <Group justify="flex-end">
                  <Button variant="default" onClick={dialog.close}>
                    Cancel
                  </Button>
                  <Button type="submit" loading={act.isPending}>
                    {props.label}
                  </Button>
                </Group>
              </Stack>
            </form>
          </Modal.Body>
        </Modal.Content>
      </Modal.Root>
    </>
  );
}
