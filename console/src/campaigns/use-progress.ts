import { useDocumentVisibility } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { CampaignProgress } from '../api/generated/campaign-answers.ts';
import { consoleClient } from '../console.ts';

type Key = { workspaceId: string; id: string };

const keyOf = ({ workspaceId, id }: Key) => ['campaign-progress', workspaceId, id];

/** The numbers of a campaign, live: the server says each change. */
export function useProgress({ workspaceId, id }: Key) {
  const queries = useQueryClient();
  const progress = useQuery({
    queryKey: keyOf({ workspaceId, id }),
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
    const onProgress = (next: CampaignProgress) => queries.setQueryData(keyOf({ workspaceId, id }), next);
    consoleClient.campaigns
      .follow({ workspaceId, id }, { onProgress, signal: leaving.signal })
      .catch(() => queries.invalidateQueries({ queryKey: keyOf({ workspaceId, id }) }));
    return () => leaving.abort();
  }, [queries, workspaceId, id, isOver, isSeen]);
  return progress;
}

export function isEnded({ openRuns, actions }: CampaignProgress): boolean {
  return openRuns === 0 && actions.length === 0;
}
