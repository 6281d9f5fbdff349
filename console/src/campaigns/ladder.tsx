import { Card, Group, Progress, Stack, Text } from '@mantine/core';
import type { CampaignProgress, CampaignResults } from '../api/generated/campaign.ts';
import { Definition } from '../parts/definition.tsx';
import { countDevices, countReports } from './count-devices.ts';

type Step = { word: string; means: string; unit: string; count: number | null };

/** From the people it was for to those who did what it was for. Every word says what it counts. */
export function Funnel({ progress, results }: { progress: CampaignProgress; results: CampaignResults | undefined }) {
  const steps: Step[] = [
    {
      word: 'Audience',
      means:
        'People the campaign was addressed to when each run began, with or without a device. Someone reached by two runs counts twice.',
      unit: 'people',
      count: progress.audienceUsers,
    },
    {
      word: 'Reachable',
      means:
        'Devices of these people on the chosen platforms that accept push messages: with a token, opted in, not blocked and not gone.',
      unit: 'devices',
      count: progress.reachableDevices,
    },
    {
      word: 'Accepted',
      means:
        'Devices whose message the provider (FCM, APNs or a push service) accepted. It does not mean that the phone was on.',
      unit: 'devices',
      count: countDevices(progress, ['ACCEPTED']),
    },
    {
      word: 'Shown',
      means:
        'Devices that reported that the message was shown. Apps report it through the SDK call or service worker; those that do not are missing here.',
      unit: 'devices',
      count: countReports(progress, 'IMPRESSION'),
    },
    {
      word: 'Clicked',
      means: 'Devices on which the message was opened, as reported by the app.',
      unit: 'devices',
      count: countReports(progress, 'CLICK'),
    },
    {
      word: 'Converted',
      means: 'People who reached a conversion goal after the message was accepted, counted per goal.',
      unit: 'people',
      count: results ? results.goals.reduce((sum, { users }) => sum + users, 0) : null,
    },
  ];
  const top = Math.max(1, progress.reachableDevices);
  return (
    <Card withBorder component="section" aria-label="Funnel">
      <Stack gap="xs">
        {steps.map(({ word, means, unit, count }) => (
          <div key={word}>
            <Group justify="space-between" gap="xs">
              <Text size="sm" component="div">
                <Definition word={word} means={means} />
              </Text>
              <Text size="sm" component="div" data-step={word}>
                <b>{count?.toLocaleString('en') ?? '–'}</b> {unit}
              </Text>
            </Group>
            {unit === 'devices' && count !== null && (
              <Progress value={Math.min(100, (count / top) * 100)} aria-label={`${word} of reachable`} />
            )}
          </div>
        ))}
        {results?.goals.map(({ name, conversions, users }) => (
          <Text size="xs" key={name}>
            Goal {name}: {conversions.toLocaleString('en')} conversions of {users.toLocaleString('en')} people
          </Text>
        ))}
      </Stack>
    </Card>
  );
}
