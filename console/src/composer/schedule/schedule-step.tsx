import { Card, Grid, Stack, Text, Title } from '@mantine/core';
import type { CampaignOccurrence } from '../../api/generated/composer.ts';
import { textAt } from '../page/campaign-body.ts';
import { useCampaignForm } from '../page/campaign-form.ts';
import { PartFaults } from '../page/form-fields.tsx';
import { DeliveryFields } from './delivery-fields.tsx';
import { GoalFields } from './goal-fields.tsx';
import { TimingFields } from './timing-fields.tsx';
import { scheduling, timingKind } from './timing.ts';
import { formatMinute } from '../../parts/format-time.ts';

const wholes = [
  'scheduling_details.periodic_details',
  'scheduling_details.user_timezone_details',
  'delivery_controls',
  'advanced',
  'conversion_goal_details',
  'conversion_goal_details.goals',
];

/** When it is sent, how it travels, and what counts as success. */
export function ScheduleStep() {
  return (
    <Grid gap="lg">
      <Grid.Col span={{ base: 12, md: 7 }}>
        <Stack gap="lg">
          <PartFaults paths={wholes} />
          <Card withBorder>
            <Title order={2} size="h5" mb="sm">
              When
            </Title>
            <TimingFields />
          </Card>
          <Card withBorder>
            <Title order={2} size="h5" mb="sm">
              Delivery
            </Title>
            <DeliveryFields />
          </Card>
          <Card withBorder>
            <Title order={2} size="h5" mb="sm">
              Goals
            </Title>
            <GoalFields />
          </Card>
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 5 }}>
        <Occurrences />
      </Grid.Col>
    </Grid>
  );
}

/** The next times it is sent, by the function that sends it. */
function Occurrences() {
  const { check, body } = useCampaignForm();
  const schedule = check?.schedule;
  return (
    <Card withBorder style={{ position: 'sticky', top: 72 }} role="region" aria-label="When it is sent">
      <Stack gap="sm">
        <Title order={2} size="h5">
          When it is sent
        </Title>
        {!schedule && <Text size="sm">Choose a time to see the next three occurrences.</Text>}
        {schedule && schedule.occurrences.length === 0 && <Text size="sm">{withoutOccurrences(timingKind(body))}</Text>}
        {schedule?.occurrences.map((occurrence) => (
          <OccurrenceOf key={occurrence.at} occurrence={occurrence} />
        ))}
        {textAt(body, `${scheduling}.delivery_type`).toUpperCase() === 'SEND_IN_USER_TIMEZONE' && (
          <Text size="sm">
            These are the times in the earliest time zone; people in other zones follow at the same local time.
          </Text>
        )}
        {timingKind(body) === 'periodic' && (schedule?.occurrences.length ?? 0) > 0 && (
          <Text size="xs" c="dimmed">
            {schedule!.occurrences.length < 3 ? 'No further occurrences.' : 'And so on.'} The local time is kept across
            clock changes.
          </Text>
        )}
      </Stack>
    </Card>
  );
}

function withoutOccurrences(kind: ReturnType<typeof timingKind>): string {
  return kind === 'event' ? 'Whenever the event happens.' : 'As soon as you send it.';
}

function OccurrenceOf({ occurrence }: { occurrence: CampaignOccurrence }) {
  const { local, timeZone, offset, at } = occurrence;
  const day = new Intl.DateTimeFormat('en-GB', {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    timeZone: 'UTC',
  }).format(new Date(`${local.date}T00:00:00Z`));
  return (
    <div data-moment={at}>
      <Text fw={600}>
        {day}, {local.time}
      </Text>
      <Text size="sm">
        {timeZone} (UTC{offset === '+00:00' ? '' : offset}) · {formatMinute(at, 'UTC')}
      </Text>
      {occurrence.clockChange && (
        <Text size="sm" fw={500}>
          {tellChange(occurrence.clockChange)}
        </Text>
      )}
    </div>
  );
}

function tellChange(change: NonNullable<CampaignOccurrence['clockChange']>): string {
  switch (change.kind) {
    case 'skipped':
      return `There is no ${change.asked} on this day: the clocks go forward.`;
    case 'twice':
      return 'This time occurs twice on this day; the first one is used.';
    case 'shifted':
      return `The clocks change before this: UTC${change.before} becomes UTC${change.after}.`;
  }
}
