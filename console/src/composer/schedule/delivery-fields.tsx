import { SimpleGrid, Stack, Text } from '@mantine/core';
import { parseCaps, tellCaps } from '../../parts/frequency-caps.ts';
import { platformsOf, readAt } from '../page/campaign-body.ts';
import { useCampaignForm } from '../page/campaign-form.ts';
import { ChoiceField, FlagField, MoreFields, NumberField } from '../page/form-fields.tsx';

const controls = 'delivery_controls';
const life = 'advanced.expiration_settings';
const priority = 'advanced.platform_level_priority';

/** What of the workspace's rules it obeys, and how it travels. */
export function DeliveryFields() {
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
            : `At most ${tellCaps(frequencyCaps.flatMap(parseCaps))} to each person`
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
