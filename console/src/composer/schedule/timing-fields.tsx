import type { CampaignBody } from '@carillon/client';
import { Group, Radio, SimpleGrid, Stack, Text, Chip, NativeSelect, NumberInput } from '@mantine/core';
import { useState } from 'react';
import { ZoneSelect } from '../../parts/forms/zone-select.tsx';
import { Notice } from '../../parts/notice.tsx';
import { useServerNow } from '../../parts/text/server-clock.ts';
import { useWorkspace } from '../../shell/workspace.ts';
import { textAt, listAt, readAt } from '../campaign-body.ts';
import { useCampaignForm, useFault } from '../campaign-form.ts';
import { ChoiceField, FlagField, TimeField, NumberField } from '../form-fields.tsx';
import { ofTiming, scheduling, soonIn, timingKind, timingNames } from './timing.ts';
import type { TimingKind } from './timing.ts';

// The limit of the server.
const maxBestHours = 24;

/** The choices of the step: the kinds of schedule, and one of them that many campaigns need. */
const choices: Record<TimingKind | 'best', { label: string; description?: string }> = {
  now: { label: timingNames.now },
  once: { label: timingNames.once },
  best: {
    label: 'Once, at each person’s best hour',
    description: 'The hour of the day in which a person opens the most messages',
  },
  periodic: { label: timingNames.periodic },
  event: { label: timingNames.event },
};

const atFixedTime = 'AT_FIXED_TIME';
const inUserZone = 'SEND_IN_USER_TIMEZONE';
const atBestHour = 'SEND_IN_BTS';

export function TimingFields() {
  const { body, write, existing } = useCampaignForm();
  const workspace = useWorkspace();
  const now = useServerNow('service');
  const kind = timingKind(body);
  const isBest = kind === 'once' && deliveryOf(body) === atBestHour;
  const chosen = isBest ? 'best' : kind;
  const error = useFault('campaign_delivery_type', scheduling, `${scheduling}.delivery_type`);
  // Fact 6.3: the kind of schedule of a published campaign cannot change.
  const isFixed = existing !== undefined && existing.status !== 'DRAFT';
  const choose = (next: keyof typeof choices) => {
    // A time that was typed stays, with its zone.
    const timeZone = textAt(body, `${scheduling}.timezone`) || workspace.timeZone;
    const start = textAt(body, `${scheduling}.start_time`) || soonIn(timeZone, now);
    const changes = ofTiming({ kind: next === 'best' ? 'once' : next, timeZone, start });
    write(next === 'best' ? { ...changes, [`${scheduling}.delivery_type`]: atBestHour } : changes);
  };
  return (
    <Stack gap="md">
      <Radio.Group
        label="Send"
        {...(isFixed ? { description: 'The schedule type cannot be changed after publishing' } : {})}
        {...(error === undefined ? {} : { error })}
        value={chosen}
        onChange={(next) => choose(next as keyof typeof choices)}
      >
        <Stack gap={6} mt={4}>
          {(Object.keys(choices) as (keyof typeof choices)[]).map((value) => (
            <Radio key={value} value={value} {...choices[value]} disabled={isFixed && value !== chosen} />
          ))}
        </Stack>
      </Radio.Group>
      {kind === 'now' && <Text size="sm">Goes out as soon as you send it.</Text>}
      {(kind === 'once' || kind === 'periodic') && <StartFields kind={kind} isBest={isBest} />}
      {kind === 'periodic' && <PeriodFields />}
      {kind === 'event' && <EventFields />}
    </Stack>
  );
}

function deliveryOf(body: CampaignBody): string {
  return textAt(body, `${scheduling}.delivery_type`).toUpperCase();
}

function StartFields({ kind, isBest }: { kind: 'once' | 'periodic'; isBest: boolean }) {
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <TimeField
          path={`${scheduling}.start_time`}
          label={isBest ? 'From' : kind === 'once' ? 'Day and time' : 'First day and time'}
          required
        />
        <ZoneField />
      </SimpleGrid>
      {isBest ? <BestHourFields at={`${scheduling}.bts_details`} /> : <PersonalTimes kind={kind} />}
    </>
  );
}

function ZoneField() {
  const { body, write } = useCampaignForm();
  const { timeZone } = useWorkspace();
  const path = `${scheduling}.timezone`;
  const error = useFault(path);
  return (
    <ZoneSelect
      label="Time zone"
      none={`${timeZone} (of the workspace)`}
      value={textAt(body, path)}
      {...(error === undefined ? {} : { error })}
      onChange={(zone) => write({ [path]: zone })}
    />
  );
}

/** One instant for everyone, the same local time in each person's zone, or each person's best hour. */
function PersonalTimes({ kind }: { kind: 'once' | 'periodic' }) {
  const { body, write, existing } = useCampaignForm();
  const type = deliveryOf(body);
  const isFixed = existing !== undefined && existing.status !== 'DRAFT';
  const zone = `${scheduling}.user_timezone_details`;
  const best = `${scheduling}.bts_details`;
  return (
    <Stack gap="sm">
      <Radio.Group
        label="People get it"
        value={type === inUserZone || type === atBestHour ? type : atFixedTime}
        onChange={(next) =>
          write({
            [`${scheduling}.delivery_type`]: next,
            ...(next === inUserZone ? {} : { [zone]: undefined }),
            ...(next === atBestHour ? {} : { [best]: undefined }),
          })
        }
      >
        <Stack gap={6} mt={4}>
          <Radio value={atFixedTime} label="All at once" disabled={isFixed} />
          <Radio
            value={inUserZone}
            label="At this time in each person’s time zone"
            description="Starts in the earliest time zone and takes 26 hours"
            disabled={isFixed}
          />
          {kind === 'periodic' && (
            <Radio
              value={atBestHour}
              label="At each person’s best hour"
              description="Within some hours from this time, by what each person opened before"
              disabled={isFixed}
            />
          )}
        </Stack>
      </Radio.Group>
      {type === inUserZone && (
        <FlagField
          path={`${zone}.send_if_user_timezone_has_passed`}
          label="Also send to people whose time has passed"
          description="At the time in the zone above; otherwise they are skipped"
        />
      )}
      {type === atBestHour && <BestHourFields at={best} />}
    </Stack>
  );
}

const bestHourPolicies = [
  { value: 'SEND_AT_END', label: 'Last, when the hours are over' },
  { value: 'DO_NOT_SEND', label: 'Not at all' },
];

/** The hours that are searched, and what people get who have no best hour within them. */
function BestHourFields({ at }: { at: string }) {
  return (
    <SimpleGrid cols={{ base: 1, xs: 3 }}>
      <NumberField
        path={`${at}.window_in_hours`}
        label="Within hours"
        description="24 if empty"
        min={1}
        max={maxBestHours}
      />
      <ChoiceField
        path={`${at}.if_best_time_is_unknown`}
        label="People without a known hour"
        description="They opened too few messages"
        none="At the start"
        data={bestHourPolicies}
      />
      <ChoiceField
        path={`${at}.if_best_time_is_outside`}
        label="People whose hour is later"
        description="It is not within these hours"
        none="At the start"
        data={bestHourPolicies}
      />
    </SimpleGrid>
  );
}

/** The business event that triggers the campaign, and its start and end. */
function EventFields() {
  const { body, resources, existing } = useCampaignForm();
  const isFixed = existing !== undefined && existing.status !== 'DRAFT';
  const { businessEvents } = resources;
  const named = textAt(body, 'basic_details.business_event');
  if (businessEvents.length === 0)
    return (
      <Notice tone="warning" title="No business events yet">
        Create one through the API: <code>POST /v1.0/business_event</code>.
      </Notice>
    );
  const event = businessEvents.find(({ id, name }) => id === named || name === named);
  return (
    <Stack gap="sm">
      <ChoiceField
        path="basic_details.business_event"
        label="Event"
        none="Choose one"
        required
        disabled={isFixed}
        data={businessEvents.map(({ name }) => ({ value: name, label: name }))}
      />
      {event && event.attributes.length > 0 && (
        <Text size="sm">It has {event.attributes.map(({ name }) => name).join(', ')}, which texts may show.</Text>
      )}
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <TimeField path={`${scheduling}.expiry_time`} label="Until (optional)" />
        <ZoneField />
      </SimpleGrid>
      <ChoiceField
        path={`${scheduling}.delivery_type`}
        label="Starts"
        data={[
          { value: 'ASAP', label: 'When published' },
          { value: 'AT_FIXED_TIME', label: 'Later' },
        ]}
        onChosen={(chosen) => {
          const changes = { [`${scheduling}.delivery_type`]: chosen };
          return chosen === 'ASAP' ? { ...changes, [`${scheduling}.start_time`]: undefined } : changes;
        }}
        disabled={isFixed}
      />
      {textAt(body, `${scheduling}.delivery_type`).toUpperCase() === 'AT_FIXED_TIME' && (
        <TimeField path={`${scheduling}.start_time`} label="From" required />
      )}
    </Stack>
  );
}

const period = `${scheduling}.periodic_details`;
const units: Record<string, { word: string; most: number }> = {
  DAILY: { word: 'days', most: 365 },
  WEEKLY: { word: 'weeks', most: 52 },
  MONTHLY: { word: 'months', most: 12 },
};

/** The days of the recurrence, and its end. */
function PeriodFields() {
  const { body } = useCampaignForm();
  const frequency = textAt(body, `${period}.sending_frequency`).toUpperCase();
  const unit = units[frequency] ?? units.DAILY!;
  return (
    <Stack gap="sm">
      <Group align="flex-start" grow>
        <ChoiceField
          path={`${period}.sending_frequency`}
          label="Repeats"
          data={[
            { value: 'DAILY', label: 'Daily' },
            { value: 'WEEKLY', label: 'Weekly' },
            { value: 'MONTHLY', label: 'Monthly' },
          ]}
          onChosen={(chosen) => ({
            [`${period}.sending_frequency`]: chosen,
            [`${period}.repeat_on_days_of_week`]: undefined,
            [`${period}.repeat_on_date_of_month`]: undefined,
            [`${period}.repeat_on_days_of_week_for_month`]: undefined,
          })}
        />
        <NumberField path={`${period}.repeat_frequency`} label={`Every … ${unit.word}`} min={1} max={unit.most} />
      </Group>
      {frequency === 'WEEKLY' && (
        <Weekdays path={`${period}.repeat_on_days_of_week`} label="On (default: the start day)" />
      )}
      {frequency === 'MONTHLY' && <MonthDays />}
      <End />
    </Stack>
  );
}

const weekdays = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY'];

function Weekdays({ path, label }: { path: string; label: string }) {
  const { body, write } = useCampaignForm();
  const error = useFault(path);
  const chosen = listAt<string>(body, path).map((word) => word.toUpperCase());
  return (
    <div role="group" aria-label={label}>
      <Text size="sm" fw={500} mb={4}>
        {label}
      </Text>
      <Chip.Group
        multiple
        value={chosen}
        onChange={(days) =>
          write({ [path]: days.length === 0 ? undefined : weekdays.filter((day) => days.includes(day)) })
        }
      >
        <Group gap={6}>
          {weekdays.map((day) => (
            <Chip key={day} value={day} size="xs">
              {day.charAt(0) + day.slice(1, 3).toLowerCase()}
            </Chip>
          ))}
        </Group>
      </Chip.Group>
      {error !== undefined && (
        <Text size="xs" c="var(--mantine-color-error)">
          {error}
        </Text>
      )}
    </div>
  );
}

/** Days of the month by date or by weekday. */
function MonthDays() {
  const { body, write } = useCampaignForm();
  const dates = `${period}.repeat_on_date_of_month`;
  const inWeeks = `${period}.repeat_on_days_of_week_for_month`;
  const [kind, setKind] = useState(listAt(body, inWeeks).length > 0 ? 'weekday' : 'date');
  const error = useFault(dates, inWeeks);
  const choose = (next: string) => {
    setKind(next);
    write({
      [dates]: undefined,
      [inWeeks]: next === 'weekday' ? [{ week_granularity: 'FIRST', repeat_on_days_of_week: ['MONDAY'] }] : undefined,
    });
  };
  return (
    <Stack gap="xs">
      <Radio.Group label="On" value={kind} onChange={choose} {...(error === undefined ? {} : { error })}>
        <Group mt={4}>
          <Radio value="date" label="days of the month" />
          <Radio value="weekday" label="a weekday" />
        </Group>
      </Radio.Group>
      {kind === 'date' ? (
        <Group gap={4} role="group" aria-label="Days of the month">
          <Chip.Group
            multiple
            value={listAt<number>(body, dates).map(String)}
            onChange={(days) =>
              write({ [dates]: days.length === 0 ? undefined : days.map(Number).sort((one, other) => one - other) })
            }
          >
            {Array.from({ length: 31 }, (_day, index) => String(index + 1)).map((day) => (
              <Chip key={day} value={day} size="xs">
                {day}
              </Chip>
            ))}
          </Chip.Group>
          <Text size="xs">Default: the start day. Months without that day are skipped.</Text>
        </Group>
      ) : (
        <>
          <ChoiceField
            path={`${inWeeks}[0].week_granularity`}
            label="Week"
            data={['FIRST', 'SECOND', 'THIRD', 'FOURTH', 'FIFTH', 'LAST'].map((value) => ({
              value,
              label: value.toLowerCase(),
            }))}
          />
          <Weekdays path={`${inWeeks}[0].repeat_on_days_of_week`} label="Weekday" />
        </>
      )}
    </Stack>
  );
}

/** Ends after a number of occurrences, or at a time. */
function End() {
  const { body, write } = useCampaignForm();
  const count = `${period}.no_of_occurences`;
  const expiry = `${scheduling}.expiry_time`;
  const isCounted = readAt(body, count) !== undefined || readAt(body, expiry) === undefined;
  const [kind, setKind] = useState(isCounted ? 'count' : 'time');
  const error = useFault(count);
  const times = readAt(body, count);
  return (
    <Group align="flex-end" grow>
      <NativeSelect
        label="Ends"
        value={kind}
        data={[
          { value: 'count', label: 'After a number of times' },
          { value: 'time', label: 'On a date' },
        ]}
        onChange={({ currentTarget: { value } }) => {
          setKind(value);
          write({ [count]: value === 'count' ? 5 : undefined, [expiry]: undefined });
        }}
      />
      {kind === 'count' ? (
        <NumberInput
          label="Times"
          {...(error === undefined ? {} : { error })}
          min={1}
          max={1000}
          allowDecimal={false}
          value={typeof times === 'number' ? times : ''}
          onChange={(next) => write({ [count]: next === '' ? undefined : next })}
        />
      ) : (
        <TimeField path={expiry} label="Last day and time" required />
      )}
    </Group>
  );
}
