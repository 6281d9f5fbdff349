import { Checkbox, Group, Radio, SimpleGrid, Stack, Text } from '@mantine/core';
import { Notice } from '../../parts/notice.tsx';
import { ZoneSelect } from '../../parts/zone-select.tsx';
import { useWorkspace } from '../../shell/workspace.ts';
import { textAt } from '../page/campaign-body.ts';
import { useCampaignForm, useFault } from '../page/campaign-form.ts';
import { ChoiceField, FlagField, TimeField } from '../page/form-fields.tsx';
import { PeriodFields } from './period-fields.tsx';
import { ofTiming, scheduling, soonIn, timingKind, timingNames } from './timing.ts';
import type { TimingKind } from './timing.ts';

export function TimingFields() {
  const { body, write, resources, existing } = useCampaignForm();
  const { timeZone } = useWorkspace();
  const kind = timingKind(body);
  const error = useFault('campaign_delivery_type', scheduling, `${scheduling}.delivery_type`);
  // Fact 6.3: the kind of its schedule stays when a campaign was published.
  const isFixed = existing !== undefined && existing.status !== 'DRAFT';
  return (
    <Stack gap="md">
      <Radio.Group
        label="Send"
        {...(isFixed ? { description: 'The schedule type cannot be changed after publishing' } : {})}
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
      {kind === 'now' && <Text size="sm">Goes out as soon as you send it.</Text>}
      {(kind === 'once' || kind === 'periodic') && <StartFields kind={kind} />}
      {kind === 'periodic' && <PeriodFields />}
      {kind === 'event' && <EventFields />}
    </Stack>
  );
}

function StartFields({ kind }: { kind: TimingKind }) {
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

/** The same local time for everybody, wherever they are. */
function OwnZones() {
  const { body, write, existing } = useCampaignForm();
  const isOwn = textAt(body, `${scheduling}.delivery_type`).toUpperCase() === 'SEND_IN_USER_TIMEZONE';
  const isFixed = existing !== undefined && existing.status !== 'DRAFT';
  const details = `${scheduling}.user_timezone_details`;
  return (
    <Group align="flex-start">
      <Checkbox
        label="At this time in each person’s time zone"
        description="Starts in the earliest time zone and takes 26 hours"
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
          label="Also send to people whose time has passed"
          description="At the time in the zone above; otherwise they are skipped"
        />
      )}
    </Group>
  );
}

/** The event that sends it, and from when until when it does. */
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
