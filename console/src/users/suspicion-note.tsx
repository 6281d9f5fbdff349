import { Text } from '@mantine/core';
import type { DeviceSuspicion } from '../api/generated/users.ts';
import { Ago } from '../parts/text/time.tsx';
import { ToneBadge } from '../parts/status-badge.tsx';

/** Why a device may leave the audience, or has left it: "Suspected, 2 of 3 sends". */
export function SuspicionNote({ suspicion }: { suspicion: DeviceSuspicion }) {
  const { code, since, lastAt, hasLeft } = suspicion;
  return (
    <>
      <div>
        <ToneBadge tone="held">{`Suspected, ${sendsOf(suspicion)}`}</ToneBadge>
      </div>
      <Text size="xs" c="dimmed" component="div">
        {hasLeft
          ? 'It left the audience because they failed like sends to a dead address'
          : 'They failed like sends to a dead address'}{' '}
        ({code}), the first <Ago at={since} />, the last <Ago at={lastAt} />.
      </Text>
    </>
  );
}

/** Formats "2 of 3 sends". A device that has left may have failed more often. */
export function sendsOf({ sends, leavesAfterSends, hasLeft }: DeviceSuspicion): string {
  return hasLeft ? `${sends} sends` : `${sends} of ${leavesAfterSends} sends`;
}
