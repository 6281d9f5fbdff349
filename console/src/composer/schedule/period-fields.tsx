import { Chip, Group, NativeSelect, NumberInput, Radio, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { listAt, readAt, textAt } from '../page/campaign-body.ts';
import { useCampaignForm, useFault } from '../page/campaign-form.ts';
import { ChoiceField, NumberField, TimeField } from '../page/form-fields.tsx';
import { scheduling } from './timing.ts';

const period = `${scheduling}.periodic_details`;
const units: Record<string, { word: string; most: number }> = {
  DAILY: { word: 'days', most: 365 },
  WEEKLY: { word: 'weeks', most: 52 },
  MONTHLY: { word: 'months', most: 12 },
};

/** On which days it comes again, and until when. */
export function PeriodFields() {
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

/** Days of the month by number, or by their week. */
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

/** After so many times, or at a time. */
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
