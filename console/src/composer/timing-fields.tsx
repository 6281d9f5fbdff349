import { Checkbox, Group, Radio, SimpleGrid, Stack, Text } from '@mantine/core';
import { useWorkspace } from '../shell/workspace.ts';
import { textAt } from './body-path.ts';
import { useCampaignForm, useFault } from './campaign-form.ts';
import { EventFields } from './event-fields.tsx';
import { ChoiceField, FlagField } from './form-fields.tsx';
import { PeriodFields } from './period-fields.tsx';
import { TimeField } from './time-field.tsx';
import { ofTiming, scheduling, soonIn, timeZones, timingKind, timingNames } from './timing.ts';
import type { TimingKind } from './timing.ts';

export function TimingFields() {
  const { body, write, resources, existing } = useCampaignForm();
  const { timeZone } = useWorkspace();
  const kind = timingKind(body);
  const error = useFault('campaign_delivery_type', scheduling, `${scheduling}.delivery_type`);
  // Facts 6.3: the kind of its schedule stays when a campaign was published.
  const isFixed = existing !== undefined && existing.status !== 'DRAFT';
  return (
    <Stack gap="md">
      <Radio.Group
        label="It is sent"
        {...(isFixed ? { description: 'The kind of its schedule stays once it was published' } : {})}
        {...(error === undefined ? {} : { error })}
        value={kind}
        onChange={(next) =>
          write(ofTiming({ kind: next as TimingKind, timeZone, start: soonIn(timeZone, resources.now) }))
        }
      >
        <Stack gap={6} mt={4}>
          {(Object.keys(timingNames) as TimingKind[]).map((value) => (
            <Radio key={value} value={value} label={timingNames[value]} disabled={isFixed && value !== kind} />
          ))}
        </Stack>
      </Radio.Group>
      {kind === 'now' && <Text size="sm">It goes out as soon as you send it.</Text>}
      {(kind === 'once' || kind === 'periodic') && <Moment kind={kind} />}
      {kind === 'periodic' && <PeriodFields />}
      {kind === 'event' && <EventFields />}
    </Stack>
  );
}

function Moment({ kind }: { kind: TimingKind }) {
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <TimeField
          path={`${scheduling}.start_time`}
          label={kind === 'once' ? 'Day and time' : 'First day and time'}
          required
        />
        <ZoneField />
      </SimpleGrid>
      <OwnZones />
    </>
  );
}

export function ZoneField() {
  const { body } = useCampaignForm();
  const { timeZone } = useWorkspace();
  const zones = timeZones(textAt(body, `${scheduling}.timezone`));
  return (
    <ChoiceField
      path={`${scheduling}.timezone`}
      label="Time zone"
      none={`${timeZone} (of the workspace)`}
      data={zones.map((value) => ({ value, label: value }))}
    />
  );
}

/** The same local time for everybody, wherever they are. */
function OwnZones() {
  const { body, write, existing } = useCampaignForm();
  const isOwn = textAt(body, `${scheduling}.delivery_type`).toUpperCase() === 'SEND_IN_USER_TIMEZONE';
  const isFixed = existing !== undefined && existing.status !== 'DRAFT';
  const details = `${scheduling}.user_timezone_details`;
  return (
    <Group align="flex-start">
      <Checkbox
        label="At this time of each person’s own zone"
        description="It begins when the first zone on earth is there, and takes 26 hours"
        checked={isOwn}
        disabled={isFixed}
        onChange={({ currentTarget: { checked } }) =>
          write({
            [`${scheduling}.delivery_type`]: checked ? 'SEND_IN_USER_TIMEZONE' : 'AT_FIXED_TIME',
            ...(checked ? {} : { [details]: undefined }),
          })
        }
      />
      {isOwn && (
        <FlagField
          path={`${details}.send_if_user_timezone_has_passed`}
          label="People whose time has passed get it too"
          description="At the time of the zone above; without this they are left out"
        />
      )}
    </Group>
  );
}
