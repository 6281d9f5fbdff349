import { Card, Grid, Stack, Text, Title, SimpleGrid } from '@mantine/core';
import type { CampaignOccurrence } from '../../api/generated/composer.ts';
import { formatMinute } from '../../parts/text/format-time.ts';
import { parseCaps, describeCaps } from '../../parts/text/frequency-caps.ts';
import { platformsOf, readAt, textAt } from '../campaign-body.ts';
import { useCampaignForm } from '../campaign-form.ts';
import { PartFaults, ChoiceField, FlagField, MoreFields, NumberField } from '../form-fields.tsx';
import { exceptionSentences, spanText } from './describe-times.ts';
import { GoalFields } from './goal-fields.tsx';
import { OpenHoursOfWeek } from './open-hours.tsx';
import { TimingFields } from './timing-fields.tsx';
import { scheduling, timingKind } from './timing.ts';
import { useLocalTimes } from './use-local-times.ts';

const wholes = [
  'scheduling_details.periodic_details',
  'scheduling_details.user_timezone_details',
  'delivery_controls',
  'advanced',
  'conversion_goal_details',
  'conversion_goal_details.goals',
];

/** The schedule step: time, delivery and goals. */
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

/** The next occurrences, computed by the server's scheduler. */
function Occurrences() {
  const { check, body } = useCampaignForm();
  const schedule = check?.schedule;
  const localTimes = useLocalTimes();
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
        {schedule?.occurrences[0] &&
          exceptionSentences(schedule.occurrences[0], localTimes).map((sentence) => (
            <Text key={sentence} size="sm">
              {sentence}
            </Text>
          ))}
        {textAt(body, `${scheduling}.delivery_type`).toUpperCase() === 'SEND_IN_BTS' && (
          <Text size="sm">
            {'Each person gets it at the hour, counted from this time, at which they open the most messages.'}
          </Text>
        )}
        {['once', 'periodic'].includes(timingKind(body)) && <OpenHoursOfWeek />}
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
        {occurrence.everyZone === null
          ? zoneText({ timeZone, offset, at })
          : `In each person’s time zone, ${spanText(occurrence)}`}
      </Text>
      {occurrence.clockChange && (
        <Text size="sm" fw={500}>
          {describeChange(occurrence.clockChange)}
        </Text>
      )}
    </div>
  );
}

/** `Europe/Berlin (UTC+01:00) · 30 Nov 2026, 08:00 UTC`; for UTC itself only its name. */
function zoneText({ timeZone, offset, at }: Pick<CampaignOccurrence, 'timeZone' | 'offset' | 'at'>): string {
  if (timeZone === 'UTC') return 'UTC';
  return `${timeZone} (UTC${offset === '+00:00' ? '' : offset}) · ${formatMinute(at, 'UTC')}`;
}

function describeChange(change: NonNullable<CampaignOccurrence['clockChange']>): string {
  switch (change.kind) {
    case 'skipped':
      return `There is no ${change.asked} on this day: the clocks go forward.`;
    case 'twice':
      return 'This time occurs twice on this day; the first one is used.';
    case 'shifted':
      return `The clocks change before this: UTC${change.before} becomes UTC${change.after}.`;
  }
}

const controls = 'delivery_controls';
const life = 'advanced.expiration_settings';
const priority = 'advanced.platform_level_priority';

/** The workspace's rules that apply, and the delivery options. */
function DeliveryFields() {
  const { body, resources } = useCampaignForm();
  const { quietHours, frequencyCaps, minimumDelayMinutes } = resources.controls;
  const ignoresCap = readAt(body, `${controls}.ignore_frequency_capping`) === true;
  const isInDays = readAt(body, `${life}.expire_notification_after_type`) === 'DAY';
  const chosen = platformsOf(body);
  return (
    <Stack gap="sm">
      <FlagField
        path={`${controls}.bypass_dnd`}
        label="Ignore quiet hours"
        description={
          quietHours === null
            ? 'This workspace has no quiet hours'
            : `Quiet hours are ${quietHours.from} to ${quietHours.to} in each person’s time zone`
        }
      />
      <FlagField
        path={`${controls}.ignore_frequency_capping`}
        label="Ignore frequency caps"
        description={
          frequencyCaps.length === 0
            ? 'This workspace has no frequency caps'
            : `At most ${describeCaps(frequencyCaps.flatMap(parseCaps))} to each person`
        }
      />
      <FlagField
        path={`${controls}.count_for_frequency_capping`}
        label="Count toward frequency caps"
        whenAbsent={!ignoresCap}
      />
      <FlagField
        path={`${controls}.ignore_global_minimum_delay`}
        label="Ignore minimum delay"
        description={
          minimumDelayMinutes === null
            ? 'This workspace has no minimum delay'
            : `This workspace has a minimum delay of ${minimumDelayMinutes} minutes`
        }
      />
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <NumberField
          path={`${life}.expire_notification_after_value`}
          label="Time to live"
          description="For devices that are offline; 36 hours if empty"
          min={0}
          max={isInDays ? 7 : 168}
        />
        <ChoiceField
          path={`${life}.expire_notification_after_type`}
          label="Hours or days"
          description="At most seven days"
          none="hours"
          data={[{ value: 'DAY', label: 'days' }]}
        />
      </SimpleGrid>
      <MoreFields label="Speed and priority">
        <NumberField
          path={`${controls}.campaign_throttle_rpm`}
          label="Maximum devices per minute"
          description="If empty, as fast as the providers accept messages"
          min={1}
          max={10_000_000}
        />
        <NumberField
          path={`${controls}.minimum_delay_between_two_notification_in_hour`}
          label="Minimum hours between two messages of this campaign to one person"
          min={1}
          max={720}
        />
        {chosen.includes('ANDROID') && (
          <ChoiceField
            path={`${priority}.android_specific_priority.send_with_priority`}
            label="Android priority"
            none="High: wakes the device"
            data={[{ value: 'NORMAL', label: 'Normal: waits until it is used' }]}
          />
        )}
        {chosen.includes('IOS') && (
          <ChoiceField
            path={`${priority}.ios_specific_priority.apns_priority`}
            label="iOS priority"
            none="10: at once"
            data={[
              { value: '5', label: '5: when it suits the battery' },
              { value: '1', label: '1: does not wake the device' },
            ]}
          />
        )}
        <Text size="xs" c="dimmed">
          Tests ignore all caps and quiet hours.
        </Text>
      </MoreFields>
    </Stack>
  );
}
