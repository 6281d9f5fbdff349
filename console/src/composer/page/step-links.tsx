import { Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { toldFaults, useCampaignForm } from './campaign-form.ts';
import classes from './step-links.module.css';
import { stepNames, stepOf, steps, useStep } from './steps.ts';
import type { Step } from './steps.ts';

/** The steps with how they stand. Each is an address, so one goes to and fro as one likes. */
export function StepLinks({ isDone }: { isDone: (step: Step) => boolean }) {
  const form = useCampaignForm();
  const { step: present } = useStep();
  const faults = toldFaults(form);
  return (
    <nav aria-label="Steps">
      <ol className={classes.steps}>
        {stepNames.map((step, index) => {
          const open = step === 'review' ? 0 : faults.filter(({ field }) => stepOf(field) === step).length;
          const isComplete = step !== 'review' && open === 0 && isDone(step);
          const state = open > 0 ? `${open} to fix` : isComplete ? 'Done' : steps[step].about;
          return (
            <li key={step}>
              <Link
                to="."
                search={((search: Record<string, unknown>) => ({ ...search, step })) as never}
                className={`${classes.step} ${step === present ? classes.present : ''} ${open > 0 ? classes.open : isComplete ? classes.done : ''}`}
                data-state={open > 0 ? 'open' : isComplete ? 'done' : 'to-do'}
              >
                <span className={classes.mark} aria-hidden>
                  {open > 0 ? '!' : isComplete ? '✓' : index + 1}
                </span>
                <span style={{ minWidth: 0 }}>
                  <Text size="sm" fw={600} component="span" display="block">
                    {steps[step].name}
                  </Text>
                  <Text size="xs" component="span" display="block">
                    {state}
                  </Text>
                </span>
              </Link>
            </li>
          );
        })}
      </ol>
    </nav>
  );
}
