import type { CampaignBody } from '@carillon/client';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import type { LocalTimeCount } from '../../api/generated/composer.ts';
import { consoleClient } from '../../console.ts';
import { useWorkspace } from '../../shell/workspace.ts';
import { platformsOf, sentBody } from '../campaign-body.ts';
import { useCampaignForm } from '../campaign-form.ts';

const settleMilliseconds = 400;
// People pass out of reach while a local time passes around the earth.
const freshMilliseconds = 30_000;

/** Counts the people for whom the local time of the next send has passed; undefined for other campaigns. */
export function useLocalTimes(): LocalTimeCount | undefined {
  const { id: workspaceId } = useWorkspace();
  const { body, check } = useCampaignForm();
  const asked = JSON.stringify(
    sentBody({
      ...(body.campaign_delivery_type && { campaign_delivery_type: body.campaign_delivery_type }),
      basic_details: { platforms: platformsOf(body) },
      segmentation_details: body.segmentation_details ?? {},
      scheduling_details: body.scheduling_details ?? {},
    }),
  );
  const [settled] = useDebouncedValue(asked, settleMilliseconds);
  const isLocal = (check?.schedule?.occurrences[0]?.everyZone ?? null) !== null;
  const { data } = useQuery({
    queryKey: ['local-times', workspaceId, settled],
    queryFn: ({ signal }) =>
      consoleClient.composer.countLocalTimes({ workspaceId, campaign: JSON.parse(settled) as CampaignBody, signal }),
    enabled: isLocal && asked === settled,
    staleTime: freshMilliseconds,
    refetchInterval: freshMilliseconds,
  });
  return isLocal && asked === settled ? data : undefined;
}
