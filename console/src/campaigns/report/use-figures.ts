import { useDocumentVisibility } from '@mantine/hooks';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { CampaignProgress } from '../../api/generated/campaign-answers.ts';
import type { Attribution } from '../../api/generated/campaign-figures.ts';
import { consoleClient } from '../../console.ts';

// These figures come from the stored data of each run, not from live counters.
const slowMilliseconds = 5000;

type FiguresQuery = {
  workspaceId: string;
  id: string;
  attribution: Attribution | undefined;
  /** `moving` while the campaign is sent: the figures are refetched regularly. */
  state: 'unknown' | 'moving' | 'ended';
};

/** Returns the campaign's statistics. */
export function useFigures({ workspaceId, id, attribution = 'TOTAL_CONVERSIONS', state }: FiguresQuery) {
  return useQuery({
    queryKey: ['campaign-figures', workspaceId, id, attribution, state],
    queryFn: () => consoleClient.campaigns.readFigures({ workspaceId, id, attribution }),
    placeholderData: keepPreviousData,
    refetchInterval: state === 'moving' ? slowMilliseconds : false,
  });
}

type CampaignKey = { workspaceId: string; id: string };

const progressKey = ({ workspaceId, id }: CampaignKey) => ['campaign-progress', workspaceId, id];

/** Returns the campaign's live numbers. The server pushes each change. */
export function useProgress({ workspaceId, id }: CampaignKey) {
  const queries = useQueryClient();
  const progress = useQuery({
    queryKey: progressKey({ workspaceId, id }),
    queryFn: () => consoleClient.campaigns.readProgress({ workspaceId, id }),
    staleTime: Infinity,
  });
  // Follows an ended campaign again after a user restarts it.
  const isOver = progress.data !== undefined && isEnded(progress.data);
  // A browser opens at most six connections to a server for all tabs, so a hidden tab closes its connection.
  const isSeen = useDocumentVisibility() === 'visible';
  useEffect(() => {
    if (isOver || !isSeen) return;
    const leaving = new AbortController();
    const onProgress = (next: CampaignProgress) => queries.setQueryData(progressKey({ workspaceId, id }), next);
    consoleClient.campaigns
      .follow({ workspaceId, id }, { onProgress, signal: leaving.signal })
      .catch(() => queries.invalidateQueries({ queryKey: progressKey({ workspaceId, id }) }));
    return () => leaving.abort();
  }, [queries, workspaceId, id, isOver, isSeen]);
  return progress;
}

export function isEnded({ openRuns, actions }: CampaignProgress): boolean {
  return openRuns === 0 && actions.length === 0;
}
