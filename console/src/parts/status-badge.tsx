import { Badge, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';

export type Tone = 'going' | 'waiting' | 'done' | 'failed' | 'held' | 'still';

/** The colour of each status, the same on all screens. */
const toneColours: Record<Tone, string> = {
  going: 'var(--mantine-color-blue-6)',
  waiting: 'var(--mantine-color-yellow-6)',
  done: 'var(--mantine-color-teal-6)',
  failed: 'var(--mantine-color-red-6)',
  held: 'var(--mantine-color-orange-6)',
  still: 'var(--mantine-color-gray-5)',
};

const tones: Record<string, Tone> = {
  SENDING: 'going',
  ACTIVE: 'going',
  FILLING: 'going',
  SCHEDULED: 'waiting',
  WAITING: 'waiting',
  PENDING: 'waiting',
  QUEUED: 'waiting',
  SENT: 'done',
  READY: 'done',
  SUCCEEDED: 'done',
  DELIVERED: 'done',
  ACCEPTED: 'done',
  APPROVED: 'done',
  CONNECTED: 'done',
  FAILED: 'failed',
  REJECTED: 'failed',
  GIVEN_UP: 'failed',
  MISSED: 'failed',
  REFUSED: 'failed',
  PAUSED: 'held',
  WITHHELD: 'held',
  BLOCKED: 'held',
};

/** A status in words. The dot only supports it. */
export function StatusBadge({ status }: { status: string }) {
  return <ToneBadge tone={tones[status] ?? 'still'}>{stateWords(status)}</ToneBadge>;
}

/** A short fact in the form of a status. */
export function ToneBadge({ tone, children }: { tone: Tone; children: string }) {
  return (
    <Badge
      style={{ flexShrink: 0, minWidth: 'max-content' }}
      leftSection={
        <span
          aria-hidden
          style={{ display: 'block', width: 8, height: 8, borderRadius: 8, background: toneColours[tone] }}
        />
      }
    >
      {children}
    </Badge>
  );
}

/** Formats `GIVEN_UP` as "Given up". */
export function stateWords(status: string): string {
  const words = status.replaceAll('_', ' ').toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The line below a page's title: status and a few words. */
export function StatusLine({ status, children }: { status: string; children: ReactNode }) {
  return (
    <Group gap="xs" align="baseline" wrap="nowrap">
      <StatusBadge status={status} />
      <Text span inherit style={{ minWidth: 0 }}>
        {children}
      </Text>
    </Group>
  );
}
