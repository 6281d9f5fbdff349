import { Tooltip } from '@mantine/core';
import { useWorkspace } from '../../shell/workspace.ts';
import { formatTime, formatAgo, exactTime } from './format-time.ts';
import { useServerNow } from './server-clock.ts';
import type { ServerClock } from './server-clock.ts';

/** A moment in the zone of the workspace, named; pointing at it says it in UTC. */
export function Time({ at }: { at: string }) {
  const { timeZone } = useWorkspace();
  return (
    <time dateTime={at} title={formatTime(at, 'UTC')}>
      {formatTime(at, timeZone)}
    </time>
  );
}

type AgoProps = {
  at: string;
  /** The clock that `at` was read from. */
  clock?: ServerClock;
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
