import { useDocumentVisibility } from '@mantine/hooks';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { CampaignProgress } from '../../api/generated/campaign-answers.ts';
import type { Attribution } from '../../api/generated/campaign-figures.ts';
import { consoleClient } from '../../console.ts';

// These are read from what is stored of each run, not from what moves.
const slowMilliseconds = 5000;

type FiguresQuery = {
  workspaceId: string;
  id: string;
  attribution: Attribution | undefined;
  /** `moving` while it is sent: it is asked again and again. */
  state: 'unknown' | 'moving' | 'ended';
};

/** What the statistics say of a campaign. */
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

/** The numbers of a campaign, live: the server says each change. */
export function useProgress({ workspaceId, id }: CampaignKey) {
  const queries = useQueryClient();
  const progress = useQuery({
    queryKey: progressKey({ workspaceId, id }),
    queryFn: () => consoleClient.campaigns.readProgress({ workspaceId, id }),
    staleTime: Infinity,
  });
  // A campaign that has ended is followed again when something starts it.
  const isOver = progress.data !== undefined && isEnded(progress.data);
  // A browser has six connections to one server for all its tabs; one that nobody looks at lets go of its own.
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
