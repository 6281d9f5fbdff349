import { useWorkspace } from '../shell/workspace.ts';
import { formatTime } from './format-time.ts';

/** A moment in the zone of the workspace, named; pointing at it says it in UTC. */
export function Time({ at }: { at: string }) {
  const { timeZone } = useWorkspace();
  return (
    <time dateTime={at} title={formatTime(at, 'UTC')}>
      {formatTime(at, timeZone)}
    </time>
  );
}
