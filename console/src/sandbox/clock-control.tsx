import { Button, Group, Text, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { SandboxState } from '../api/generated/sandbox.ts';
import type { ClockMove } from '../api/sandbox.ts';
import { consoleClient } from '../console.ts';
import { Failure } from '../parts/failure.tsx';
import { Time } from '../parts/time.tsx';

const moves = [
  { label: '1 minute', advanceSeconds: 60 },
  { label: '15 minutes', advanceSeconds: 900 },
  { label: '1 hour', advanceSeconds: 3_600 },
  { label: '1 day', advanceSeconds: 86_400 },
  { label: '30 days', advanceSeconds: 30 * 86_400 },
];

type ClockControlProps = { clock: SandboxState['clock']; onState: (state: SandboxState) => void };

/** Tokens, schedules, expiry and limits all read this clock. */
export function ClockControl({ clock, onState }: ClockControlProps) {
  const move = useMutation({
    mutationFn: (by: ClockMove) => consoleClient.sandbox.moveClock(by),
    onSuccess: onState,
  });
  const isMoving = move.isPending || clock.advancing !== null;
  return (
    <section>
      <Title order={2} size="h5" mb="xs">
        Clock
      </Title>
      <Text size="sm" component="div" mb="xs">
        <Time at={clock.now} />, {distance(clock)}
      </Text>
      {clock.advancing !== null && (
        <Text size="sm" role="status" mb="xs">
          Moving: {duration(clock.advancing.remainingSeconds)} left, {clock.advancing.stops} stops so far. It stops
          wherever something is due and lets it happen.
        </Text>
      )}
      {move.error !== null && <Failure error={move.error} />}
      <Group gap="xs">
        {moves.map(({ label, advanceSeconds }) => (
          <Button
            key={label}
            size="xs"
            variant="default"
            disabled={isMoving}
            onClick={() => move.mutate({ advanceSeconds })}
          >
            + {label}
          </Button>
        ))}
        <Button
          size="xs"
          variant="default"
          disabled={isMoving}
          onClick={() => move.mutate(clock.isFrozen ? { resume: true } : { freeze: true })}
        >
          {clock.isFrozen ? 'Unfreeze' : 'Freeze'}
        </Button>
        <Button
          size="xs"
          variant="default"
          disabled={clock.offsetSeconds === 0 && !clock.isFrozen}
          onClick={() => move.mutate({ reset: true })}
        >
          Use real time
        </Button>
      </Group>
    </section>
  );
}

function distance({ offsetSeconds, isFrozen }: SandboxState['clock']): string {
  if (isFrozen) return 'frozen: only what a move makes due happens';
  if (offsetSeconds === 0) return 'real time';
  return `${duration(Math.abs(offsetSeconds))} ${offsetSeconds > 0 ? 'ahead of' : 'behind'} real time`;
}

function duration(seconds: number): string {
  const days = Math.floor(seconds / 86_400);
  const hours = Math.floor((seconds % 86_400) / 3_600);
  const minutes = Math.round((seconds % 3_600) / 60);
  return [days > 0 && `${days} d`, hours > 0 && `${hours} h`, `${minutes} min`].filter(Boolean).join(' ');
}
