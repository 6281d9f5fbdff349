import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { Attribution } from '../api/generated/campaign-figures.ts';
import { consoleClient } from '../console.ts';

// These are read from what is stored of each run, not from what moves.
const slowMilliseconds = 5000;

type Asked = {
  workspaceId: string;
  id: string;
  attribution: Attribution | undefined;
  /** `moving` while it is sent: it is asked again and again. */
  state: 'unknown' | 'moving' | 'ended';
};

/** What the statistics say of a campaign. */
export function useFigures({ workspaceId, id, attribution = 'TOTAL_CONVERSIONS', state }: Asked) {
  return useQuery({
    queryKey: ['campaign-figures', workspaceId, id, attribution, state],
    queryFn: () => consoleClient.campaigns.readFigures({ workspaceId, id, attribution }),
    placeholderData: keepPreviousData,
    refetchInterval: state === 'moving' ? slowMilliseconds : false,
  });
}
