import type { CampaignBody } from '@carillon/client';
import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useBlocker, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo, useRef, useState } from 'react';
import type { RefObject } from 'react';
import type { ComposerResources } from '../../api/generated/composer.ts';
import { draftKey } from '../../parts/drafts.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { useWorkspace } from '../../shell/workspace.ts';
import { AudienceStep } from '../audience/audience-step.tsx';
import { ContentStep } from '../content/content-step.tsx';
import { ReviewStep } from '../review/review-step.tsx';
import { ScheduleStep } from '../schedule/schedule-step.tsx';
import { mergePatchOf, sentBody, textAt, writeAt } from './campaign-body.ts';
import type { Platform } from './campaign-body.ts';
import { CampaignFormContext, useCheck } from './campaign-form.ts';
import type { CampaignForm } from './campaign-form.ts';
import { readKeptBody, useKeptBody } from './kept-body.ts';
import { SaveBar } from './save-bar.tsx';
import { StepLinks } from './step-links.tsx';
import { stepNames, useStep } from './steps.ts';
import type { Step } from './steps.ts';

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
  const { id: workspaceId } = useWorkspace();
  const { segment = '' } = useSearch({ strict: false });
  const key = draftKey({ kind: 'campaign', workspaceId, id: existing?.id ?? `new.${segment}` });
  const [restored] = useState(() => readKeptBody(key, begun));
  const [isRestored, setRestored] = useState(restored !== undefined);
  const [body, setBody] = useState(restored ?? begun);
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
  const isKept = useKeptBody({ key, upon: existing === undefined ? begun : saved, body, isDirty, isLeaving });
  const form: CampaignForm = { body, write, check, resources, setAside, existing, seen };
  const title = textAt(body, 'basic_details.name').trim() || (existing ? 'Unnamed campaign' : 'New campaign');
  return (
    <CampaignFormContext value={form}>
      <Stack gap="md">
        <PageHeader
          title={title}
          about={<Group gap="xs">{existing ? <StatusBadge status={existing.status} /> : 'Not saved yet.'}</Group>}
        />
        {isRestored && isDirty && (
          <Group gap="xs" role="status">
            <Text size="sm">What you wrote in this browser is shown.</Text>
            <Button
              size="compact-sm"
              variant="default"
              onClick={() => {
                setBody(begun);
                setRestored(false);
              }}
            >
              Discard changes
            </Button>
          </Group>
        )}
        <StepLinks isDone={(one) => isDone(one, form)} />
        <Shown step={step} change={change} isChecking={isChecking} />
        <SaveBar
          change={change}
          isDirty={isDirty}
          isKept={isKept}
          isLeaving={isLeaving}
          onSaved={() => setSaved(body)}
          next={<StepButtons />}
        />
      </Stack>
      <LeaveGuard isDirty={isDirty} isKept={isKept} isLeaving={isLeaving} />
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

type LeaveGuardProps = {
  isDirty: boolean;
  /** It is there again after a reload. */
  isKept: boolean;
  /** Set when the composer itself goes on: what was written is stored then. */
  isLeaving: RefObject<boolean>;
};

/** What was written and not saved is not lost by a click: leaving asks first. Steps are the same page. */
function LeaveGuard({ isDirty, isKept, isLeaving }: LeaveGuardProps) {
  const { proceed, reset, status } = useBlocker({
    shouldBlockFn: ({ current, next }) => isDirty && !isLeaving.current && current.pathname !== next.pathname,
    enableBeforeUnload: () => isDirty && !isKept && !isLeaving.current,
    withResolver: true,
  });
  return (
    <Modal.Root opened={status === 'blocked'} onClose={() => reset?.()} transitionProps={{ duration: 0 }}>
      <Modal.Overlay />
      <Modal.Content>
        <Modal.Body>
          <Stack>
            <Modal.Title fw={600}>Leave without saving?</Modal.Title>
            <Text size="sm">Changes since you last saved will be lost.</Text>
            <Group justify="flex-end">
              <Button variant="default" onClick={() => reset?.()}>
                Stay
              </Button>
              <Button
                color="red.9"
                onClick={() => {
                  isLeaving.current = true;
                  proceed?.();
                }}
              >
                Leave without saving
              </Button>
            </Group>
          </Stack>
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}
