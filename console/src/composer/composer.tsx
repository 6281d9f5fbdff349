import type { CampaignBody, ComposerResources } from '@carillon/client';
import { Button, Group, Stack } from '@mantine/core';
import { useCallback, useMemo, useRef, useState } from 'react';
import { PageHeader } from '../parts/page-header.tsx';
import { StatusBadge } from '../parts/status-badge.tsx';
import { AudienceStep } from './audience-step.tsx';
import { textAt, writeAt } from './body-path.ts';
import { CampaignFormContext } from './campaign-form.ts';
import type { CampaignForm } from './campaign-form.ts';
import { ContentStep } from './content-step.tsx';
import { LeaveGuard } from './leave-guard.tsx';
import type { Platform } from './new-campaign.ts';
import { ReviewStep } from './review-step.tsx';
import { SaveBar } from './save-bar.tsx';
import { ScheduleStep } from './schedule-step.tsx';
import { mergePatchOf, sentBody } from './sent-body.ts';
import { StepLinks } from './step-links.tsx';
import { stepNames } from './steps.ts';
import type { Step } from './steps.ts';
import { useCheck } from './use-check.ts';
import { useStep } from './use-step.ts';

type ComposerProps = {
  resources: ComposerResources;
  /** As the server has it. */
  saved: CampaignBody;
  body: CampaignBody;
  existing: CampaignForm['existing'];
};

/** Four steps over one campaign. What is written is the body of V5 itself, so nothing is translated on the way. */
export function Composer({ resources, saved: first, body: begun, existing }: ComposerProps) {
  const { step } = useStep();
  const [body, setBody] = useState(begun);
  const [saved, setSaved] = useState(first);
  const setAside = useRef(new Map<Platform, unknown>()).current;
  const { check, seen, isChecking } = useSeen({ body, existing, step });
  const write = useCallback(
    (changes: Record<string, unknown>) =>
      setBody((present) =>
        Object.entries(changes).reduce((next, [path, value]) => writeAt(next, path, value), present),
      ),
    [],
  );
  const change = useMemo(() => mergePatchOf(sentBody(saved), sentBody(body)), [saved, body]);
  // A new campaign that says no more than at the start is nothing to be kept.
  const isDirty =
    existing === undefined ? mergePatchOf(sentBody(begun), sentBody(body)) !== undefined : change !== undefined;
  const isLeaving = useRef(false);
  const form: CampaignForm = { body, write, check, resources, setAside, existing, seen };
  const title = textAt(body, 'basic_details.name').trim() || (existing ? 'Unnamed campaign' : 'New campaign');
  return (
    <CampaignFormContext value={form}>
      <Stack gap="md">
        <PageHeader
          title={title}
          about={
            <Group gap="xs">{existing ? <StatusBadge status={existing.status} /> : 'Nothing is stored yet.'}</Group>
          }
        />
        <StepLinks isDone={(one) => isDone(one, form)} />
        <Shown step={step} change={change} isChecking={isChecking} />
        <SaveBar
          change={change}
          isDirty={isDirty}
          isLeaving={isLeaving}
          onSaved={() => setSaved(body)}
          next={<StepButtons />}
        />
      </Stack>
      <LeaveGuard isDirty={isDirty} isLeaving={isLeaving} />
    </CampaignFormContext>
  );
}

function Shown({ step, change, isChecking }: { step: Step; change: CampaignBody | undefined; isChecking: boolean }) {
  switch (step) {
    case 'audience':
      return <AudienceStep />;
    case 'content':
      return <ContentStep />;
    case 'schedule':
      return <ScheduleStep />;
    case 'review':
      return <ReviewStep change={change} isChecking={isChecking} />;
  }
}

function StepButtons() {
  const { step, go } = useStep();
  const index = stepNames.indexOf(step);
  return (
    <>
      {index > 0 && (
        <Button variant="default" onClick={() => go(stepNames[index - 1]!)}>
          Back
        </Button>
      )}
      {index < stepNames.length - 1 && <Button onClick={() => go(stepNames[index + 1]!)}>Next</Button>}
    </>
  );
}

/** The check, and which steps were left: what is missing in them is told then, and everything is in the review. */
function useSeen({ body, existing, step }: { body: CampaignBody; existing: CampaignForm['existing']; step: Step }) {
  const { check, isChecking } = useCheck(body, existing?.id);
  const visited = useRef(new Set<Step>(existing ? stepNames : []));
  const present = useRef(step);
  if (present.current !== step) {
    visited.current = new Set([...visited.current, present.current]);
    present.current = step;
  }
  const seen: ReadonlySet<Step> = step === 'review' ? new Set(stepNames) : visited.current;
  if (step === 'review') visited.current = new Set(stepNames);
  return { check, seen, isChecking };
}

function isDone(step: Step, { check, seen }: CampaignForm): boolean {
  return check !== undefined && seen.has(step);
}
