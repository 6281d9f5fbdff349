import { Button } from '@mantine/core';

type AttemptsButtonProps = { attempts: number; resends: number; ariaLabel?: string; onOpened: () => void };

/** The number of delivery attempts, which opens their list. Without attempts it is a plain number. */
export function AttemptsButton({ attempts, resends, ariaLabel, onOpened }: AttemptsButtonProps) {
  if (attempts + resends === 0) return 0;
  const words = `Show ${attempts}${resends > 0 ? ` after ${resends} ${resends === 1 ? 'resend' : 'resends'}` : ''}`;
  return (
    <Button
      variant="default"
      size="compact-xs"
      onClick={onOpened}
      {...(ariaLabel !== undefined && { 'aria-label': `${words}: ${ariaLabel}` })}
    >
      {words}
    </Button>
  );
}
