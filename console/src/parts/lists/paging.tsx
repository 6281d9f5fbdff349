import { Button, Group } from '@mantine/core';
import type { ReactNode } from 'react';

type PagingProps = {
  /** Where the shown page begins; undefined: it is the newest. */
  after: string | undefined;
  /** Where the next one begins; null: there is none. */
  next: string | null;
  onTurned: (after: string | undefined) => void;
  children?: ReactNode;
};

/** From page to page of what is listed newest first. */
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
