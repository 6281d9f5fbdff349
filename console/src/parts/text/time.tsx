import { Tooltip } from '@mantine/core';
import { useWorkspace } from '../../shell/workspace.ts';
import { formatTime, formatAgo, exactTime } from './format-time.ts';
import { useServerNow } from './server-clock.ts';
import type { ServerClock } from './server-clock.ts';

/** An instant in the workspace's zone. Its tooltip shows UTC. */
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

/** A relative time. Its tooltip shows the second, in the workspace's zone and in UTC. */
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
