import { Alert } from '@mantine/core';
import type { ReactNode } from 'react';

const colours = { error: 'red', warning: 'yellow', note: 'gray' } as const;

type NoticeProps = { tone: keyof typeof colours; title?: string; role?: 'alert'; children: ReactNode };

/** Something to be read before one goes on; the title is the text's own colour, which any background bears. */
export function Notice({ tone, title, role, children }: NoticeProps) {
  return (
    <Alert
      color={colours[tone]}
      role={role ?? 'note'}
      {...(title === undefined ? {} : { title })}
      styles={{ label: { color: 'var(--mantine-color-text)' } }}
    >
      {children}
    </Alert>
  );
}
