import { Badge } from '@mantine/core';

const colours: Record<string, string> = {
  SENDING: 'blue.9',
  ACTIVE: 'blue.9',
  FILLING: 'blue.9',
  SENT: 'teal.9',
  READY: 'teal.9',
  SUCCEEDED: 'teal.9',
  DELIVERED: 'teal.9',
  FAILED: 'red.9',
  GIVEN_UP: 'red.9',
  MISSED: 'red.9',
  PAUSED: 'orange.9',
};

/** A state in its own word; the colour only helps. */
export function StatusBadge({ status }: { status: string }) {
  return (
    <Badge color={colours[status] ?? 'gray.8'} style={{ flexShrink: 0, minWidth: 'max-content' }}>
      {status.replaceAll('_', ' ')}
    </Badge>
  );
}
