import type { CampaignBody } from '@carillon/client';
import { Card, Grid, Group, Stack, Text, Title, VisuallyHidden } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Notice } from '../../parts/notice.tsx';
import { CampaignCode } from './campaign-code.tsx';
import { sentence, visibleFaults, useCampaignForm } from '../campaign-form.ts';
import { describeCampaign } from './describe-campaign.ts';
import { platformsOf } from '../campaign-body.ts';
import { Previews } from '../previews.tsx';
import { useLocalTimes } from '../schedule/use-local-times.ts';
import { fieldName } from '../field-names.ts';
import { stepOf, steps } from '../steps.ts';
import type { Step } from '../steps.ts';
import { TestSend } from './test-send.tsx';
import { reachOf, useAudienceCount } from '../audience/audience-count-card.tsx';

type ReviewStepProps = { change: CampaignBody | undefined; isChecking: boolean };

/** The review: the campaign in sentences, warnings, and a test. */
export function ReviewStep({ change, isChecking }: ReviewStepProps) {
  return (
    <Grid gap="lg">
      <Grid.Col span={{ base: 12, md: 7 }}>
        <Stack gap="lg">
          <Faults />
          <Warnings isChecking={isChecking} />
          <Sentences />
          <TestSend />
          <CampaignCode change={change} />
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 5 }}>
        <Previews />
      </Grid.Col>
    </Grid>
  );
}

function Faults() {
  const form = useCampaignForm();
  const faults = visibleFaults(form);
  if (faults.length === 0) return null;
  return (
    <Notice tone="error" title="Fix these before sending">
      <ul style={{ margin: 0, paddingLeft: 18 }}>
        {faults.map(({ field, issue }) => (
          <li key={`${field} ${issue}`}>
            <ToStep step={stepOf(field)}>{steps[stepOf(field)].name}</ToStep>: {fieldName(field)} {issue}.
          </li>
        ))}
      </ul>
    </Notice>
  );
}

function ToStep({ step, children }: { step: Step; children: ReactNode }) {
  return (
    <Link
      to="."
      search={((search: Record<string, unknown>) => ({ ...search, step })) as never}
      style={{ color: 'inherit' }}
    >
      {children}
    </Link>
  );
}

type Shown = { tone: 'warning' | 'note'; part: Step; message: string };

function Warnings({ isChecking }: { isChecking: boolean }) {
  const { check } = useCampaignForm();
  const all = [...useAudienceWarnings(), ...(check?.warnings ?? [])];
  const warnings = all.filter(({ tone }) => tone === 'warning');
  const notes = all.filter(({ tone }) => tone === 'note');
  return (
    <section aria-label="Warnings" aria-busy={isChecking}>
      <Stack gap="sm">
        {warnings.length > 0 && (
          <Notice tone="warning" title={warnings.length === 1 ? 'Check this' : `Check these ${warnings.length}`}>
            <List items={warnings} />
          </Notice>
        )}
        {notes.length > 0 && (
          <Notice tone="note" title="Good to know">
            <List items={notes} />
          </Notice>
        )}
      </Stack>
    </section>
  );
}

function List({ items }: { items: Shown[] }) {
  return (
    <ul style={{ margin: 0, paddingLeft: 18 }}>
      {items.map(({ message, part }) => (
        <li key={message}>
          {message} <ToStep step={part}>{steps[part].name}</ToStep>
        </li>
      ))}
    </ul>
  );
}

/** Warnings of the count: the audience is empty, or has no reachable device. */
function useAudienceWarnings(): Shown[] {
  const { body } = useCampaignForm();
  const { data } = useAudienceCount();
  const warn = (message: string): Shown => ({ tone: 'warning', part: 'audience', message });
  if (data?.state === 'TOO_SLOW') return [{ ...warn('The audience is too large to count now.'), tone: 'note' }];
  if (data?.state !== 'COUNTED') return [];
  const { users, reached, outsideTopic } = reachOf(data, platformsOf(body));
  const pending = data.pending.map((reason) => warn(`${sentence(reason)}.`));
  if (users === 0) return [...pending, warn('The audience is empty.')];
  if (reached === 0 && outsideTopic > 0) return [...pending, warn('No one who could receive it is in its topic.')];
  if (reached === 0) return [...pending, warn('No one in the audience has a device that can receive it.')];
  const idle = platformsOf(body).filter((platform) => reachOf(data, [platform]).devices === 0);
  return [
    ...pending,
    ...idle.map((platform) => ({
      ...warn(`No device in the audience accepts messages on ${platform}.`),
      tone: 'note' as const,
    })),
  ];
}

function Sentences() {
  const form = useCampaignForm();
  const count = useAudienceCount();
  const localTimes = useLocalTimes();
  const platforms = platformsOf(form.body);
  const reach =
    count.data?.state === 'COUNTED' && !count.isPlaceholderData ? reachOf(count.data, platforms) : undefined;
  return (
    <Card withBorder>
      <Title order={2} size="h5" mb="xs">
        What will happen
      </Title>
      <Stack gap="sm">
        {describeCampaign(form, { counted: reach, localTimes }).map(({ step, sentences }) => (
          <Group key={step} align="flex-start" wrap="nowrap" justify="space-between">
            <div style={{ minWidth: 0 }}>
              <Text size="sm" fw={600}>
                {steps[step].name}
              </Text>
              {sentences.map((text) => (
                <Text key={text} size="sm" style={{ overflowWrap: 'anywhere' }}>
                  {text}
                </Text>
              ))}
            </div>
            <Text size="sm" component="div" style={{ flexShrink: 0 }}>
              <ToStep step={step}>
                Change<VisuallyHidden> {steps[step].name.toLowerCase()}</VisuallyHidden>
              </ToStep>
            </Text>
          </Group>
        ))}
      </Stack>
    </Card>
  );
}
