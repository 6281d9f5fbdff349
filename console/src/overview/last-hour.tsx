import { Code, Group, Stack, Text } from '@mantine/core';
import type { Overview } from '../api/generated/overview.ts';
import { platformNames } from '../parts/platform-names.ts';
import { DeliveryNumber } from './delivery-number.tsx';
import { OverviewCard } from './overview-card.tsx';

/** What providers took in the last hour, and what they did not, with why. */
export function LastHour({ overview }: { overview: Overview }) {
  const { counts, failures, maxCounted } = overview.lastHour;
  const say = (devices: number) =>
    devices >= maxCounted ? `${devices.toLocaleString('en')} or more` : devices.toLocaleString('en');
  const accepted = counts.filter(({ outcome }) => outcome === 'ACCEPTED');
  return (
    <OverviewCard title="The last hour">
      <Stack gap="xs">
        {accepted.length === 0 && <Text size="sm">No message was sent.</Text>}
        {accepted.map(({ platform, devices }) => (
          <Group key={platform} justify="space-between" gap="xs">
            <Text size="sm">{platformNames[platform]}, accepted</Text>
            <Text size="sm" span>
              <DeliveryNumber rows={{ platform, outcome: 'ACCEPTED' }}>{say(devices)}</DeliveryNumber>
            </Text>
          </Group>
        ))}
        {failures.length > 0 && (
          <Text size="sm" fw={600} mt="xs">
            Not delivered
          </Text>
        )}
        {failures.length === 0 && accepted.length > 0 && <Text size="sm">All were accepted.</Text>}
        {failures.map(({ platform, outcome, code, devices, advice }) => (
          <div key={`${platform} ${outcome} ${code}`}>
            <Group justify="space-between" gap="xs" wrap="nowrap" align="flex-start">
              <Text size="sm" style={{ overflowWrap: 'anywhere', minWidth: 0 }}>
                {platformNames[platform]}, {outcome.toLowerCase()} <Code>{code}</Code>
              </Text>
              <Text size="sm" span style={{ flex: 'none' }}>
                <DeliveryNumber rows={{ platform, outcome, code }}>{say(devices)}</DeliveryNumber>
              </Text>
            </Group>
            <Text size="xs">{advice}</Text>
          </div>
        ))}
      </Stack>
    </OverviewCard>
  );
}
