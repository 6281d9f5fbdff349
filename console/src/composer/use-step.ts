import { useNavigate, useSearch } from '@tanstack/react-router';
import { steps } from './steps.ts';
import type { Step } from './steps.ts';

/** The step that the address names. */
export function useStep(): { step: Step; go: (step: Step) => void } {
  const { step = 'audience' } = useSearch({ strict: false }) as { step?: Step };
  const navigate = useNavigate();
  return {
    step: step in steps ? step : 'audience',
    go(next) {
      const changed = (search: Record<string, unknown>) => ({ ...search, step: next });
      void navigate({ to: '.', search: changed as never });
    },
  };
}
