import { Tooltip } from '@mantine/core';
import { useWorkspace } from '../shell/workspace.ts';
import { formatAgo } from './format-ago.ts';
import { exactTime } from './format-time.ts';
import { useServerNow } from './told-time.ts';
import type { ToldClock } from './told-time.ts';

type AgoProps = {
  at: string;
  /** The clock that `at` was read from. */
  clock?: ToldClock;
};

/** When something happened, as one says it; pointing at it or touching it tells the second, here and in UTC. */
export function Ago({ at, clock = 'service' }: AgoProps) {
  const { timeZone } = useWorkspace();
  const now = useServerNow(clock);
  return (
    <Tooltip label={exactTime(at, timeZone)} events={{ hover: true, focus: false, touch: true }} openDelay={150}>
      <time dateTime={at} style={{ whiteSpace: 'nowrap' }}>
        {formatAgo(at, { now, timeZone })}
      </time>
    </Tooltip>
  );
}
