import { Button, Group } from '@mantine/core';
import type { ReactNode } from 'react';

type PagingProps = {
  /** The start of the shown page; undefined for the newest. */
  after: string | undefined;
  /** The start of the next page; null if there is none. */
  next: string | null;
  onTurned: (after: string | undefined) => void;
  children?: ReactNode;
};

/** Links to the next and the newest page of a list. */
export function Paging({ after, next, onTurned, children }: PagingProps) {
  return (
    <Group justify="flex-end" gap="xs">
      {children}
      {after !== undefined && (
        <Button variant="default" onClick={() => onTurned(undefined)}>
          Newest
        </Button>
      )}
      {next !== null && (
        <Button variant="default" onClick={() => onTurned(next)}>
          Older
        </Button>
      )}
    </Group>
  );
}
