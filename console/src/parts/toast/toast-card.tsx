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

/**
 * Disappears by itself, unless the mouse or the focus is on it. One that can be undone for a limited time disappears when that time is
 * over.
 */
export function ToastCard({ toast }: { toast: ShownToast }) {
  const { id, text, undo, undone, undoSeconds, isFailure } = toast;
  const [isHeld, setHeld] = useState(false);
  const leftSeconds = useSecondsLeft(undoSeconds);
  const takeBack = useMutation({
    mutationFn: async () => undo?.(),
    onSuccess: () => showToast({ text: undone ?? 'Undone' }),
    onError: (error) => showToast({ text: `It could not be undone. ${failureText(error)}`, isFailure: true }),
    onSettled: () => dismissToast(id),
  });
  const isOver = leftSeconds === 0;
  const stays = takeBack.isPending || (undoSeconds === undefined ? isHeld || isFailure === true : !isOver);
  useEffect(() => {
    if (stays) return undefined;
    const timer = setTimeout(() => dismissToast(id), isOver ? 0 : shownMilliseconds);
    return () => clearTimeout(timer);
  }, [id, stays, isOver]);
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
          {leftSeconds !== undefined && <span aria-hidden>&nbsp;({leftSeconds})</span>}
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

/** Counts seconds down to 0; undefined if there is nothing to count. */
function useSecondsLeft(seconds: number | undefined): number | undefined {
  const [left, setLeft] = useState(seconds);
  useEffect(() => {
    if (seconds === undefined) return undefined;
    const timer = setInterval(() => setLeft((before) => Math.max(0, (before ?? 0) - 1)), 1_000);
    return () => clearInterval(timer);
  }, [seconds]);
  return left;
}
