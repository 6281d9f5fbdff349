import { CarillonError } from '@carillon/client';
import type { CampaignBody } from '@carillon/client';
import { Button, Group, Paper, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode, RefObject } from 'react';
import type { CampaignOccurrence } from '../api/generated/composer.ts';
import { consoleClient } from '../console.ts';
import { Failure } from '../parts/failure.tsx';
import { ConfirmButton } from '../parts/forms/confirm-button.tsx';
import { Notice } from '../parts/notice.tsx';
import { platformNames } from '../parts/text/platform-names.ts';
import { useServerNow } from '../parts/text/server-clock.ts';
import { showToast } from '../parts/toast/toast-list.ts';
import { useWorkspace } from '../shell/workspace.ts';
import { reachOf, useAudienceCount } from './audience/audience-count-card.tsx';
import type { Reached } from './audience/audience-count-card.tsx';
import { platformsOf, sentBody, textAt } from './campaign-body.ts';
import { useCampaignForm } from './campaign-form.ts';
import { exceptionSentences, occurrenceText } from './schedule/describe-times.ts';
import { timingKind } from './schedule/timing.ts';
import { useLocalTimes } from './schedule/use-local-times.ts';
import { useStep } from './steps.ts';

type SaveBarProps = {
  change: CampaignBody | undefined;
  isDirty: boolean;
  /** True if the browser keeps the changes. */
  isKept: boolean;
  isLeaving: RefObject<boolean>;
  onSaved: () => void;
  /** Buttons to the other steps. */
  next: ReactNode;
};

/** Saves the campaign as a draft or, at the last step, sends it. */
export function SaveBar({ change, isDirty, isKept, isLeaving, onSaved, next }: SaveBarProps) {
  const { existing } = useCampaignForm();
  const { step } = useStep();
  const save = useSave({ change, isLeaving, onSaved });
  const draft = useMutation({ mutationFn: save.saveDraft });
  const isDraft = existing === undefined || existing.status === 'DRAFT';
  return (
    <Paper
      withBorder
      p="sm"
      radius="lg"
      style={{ position: 'sticky', bottom: 8, zIndex: 5 }}
      component="section"
      aria-label="Save"
    >
      <Stack gap="xs">
        {draft.error !== null && <Refused error={draft.error} />}
        <Group justify="space-between">
          <Text size="sm" role="status">
            {isDirty
              ? `Unsaved changes${isKept ? ', kept in this browser' : ''}.`
              : existing
                ? 'All changes saved.'
                : 'Nothing to save yet.'}
          </Text>
          <Group gap="xs">
            {isDraft && (
              <Button variant="default" loading={draft.isPending} disabled={!isDirty} onClick={() => draft.mutate()}>
                Save draft
              </Button>
            )}
            {next}
            {step === 'review' && <SendButton save={save} hasChanges={change !== undefined} />}
          </Group>
        </Group>
      </Stack>
    </Paper>
  );
}

/** A draft may be incomplete, but what it contains must be valid. */
function Refused({ error }: { error: Error }) {
  if (!(error instanceof CarillonError) || error.faults.length === 0) return <Failure error={error} what="Not saved" />;
  return (
    <Notice tone="error" role="alert" title="Not saved: a draft may be incomplete, but what it contains must be valid">
      {error.faults.map(({ message }) => message).join(' ')}
    </Notice>
  );
}

type SendButtonProps = { save: ReturnType<typeof useSave>; hasChanges: boolean };

const labels = { now: 'Send', once: 'Schedule', periodic: 'Start', event: 'Start' } as const;

const done = { now: 'sent in ten seconds', once: 'scheduled', periodic: 'started', event: 'started' } as const;

/** A campaign that is sent at once waits this long. One that is sent later can be recalled until then, from its page. */
const undoSeconds = 10;

/** A send that begins later than this can be seen in the list, and made a draft again, in good time (decision 0101). */
const undoneInTimeMilliseconds = 10 * 60_000;

/** The last step. What cannot be undone in good time asks first, and shows the size of the audience. */
function SendButton({ save, hasChanges }: SendButtonProps) {
  const { body, existing, check } = useCampaignForm();
  const now = useServerNow('service');
  const isChange = existing !== undefined && existing.status !== 'DRAFT';
  const isGood = check !== undefined && check.faults.length === 0;
  const name = textAt(body, 'basic_details.name').trim();
  const kind = timingKind(body);
  const label = isChange ? 'Save changes' : labels[kind];
  const send = async () => {
    const id = await save.send();
    const undo = { undo: () => save.recall(id), undone: `“${name}” is a draft again`, undoSeconds };
    showToast({ text: `“${name}” is ${done[kind]}`, ...undo });
  };
  if (!isChange && kind === 'once' && isInTime(check?.schedule?.occurrences[0], now))
    return <ScheduleButton isDisabled={!isGood} onClick={send} />;
  return (
    <ConfirmButton
      label={label}
      color="accent"
      variant="filled"
      title={isChange ? `Change “${name}”?` : `${label} “${name}”?`}
      isDisabled={!isGood || (isChange && !hasChanges)}
      hits={<Hits isChange={isChange} />}
      onConfirmed={async () => {
        if (!isChange) return send();
        await save.saveLive();
        return showToast({ text: `“${name}” is saved` });
      }}
    />
  );
}

/** True if the first message of an occurrence leaves so late that a mistake can still be taken back. */
function isInTime(occurrence: CampaignOccurrence | undefined, now: number): boolean {
  if (occurrence === undefined) return false;
  const first = occurrence.everyZone?.first.at ?? occurrence.at;
  return Date.parse(first) - now > undoneInTimeMilliseconds;
}

/** Schedules at once: the review shows what will happen, and the campaign can be made a draft again until its time. */
function ScheduleButton({ isDisabled, onClick }: { isDisabled: boolean; onClick: () => Promise<void> }) {
  const act = useMutation({ mutationFn: onClick });
  return (
    <>
      {act.error !== null && <Failure error={act.error} />}
      <Button color="accent" disabled={isDisabled} loading={act.isPending} onClick={() => act.mutate()}>
        {labels.once}
      </Button>
    </>
  );
}

function Hits({ isChange }: { isChange: boolean }) {
  const { body, check } = useCampaignForm();
  const { timeZone } = useWorkspace();
  const { data, isPlaceholderData } = useAudienceCount();
  // A count of another audience would be wrong.
  const reach = data?.state === 'COUNTED' && !isPlaceholderData ? reachOf(data, platformsOf(body)) : undefined;
  const platforms = platformsOf(body);
  const names = platforms.map((platform) => platformNames[platform]).join(', ');
  const localTimes = useLocalTimes();
  const [occurrence] = check?.schedule?.occurrences ?? [];
  const when = {
    now: `in ${undoSeconds} seconds; until then you can undo it, later nothing can be recalled`,
    once: occurrence ? occurrenceText(occurrence) : 'at its time',
    periodic: occurrence ? `first ${occurrenceText(occurrence)}` : 'at its times',
    event: 'whenever its event happens',
  }[timingKind(body)];
  return (
    <Text size="sm" data-zone={timeZone}>
      {reach ? reachText(reach) : 'All devices of its audience'} on {names} would get it, as they are now. It is sent{' '}
      {when}. {occurrence && exceptionSentences(occurrence, localTimes).join(' ')}
      {isChange && ' Messages already sent do not change.'}
    </Text>
  );
}

function reachText({ devices, reached, outsideTopic }: Reached): string {
  const of = (count: number, [one, many]: [string, string]) =>
    `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
  const users = of(reached, ['person', 'people']);
  // The count does not say which of the devices belong to users outside the topic.
  if (outsideTopic > 0) return users;
  return `${of(devices, ['device', 'devices'])} of ${users}`;
}

type SaveOptions = {
  /** The merge patch of the stored campaign; undefined if nothing changed. */
  change: CampaignBody | undefined;
  isLeaving: RefObject<boolean>;
  onSaved: () => void;
};

/** Stores and sends the campaign, by the calls that "The same through the API" shows. */
function useSave({ change, isLeaving, onSaved }: SaveOptions) {
  const { id: workspaceId } = useWorkspace();
  const { body, existing } = useCampaignForm();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const renew = (id: string) =>
    queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[2] === id || queryKey[0] === 'campaigns' });

  /** @returns the id of the campaign that has the changes */
  async function store(): Promise<string> {
    if (!existing) return (await consoleClient.composer.create({ workspaceId, campaign: sentBody(body) })).id;
    if (change === undefined) return existing.id;
    return (await consoleClient.composer.change({ workspaceId, id: existing.id, campaign: change })).id;
  }

  async function goTo(id: string, to: 'report' | 'composer'): Promise<void> {
    isLeaving.current = true;
    await renew(id);
    const params = { workspaceId, campaignId: id };
    if (to === 'report') await navigate({ to: '/w/$workspaceId/campaigns/$campaignId', params, search: {} });
    else {
      const same = (search: Record<string, unknown>) => search;
      const address = '/w/$workspaceId/campaigns/$campaignId/edit' as const;
      await navigate({ to: address, params, search: same as never, replace: true });
    }
  }

  return {
    /** Creates the draft and opens its address. */
    async saveDraft(): Promise<void> {
      const id = await store();
      onSaved();
      if (existing) await renew(id);
      else await goTo(id, 'composer');
    },
    /** Changes a scheduled or live campaign and shows it. */
    async saveLive(): Promise<void> {
      await goTo(await store(), 'report');
    },
    /** @returns the id of the campaign */
    async send(): Promise<string> {
      const id = await store();
      try {
        const seenChange = existing?.agentChange?.id;
        await consoleClient.composer.publish({ workspaceId, id, delaySeconds: undoSeconds, seenChange });
      } catch (error) {
        // The draft exists, so the next attempt changes it instead of creating a second one.
        onSaved();
        if (!existing) await goTo(id, 'composer');
        throw error;
      }
      await goTo(id, 'report');
      return id;
    },
    async recall(id: string): Promise<void> {
      await consoleClient.composer.recall({ workspaceId, id });
      await goTo(id, 'composer');
    },
  };
}
