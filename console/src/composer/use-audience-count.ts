import type { AudienceCount, CampaignBody } from '@carillon/client';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { consoleClient } from '../console.ts';
import { useWorkspace } from '../shell/workspace.ts';
import { useCampaignForm } from './campaign-form.ts';
import { platformsOf } from './new-campaign.ts';
import { sentBody } from './sent-body.ts';

const settleMilliseconds = 400;
// Counting is the dearest question of these; people come and go slower.
const freshMilliseconds = 30_000;

/** Whom the campaign would reach now: counted anew when audience or platforms change. */
export function useAudienceCount() {
  const { id: workspaceId } = useWorkspace();
  const { body } = useCampaignForm();
  const asked = JSON.stringify(
    sentBody({
      basic_details: { platforms: platformsOf(body) },
      segmentation_details: body.segmentation_details ?? {},
    }),
  );
  const [settled] = useDebouncedValue(asked, settleMilliseconds);
  return useQuery<AudienceCount>({
    queryKey: ['audience-count', workspaceId, settled],
    queryFn: ({ signal }) =>
      consoleClient.composer.countAudience({ workspaceId, campaign: JSON.parse(settled) as CampaignBody, signal }),
    placeholderData: keepPreviousData,
    staleTime: freshMilliseconds,
  });
}

/** Devices of chosen platforms that take messages, and the people who have them. */
export function reachOf(count: Extract<AudienceCount, { state: 'COUNTED' }>, platforms: readonly string[]) {
  const people = count.people.reduce((sum, row) => sum + row.people, 0);
  const reached = count.people.find(({ reach }) => reach === 'REACHED')?.people ?? 0;
  const devices = count.devices
    .filter(({ platform, state }) => state === 'ACTIVE' && platforms.includes(platform))
    .reduce((sum, row) => sum + row.devices, 0);
  return { people, reached, devices };
}
