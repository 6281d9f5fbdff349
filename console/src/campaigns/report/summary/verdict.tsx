import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { CampaignProgress } from '../../../api/generated/campaign-answers.ts';
import type { Week } from '../../../api/generated/overview.ts';
import { consoleClient } from '../../../console.ts';
import { useWorkspace } from '../../../shell/workspace.ts';
import { countDevices, countReports, countText, percentText, pointsText, shareOf } from '../figures.ts';

/** A smaller difference is not worth a word. */
const minPoints = 0.1;

/** The result of a campaign in one sentence, next to what the workspace's sends of two weeks achieved. */
export function CampaignVerdict({ progress }: { progress: CampaignProgress }) {
  const { id: workspaceId } = useWorkspace();
  const accepted = countDevices(progress, ['ACCEPTED']);
  const week = useQuery({
    queryKey: ['overview-week', workspaceId],
    queryFn: () => consoleClient.overview.readWeek(workspaceId),
    staleTime: 60_000,
    enabled: accepted > 0,
  });
  const clicked = shareOf(countReports(progress, 'CLICK'), accepted);
  if (clicked === undefined) return null;
  // Without the size of its audience there is nothing to compare with.
  if (progress.reachableDevices === null) return null;
  const whole = Math.max(progress.reachableDevices, accepted);
  return (
    <Text size="lg" fw={500} role="status">
      {countText(accepted)} of {countText(whole)} {whole === 1 ? 'device' : 'devices'} reached, {percentText(clicked)}{' '}
      of them clicked{week.data === undefined ? '.' : compare(clicked, usualClicks(week.data))}
    </Text>
  );
}

/** The clicked share of all sends of the two weeks. */
function usualClicks({ days, before }: Week): number | undefined {
  const all = [...days, before];
  const sum = (name: 'clicked' | 'accepted') => all.reduce((total, one) => total + one[name], 0);
  return shareOf(sum('clicked'), sum('accepted'));
}

function compare(clicked: number, usual: number | undefined): string {
  if (usual === undefined) return '.';
  const points = clicked - usual;
  if (Math.abs(points) < minPoints) return ', as usual.';
  return `, ${pointsText(Math.abs(points)).replace(/^\+/, '')} ${points > 0 ? 'above' : 'below'} your average of two weeks.`;
}
