import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';
import type { RefObject } from 'react';

type LeaveGuardProps = {
  isDirty: boolean;
  /** Set when the composer itself goes on: what was written is stored then. */
  isLeaving: RefObject<boolean>;
};

/** What was written and not saved is not lost by a click: leaving asks first. Steps are the same page. */
export function LeaveGuard({ isDirty, isLeaving }: LeaveGuardProps) {
  const { proceed, reset, status } = useBlocker({
    shouldBlockFn: ({ current, next }) => isDirty && !isLeaving.current && current.pathname !== next.pathname,
    enableBeforeUnload: () => isDirty && !isLeaving.current,
    withResolver: true,
  });
  return (
    <Modal.Root opened={status === 'blocked'} onClose={() => reset?.()} transitionProps={{ duration: 0 }}>
      <Modal.Overlay />
      <Modal.Content>
        <Modal.Body>
          <Stack>
            <Modal.Title fw={600}>Leave without saving?</Modal.Title>
            <Text size="sm">What you changed since the last time it was saved is lost then.</Text>
            <Group justify="flex-end">
              <Button variant="default" onClick={() => reset?.()}>
                Stay
              </Button>
              <Button color="red.9" onClick={() => proceed?.()}>
                Leave without saving
              </Button>
            </Group>
          </Stack>
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}
