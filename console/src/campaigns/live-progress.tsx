import { Card, Group, Progress, Text } from '@mantine/core';
import { useRef } from 'react';
import type { CampaignProgress } from '../api/generated/campaign-answers.ts';
import { Time } from '../parts/time.tsx';
import { countDevices, notDelivered } from './count-devices.ts';

/** How far a sending is, how fast, and when it will be done. */
export function LiveProgress({ progress }: { progress: CampaignProgress }) {
  const done = countDevices(progress, ['ACCEPTED', ...notDelivered]);
  const rate = useRate(done, progress);
  const left = Math.max(0, progress.reachableDevices - done);
  if (progress.openRuns === 0) return null;
  const percent = progress.reachableDevices === 0 ? 0 : Math.min(100, (done / progress.reachableDevices) * 100);
  return (
    <Card withBorder component="section" aria-label="Sending">
      <Group justify="space-between" mb={4}>
        <Text size="sm" fw={600}>
          {done.toLocaleString('en')} of {progress.reachableDevices.toLocaleString('en')} devices processed
        </Text>
        <Text size="sm" component="div">
          {rate === undefined || progress.status === 'PAUSED' ? (
            progress.status.toLowerCase()
          ) : (
            <>
              {Math.round(rate).toLocaleString('en')} a second
              {left > 0 && rate >= 1 && (
                <>
                  , done about <Time at={new Date(Date.parse(progress.at) + (left / rate) * 1000).toISOString()} />
                </>
              )}
            </>
          )}
        </Text>
      </Group>
      <Progress value={percent} aria-label="Devices processed" animated={progress.status === 'SENDING'} />
    </Card>
  );
}

type Sample = { at: number; done: number };

/** Over the last changes, so that one second without any does not say zero. */
function useRate(done: number, { at }: CampaignProgress): number | undefined {
  const samples = useRef<Sample[]>([]);
  const now = Date.parse(at);
  const last = samples.current.at(-1);
  if (!last || last.at !== now) samples.current = [...samples.current, { at: now, done }].slice(-10);
  const [first] = samples.current;
  if (!first || now - first.at < 500) return undefined;
  return ((done - first.done) * 1000) / (now - first.at);
}
