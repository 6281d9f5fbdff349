import type { CampaignBody } from '@carillon/client';
import { CarillonError } from '@carillon/client';
import { Button, Group, Paper, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode, RefObject } from 'react';
import { Failure } from '../parts/failure.tsx';
import { Notice } from '../parts/notice.tsx';
import { useCampaignForm } from './campaign-form.ts';
import { SendButton } from './send-button.tsx';
import { useSave } from './use-save.ts';
import { useStep } from './use-step.ts';

type SaveBarProps = {
  change: CampaignBody | undefined;
  isDirty: boolean;
  isLeaving: RefObject<boolean>;
  onSaved: () => void;
  /** To the other steps. */
  next: ReactNode;
};

/** What becomes of what is written: kept as a draft, or sent, at the last step. */
export function SaveBar({ change, isDirty, isLeaving, onSaved, next }: SaveBarProps) {
  const { existing } = useCampaignForm();
  const { step } = useStep();
  const save = useSave({ change, isLeaving, onSaved });
  const draft = useMutation({ mutationFn: save.saveDraft });
  const isDraft = existing === undefined || existing.status === 'DRAFT';
  return (
    <Paper withBorder p="sm" style={{ position: 'sticky', bottom: 8, zIndex: 5 }} component="section" aria-label="Save">
      <Stack gap="xs">
        {draft.error !== null && <Refused error={draft.error} />}
        <Group justify="space-between">
          <Text size="sm" role="status">
            {isDirty
              ? 'There are changes that are not saved.'
              : existing
                ? 'Everything is saved.'
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

/** A draft may lack anything; what it has must be good. */
function Refused({ error }: { error: Error }) {
  if (!(error instanceof CarillonError) || error.faults.length === 0)
    return <Failure error={error} what="It was not saved" />;
  return (
    <Notice tone="error" role="alert" title="It was not saved: a draft may lack anything, but what it has must be good">
      {error.faults.map(({ message }) => message).join(' ')}
    </Notice>
  );
}
