import { Alert } from '@mantine/core';
import type { ReactNode } from 'react';

const colours = { error: 'red', warning: 'yellow', note: 'gray', good: 'teal' } as const;

type NoticeProps = { tone: keyof typeof colours; title?: string; role?: 'alert'; children: ReactNode };

/** A message to read first. Only its edge is coloured; the text keeps the page's contrast in both schemes. */
export function Notice({ tone, title, role, children }: NoticeProps) {
  return (
    <Alert
      variant="default"
      role={role ?? 'note'}
      {...(title === undefined ? {} : { title })}
      styles={{
        root: { borderLeft: `5px solid var(--mantine-color-${colours[tone]}-6)` },
        label: { color: 'var(--mantine-color-text)' },
        message: { color: 'var(--mantine-color-text)' },
      }}
    >
      {children}
    </Alert>
  );
}
