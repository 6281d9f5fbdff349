import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { CampaignReport } from '../../api/generated/campaign.ts';
import type { ComposerResources } from '../../api/generated/composer.ts';
import { consoleClient } from '../../console.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { RouteLink } from '../../parts/route-link.tsx';
import { useMay } from '../../session/use-session.ts';
import { useWorkspace } from '../../shell/workspace.ts';
import { Composer } from './composer.tsx';
import { newCampaign } from './campaign-body.ts';

/** Turns an intention into a campaign: a new one, or one that is there and may be changed. */
export function ComposerPage() {
  const { id: workspaceId } = useWorkspace();
  const { campaignId } = useParams({ strict: false });
  const mayWrite = useMay('campaigns.write');
  const resources = useQuery({
    queryKey: ['composer', workspaceId],
    queryFn: () => consoleClient.composer.readResources(workspaceId),
    enabled: mayWrite,
    staleTime: 60_000,
  });
  if (!mayWrite) return <PageHeader title="Your role cannot edit campaigns" about="Ask an owner or a marketer." />;
  return (
    <Loaded query={resources}>
      {(data) =>
        campaignId === undefined ? (
          <Composer key={workspaceId} resources={data} saved={{}} body={newCampaign(data)} existing={undefined} />
        ) : (
          <Existing key={campaignId} campaignId={campaignId} resources={data} />
        )
      }
    </Loaded>
  );
}

function Existing({ campaignId, resources }: { campaignId: string; resources: ComposerResources }) {
  const { id: workspaceId } = useWorkspace();
  const report = useQuery({
    // Not the one of the report: what is written here must be what is stored now.
    queryKey: ['composed', workspaceId, campaignId],
    queryFn: () => consoleClient.campaigns.read({ workspaceId, id: campaignId }),
    staleTime: 0,
    gcTime: 0,
  });
  return (
    <Loaded query={report}>
      {({ campaign, request }) =>
        campaign.mayEdit ? (
          <Composer
            resources={resources}
            saved={request}
            body={request}
            existing={{ id: campaign.id, status: campaign.status }}
          />
        ) : (
          <NotEditable campaign={campaign} />
        )
      }
    </Loaded>
  );
}

function NotEditable({ campaign }: { campaign: CampaignReport['campaign'] }) {
  const { id: workspaceId } = useWorkspace();
  return (
    <Stack gap="xs">
      <PageHeader
        title={`“${campaign.name}” cannot be changed`}
        about={`It is ${campaign.status.toLowerCase()}, or it was created by a push request. Clone it and edit the clone.`}
      />
      <RouteLink
        to="/w/$workspaceId/campaigns/$campaignId"
        params={{ workspaceId, campaignId: campaign.id }}
        search={{}}
        style={{ width: 'fit-content' }}
      >
        Open its report
      </RouteLink>
    </Stack>
  );
}
