import type { CampaignBody } from '@carillon/client';
import { Stack, Button, Group, Modal, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams, useSearch, useBlocker, Link } from '@tanstack/react-router';
import { useCallback, useMemo, useRef, useState, useEffect } from 'react';
import type { RefObject } from 'react';
import type { CampaignReport } from '../api/generated/campaign-answers.ts';
import type { ComposerResources } from '../api/generated/composer.ts';
import { consoleClient } from '../console.ts';
import { draftKey } from '../parts/forms/drafts.ts';
import { Loaded } from '../parts/loaded.tsx';
import { Notice } from '../parts/notice.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { RouteLink } from '../parts/links.tsx';
import { StatusBadge } from '../parts/status-badge.tsx';
import { Ago } from '../parts/text/time.tsx';
import { useWorkspace } from '../shell/workspace.ts';
import { AudienceStep } from './audience/audience-step.tsx';
import { ofSegments } from './audience/audience.ts';
import type { ChosenSegment } from './audience/audience.ts';
import { newCampaign, writeAt, mergePatchOf, sentBody, textAt } from './campaign-body.ts';
import { CampaignFormContext, useCheck, visibleFaults, useCampaignForm } from './campaign-form.ts';
import type { CampaignForm } from './campaign-form.ts';
import { useNameFromTitle } from './name-from-title.ts';
import { baseContent, nearestContent } from './content/variants.ts';
import type { ShownContent } from './content/variants.ts';
import { ContentStep } from './content/content-step.tsx';
import classes from './step-links.module.css';
import { ReviewStep } from './review/review-step.tsx';
import { SaveBar } from './save-bar.tsx';
import { ScheduleStep } from './schedule/schedule-step.tsx';
import { stepNames, useStep, stepOf, steps } from './steps.ts';
import type { Step } from './steps.ts';

/** Creates a campaign, or edits one that may change. */
export function ComposerPage() {
  const { id: workspaceId } = useWorkspace();
  const { campaignId } = useParams({ strict: false });
  const resources = useQuery({
    queryKey: ['composer', workspaceId],
    queryFn: () => consoleClient.composer.readResources(workspaceId),
    staleTime: 60_000,
  });
  return (
    <Loaded query={resources}>
      {(data) =>
        campaignId === undefined ? (
          <New key={workspaceId} resources={data} />
        ) : (
          <Existing key={campaignId} campaignId={campaignId} resources={data} />
        )
      }
    </Loaded>
  );
}

/** A new campaign. The address may name its segment. */
function New({ resources }: { resources: ComposerResources }) {
  const { id: workspaceId } = useWorkspace();
  const { segment: segmentId } = useSearch({ strict: false });
  const segment = useQuery({
    queryKey: ['segment', workspaceId, segmentId],
    queryFn: () => consoleClient.segments.read({ workspaceId, id: segmentId! }),
    enabled: segmentId !== undefined,
  });
  const compose = (body: CampaignBody) => (
    <Composer resources={resources} saved={{}} body={body} existing={undefined} />
  );
  if (segmentId === undefined) return compose(newCampaign(resources));
  return <Loaded query={segment}>{({ id, name }) => compose(toSegment(newCampaign(resources), { id, name }))}</Loaded>;
}

function toSegment(body: CampaignBody, segment: ChosenSegment): CampaignBody {
  const changes = Object.entries(ofSegments([segment], 'or'));
  return changes.reduce((next, [path, value]) => writeAt(next, path, value), body);
}

function Existing({ campaignId, resources }: { campaignId: string; resources: ComposerResources }) {
  const { id: workspaceId } = useWorkspace();
  const report = useQuery({
    // Not the report's cached copy: edits must start from what is stored now.
    queryKey: ['composed', workspaceId, campaignId],
    // The mark first: a change by an agent in between is then not one that the user has seen.
    queryFn: async () => {
      const agentChange = await consoleClient.agents.readChange({ workspaceId, id: campaignId });
      return { agentChange, ...(await consoleClient.campaigns.read({ workspaceId, id: campaignId })) };
    },
    staleTime: 0,
    gcTime: 0,
  });
  return (
    <Loaded query={report}>
      {({ campaign, request, agentChange }) =>
        campaign.mayEdit ? (
          <Composer
            resources={resources}
            saved={request}
            body={request}
            existing={{ id: campaign.id, status: campaign.status, agentChange }}
          />
        ) : (
          <NotEditable campaign={campaign} />
        )
      }
    </Loaded>
  );
}

function NotEditable({ campaign }: { campaign: CampaignReport['campaign'] }) {
  const { id: workspaceId } = useWorkspace();
  return (
    <Stack gap="xs">
      <PageHeader
        title={`“${campaign.name}” cannot be changed`}
        about={`It is ${campaign.status.toLowerCase()}, or it was created by a push request. Duplicate it and edit the copy.`}
      />
      <RouteLink
        to="/w/$workspaceId/campaigns/$campaignId"
        params={{ workspaceId, campaignId: campaign.id }}
        search={{}}
        style={{ width: 'fit-content' }}
      >
        Open its report
      </RouteLink>
    </Stack>
  );
}

type ComposerProps = {
  resources: ComposerResources;
  /** The campaign as the server stores it. */
  saved: CampaignBody;
  body: CampaignBody;
  existing: CampaignForm['existing'];
};

/** The four steps of a campaign. The form edits the V5 body itself, so nothing is translated. */
function Composer({ resources, saved: first, body: begun, existing: opened }: ComposerProps) {
  // The form keeps what it was opened with, so a later change by an agent is not one that the user has seen.
  const [agentChange] = useState(opened?.agentChange);
  const existing = opened && { ...opened, agentChange };
  const { step } = useStep();
  const { id: workspaceId } = useWorkspace();
  const { segment = '' } = useSearch({ strict: false });
  const key = draftKey({ kind: 'campaign', workspaceId, id: existing?.id ?? `new.${segment}` });
  const [restored] = useState(() => readKeptBody(key, begun));
  const [isRestored, setRestored] = useState(restored !== undefined);
  const [body, setBody] = useState(restored ?? begun);
  const [saved, setSaved] = useState(first);
  const setAside = useRef(new Map<string, unknown>()).current;
  const [asked, show] = useState<ShownContent>(baseContent);
  const write = useCallback(
    (changes: Record<string, unknown>) =>
      setBody((present) =>
        Object.entries(changes).reduce((next, [path, value]) => writeAt(next, path, value), present),
      ),
    [],
  );
  useNameFromTitle({ body, step, write });
  const { check, seen, isChecking } = useSeen({ body, existing, step });
  const change = useMemo(() => mergePatchOf(sentBody(saved), sentBody(body)), [saved, body]);
  // A new campaign without changes is not kept as a draft.
  const isDirty =
    existing === undefined ? mergePatchOf(sentBody(begun), sentBody(body)) !== undefined : change !== undefined;
  const isLeaving = useRef(false);
  const isKept = useKeptBody({ key, upon: existing === undefined ? begun : saved, body, isDirty, isLeaving });
  const shown = nearestContent(body, asked);
  const form: CampaignForm = { body, write, check, isChecking, shown, show, resources, setAside, existing, seen };
  const title = textAt(body, 'basic_details.name').trim() || (existing ? 'Unnamed campaign' : 'New campaign');
  return (
    <CampaignFormContext value={form}>
      <Stack gap="md">
        <PageHeader
          title={title}
          about={<Group gap="xs">{existing ? <StatusBadge status={existing.status} /> : 'Not saved yet.'}</Group>}
        />
        {agentChange && (
          <Notice tone="note">
            {agentChange.agentName} changed this draft <Ago at={agentChange.changedAt} clock="real" />. Review each step
            before you send it.
          </Notice>
        )}
        {isRestored && isDirty && (
          <Group gap="xs" role="status">
            <Text size="sm">Your unsaved changes in this browser are shown.</Text>
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

/** Validates the form. Shows what is missing in steps that the user has left; the review shows everything. */
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
  /** The browser keeps the changes over a reload. */
  isKept: boolean;
  /** Set when the composer navigates after it has stored the changes. */
  isLeaving: RefObject<boolean>;
};

/** Asks before the user leaves with unsaved changes. The steps are the same page. */
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

/** The steps with their state. Each has an address, so users may go to any of them. */
function StepLinks({ isDone }: { isDone: (step: Step) => boolean }) {
  const form = useCampaignForm();
  const { step: present } = useStep();
  const faults = visibleFaults(form);
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

/** The edited campaign and the version it is based on, so that a change made elsewhere is not overwritten. */
type Kept = { upon: CampaignBody; body: CampaignBody };

/** Unsaved changes in this browser; undefined if there are none or if they are based on another version. */
function readKeptBody(key: string, upon: CampaignBody): CampaignBody | undefined {
  try {
    const kept = JSON.parse(localStorage.getItem(key) ?? 'null') as Kept | null;
    return kept !== null && mergePatchOf(sentBody(kept.upon), sentBody(upon)) === undefined ? kept.body : undefined;
  } catch {
    // A draft of another version of the console.
    return undefined;
  }
}

type Keeping = Kept & {
  key: string;
  isDirty: boolean;
  /** Set after the changes were saved or discarded. Nothing is kept then. */
  isLeaving: RefObject<boolean>;
};

/**
 * Keeps unsaved changes in the browser, so that a reload or an expired session loses nothing. @returns true if the
 * browser keeps them
 */
function useKeptBody({ key, upon, body, isDirty, isLeaving }: Keeping): boolean {
  const [isKept, setKept] = useState(false);
  useEffect(() => {
    if (isDirty) setKept(writeKeptBody(key, { upon, body }));
    else localStorage.removeItem(key);
  }, [key, upon, body, isDirty]);
  useEffect(
    () => () => {
      if (isLeaving.current) localStorage.removeItem(key);
    },
    [key, isLeaving],
  );
  return isDirty && isKept;
}

/** @returns false if the browser stores nothing */
function writeKeptBody(key: string, kept: Kept): boolean {
  try {
    localStorage.setItem(key, JSON.stringify(kept));
    return true;
  } catch {
    return false;
  }
}
