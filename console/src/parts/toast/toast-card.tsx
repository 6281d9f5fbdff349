import { ActionIcon, Button, Text } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck, IconX } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { failureText } from '../failure.tsx';
import styles from './toast.module.css';
import { dismissToast, showToast } from './toast-list.ts';
import type { ShownToast } from './toast-list.ts';

// Time enough to read a line and to reach the button.
const shownMilliseconds = 6_000;

/** Disappears by itself, unless the mouse or the focus is on it. */
export function ToastCard({ toast: { id, text, undo, undone, isFailure } }: { toast: ShownToast }) {
  const [isHeld, setHeld] = useState(false);
  const takeBack = useMutation({
    mutationFn: async () => undo?.(),
    onSuccess: () => showToast({ text: undone ?? 'Undone' }),
    onError: (error) => showToast({ text: `It could not be undone. ${failureText(error)}`, isFailure: true }),
    onSettled: () => dismissToast(id),
  });
  const stays = isHeld || isFailure === true || takeBack.isPending;
  useEffect(() => {
    if (stays) return undefined;
    const timer = setTimeout(() => dismissToast(id), shownMilliseconds);
    return () => clearTimeout(timer);
  }, [id, stays]);
  const Icon = isFailure ? IconAlertTriangle : IconCircleCheck;
  return (
    <div
      className={styles.card}
      onMouseEnter={() => setHeld(true)}
      onMouseLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <Icon
        size={20}
        stroke={1.8}
        aria-hidden
        style={{ flex: 'none', color: `var(--mantine-color-${isFailure ? 'red' : 'teal'}-6)` }}
      />
      <Text size="md" style={{ overflowWrap: 'anywhere', minWidth: 0 }}>
        {text}
      </Text>
      {undo !== undefined && (
        <Button
          variant="subtle"
          size="compact-sm"
          style={{ flex: 'none' }}
          loading={takeBack.isPending}
          onClick={() => takeBack.mutate()}
        >
          Undo
        </Button>
      )}
      <ActionIcon
        variant="subtle"
        color="gray"
        size="md"
        style={{ flex: 'none' }}
        aria-label="Dismiss"
        onClick={() => dismissToast(id)}
      >
        <IconX size={14} aria-hidden />
      </ActionIcon>
    </div>
  );
}
