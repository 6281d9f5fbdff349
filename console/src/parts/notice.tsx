import { Alert } from '@mantine/core';
import type { ReactNode } from 'react';

const colours = { error: 'red', warning: 'yellow', note: 'gray', good: 'teal' } as const;

type NoticeProps = { tone: keyof typeof colours; title?: string; role?: 'alert'; children: ReactNode };

/** Something to be read before one goes on. Its edge has the colour; the words keep the page's own, light or dark. */
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
