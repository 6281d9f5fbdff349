import { Text } from '@mantine/core';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { platformNames } from '../parts/platform-names.ts';
import { useWorkspace } from '../shell/workspace.ts';
import { textAt } from './body-path.ts';
import { useCampaignForm } from './campaign-form.ts';
import { platformsOf } from './new-campaign.ts';
import { timingKind } from './timing.ts';
import { reachOf, useAudienceCount } from './use-audience-count.ts';
import type { useSave } from './use-save.ts';

type SendButtonProps = { save: ReturnType<typeof useSave>; hasChanges: boolean };

const labels = { now: 'Send', once: 'Schedule', periodic: 'Start', event: 'Start' } as const;

/** The last step: it asks, and the question names what is hit. */
export function SendButton({ save, hasChanges }: SendButtonProps) {
  const { body, existing, check } = useCampaignForm();
  const isChange = existing !== undefined && existing.status !== 'DRAFT';
  const isGood = check !== undefined && check.faults.length === 0;
  const name = textAt(body, 'basic_details.name').trim();
  const label = isChange ? 'Save changes' : labels[timingKind(body)];
  return (
    <ConfirmButton
      label={label}
      color="indigo"
      variant="filled"
      title={isChange ? `Change “${name}”?` : `${label} “${name}”?`}
      isDisabled={!isGood || (isChange && !hasChanges)}
      hits={<Hits isChange={isChange} />}
      onConfirmed={isChange ? save.saveLive : save.send}
    />
  );
}

function Hits({ isChange }: { isChange: boolean }) {
  const { body, check } = useCampaignForm();
  const { timeZone } = useWorkspace();
  const { data, isPlaceholderData } = useAudienceCount();
  // The number of another audience would be a lie.
  const reach = data?.state === 'COUNTED' && !isPlaceholderData ? reachOf(data, platformsOf(body)) : undefined;
  const platforms = platformsOf(body);
  const names = platforms.map((platform) => platformNames[platform]).join(', ');
  const [moment] = check?.schedule?.moments ?? [];
  const when = {
    now: 'right now; what was handed to the providers cannot be called back',
    once: moment ? `on ${moment.local.date} at ${moment.local.time} ${moment.timeZone}` : 'at its time',
    periodic: moment ? `first on ${moment.local.date} at ${moment.local.time} ${moment.timeZone}` : 'at its times',
    event: 'whenever its event happens',
  }[timingKind(body)];
  const number = (value: number) => value.toLocaleString('en');
  return (
    <Text size="sm" data-zone={timeZone}>
      {reach ? `${number(reach.devices)} devices of ${number(reach.reached)} people` : 'All devices of its audience'} on{' '}
      {names} would get it, as they are now. It is sent {when}.{isChange && ' What was sent before stays as it was.'}
    </Text>
  );
}
