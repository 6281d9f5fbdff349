import { Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Proposal } from '../api/generated/proposals.ts';
import { consoleClient } from '../console.ts';
import { EmptyState } from '../parts/empty-state.tsx';
import { RouteLink } from '../parts/links.tsx';
import { DataTable } from '../parts/lists/data-table.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { StatusBadge, ToneBadge } from '../parts/status-badge.tsx';
import { Ago } from '../parts/text/time.tsx';
import { Waiting } from '../parts/waiting.tsx';
import { useWorkspace } from '../shell/workspace.ts';

/** What agents propose to send. */
export function ProposalsPage() {
  const { id: workspaceId } = useWorkspace();
  const proposals = useQuery({
    queryKey: ['proposals', workspaceId],
    queryFn: () => consoleClient.agents.listProposals(workspaceId),
  });
  return (
    <Stack gap="md">
      <PageHeader about="Agents write drafts and propose to send them. Nothing is sent until a person approves it here." />
      <Loaded query={proposals} waiting={<Waiting rows={5} />}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState title="No proposals yet">
              Create a token that may propose under “Sessions and password”, and connect an agent with it.
            </EmptyState>
          ) : (
            <ProposalTable proposals={rows} workspaceId={workspaceId} />
          )
        }
      </Loaded>
    </Stack>
  );
}

function ProposalTable({ proposals, workspaceId }: { proposals: Proposal[]; workspaceId: string }) {
  return (
    <DataTable
      label="Proposals"
      minWidth={760}
      rows={proposals}
      keyOf={({ id }) => id}
      columns={[
        {
          key: 'campaign',
          title: 'Campaign',
          cell: ({ id, campaignName }) => (
            <RouteLink
              to="/w/$workspaceId/proposals/$proposalId"
              params={{ workspaceId, proposalId: id }}
              search={{}}
              style={{ overflowWrap: 'anywhere' }}
            >
              {campaignName || 'Unnamed campaign'}
            </RouteLink>
          ),
        },
        { key: 'kind', title: 'Proposed', cell: ({ kind }) => kindNames[kind] },
        { key: 'agent', title: 'By', cell: ({ agentName }) => agentName },
        { key: 'at', title: 'When', cell: ({ proposedAt }) => <Ago at={proposedAt} clock="real" /> },
        { key: 'state', title: 'State', cell: (proposal) => <StateOf proposal={proposal} /> },
      ]}
    />
  );
}

export const kindNames = { PUBLISH: 'Publish', TEST: 'Send a test' } as const;

/** A proposal that waits and cannot be approved any more is outdated. */
export function StateOf({ proposal: { state, fault, decidedBy } }: { proposal: Proposal }) {
  if (state === 'PENDING')
    return fault === null ? <StatusBadge status="PENDING" /> : <ToneBadge tone="still">Outdated</ToneBadge>;
  return (
    <>
      <StatusBadge status={state} />
      {decidedBy !== null && <Text size="xs">{decidedBy}</Text>}
    </>
  );
}
