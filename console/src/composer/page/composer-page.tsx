import type { CampaignBody } from '@carillon/client';
import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams, useSearch } from '@tanstack/react-router';
import type { CampaignReport } from '../../api/generated/campaign-answers.ts';
import type { ComposerResources } from '../../api/generated/composer.ts';
import { consoleClient } from '../../console.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { RouteLink } from '../../parts/route-link.tsx';
import { useWorkspace } from '../../shell/workspace.ts';
import { ofSegments } from '../audience/audience.ts';
import type { ChosenSegment } from '../audience/audience.ts';
import { Composer } from './composer.tsx';
import { newCampaign, writeAt } from './campaign-body.ts';

/** Turns an intention into a campaign: a new one, or one that is there and may be changed. */
export function ComposerPage() {
  const { id: workspaceId } = useWorkspace();
  const { campaignId } = useParams({ strict: false });
  const resources = useQuery({
    queryKey: ['composer', workspaceId],
    queryFn: () => consoleClient.composer.readResources(workspaceId),
    staleTime: 60_000,
  });
  return (
    <Loaded query={resources}>
      {(data) =>
        campaignId === undefined ? (
          <New key={workspaceId} resources={data} />
        ) : (
          <Existing key={campaignId} campaignId={campaignId} resources={data} />
        )
      }
    </Loaded>
  );
}

/** A new one; the address may name the segment that it is for. */
function New({ resources }: { resources: ComposerResources }) {
  const { id: workspaceId } = useWorkspace();
  const { segment: segmentId } = useSearch({ strict: false });
  const segment = useQuery({
    queryKey: ['segment', workspaceId, segmentId],
    queryFn: () => consoleClient.segments.read({ workspaceId, id: segmentId! }),
    enabled: segmentId !== undefined,
  });
  const compose = (body: CampaignBody) => (
    <Composer resources={resources} saved={{}} body={body} existing={undefined} />
  );
  if (segmentId === undefined) return compose(newCampaign(resources));
  return <Loaded query={segment}>{({ id, name }) => compose(toSegment(newCampaign(resources), { id, name }))}</Loaded>;
}

function toSegment(body: CampaignBody, segment: ChosenSegment): CampaignBody {
  const changes = Object.entries(ofSegments([segment], 'or'));
  return changes.reduce((next, [path, value]) => writeAt(next, path, value), body);
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
        about={`It is ${campaign.status.toLowerCase()}, or it was created by a push request. Duplicate it and edit the copy.`}
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
