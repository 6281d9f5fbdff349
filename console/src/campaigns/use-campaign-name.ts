import { useQuery } from '@tanstack/react-query';
import { consoleClient } from '../console.ts';
import { useWorkspace } from '../shell/workspace.ts';

/** The name of a campaign that an address names by its id; undefined until it is known, and of one that is not there. */
export function useCampaignName(id: string | undefined): string | undefined {
  const { id: workspaceId } = useWorkspace();
  const report = useQuery({
    queryKey: ['campaign', workspaceId, id],
    queryFn: () => consoleClient.campaigns.read({ workspaceId, id: id! }),
    enabled: id !== undefined,
    staleTime: 60_000,
  });
  return report.data?.campaign.name;
}
