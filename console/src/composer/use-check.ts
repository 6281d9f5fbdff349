import type { CampaignBody, CampaignCheck } from '@carillon/client';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { consoleClient } from '../console.ts';
import { useWorkspace } from '../shell/workspace.ts';
import { sentBody } from './sent-body.ts';

const settleMilliseconds = 350;
// A moment that was to come may have passed while somebody was thinking.
const freshMilliseconds = 20_000;

/** What the server says of what is written: asked when writing pauses, and again while it is looked at. */
export function useCheck(
  body: CampaignBody,
  id: string | undefined,
): { check: CampaignCheck | undefined; isChecking: boolean } {
  const { id: workspaceId } = useWorkspace();
  const asked = JSON.stringify(sentBody(body));
  const [settled] = useDebouncedValue(asked, settleMilliseconds);
  const { data, isFetching } = useQuery({
    queryKey: ['campaign-check', workspaceId, id, settled],
    queryFn: ({ signal }) =>
      consoleClient.composer.check({
        workspaceId,
        campaign: JSON.parse(settled) as CampaignBody,
        ...(id === undefined ? {} : { id }),
        signal,
      }),
    placeholderData: keepPreviousData,
    refetchInterval: freshMilliseconds,
  });
  return { check: data, isChecking: asked !== settled || isFetching };
}
