import { Code, Group, Stack, Text, Textarea } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { CampaignBody } from '@carillon/client';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { Proposal, ProposalChange, ProposalDetail } from '../api/generated/proposals.ts';
import { platformsOf } from '../composer/campaign-body.ts';
import { reachOf } from '../composer/audience/audience-count-card.tsx';
import { exceptionSentences, occurrenceText } from '../composer/schedule/describe-times.ts';
import { consoleClient } from '../console.ts';
import { ButtonLink } from '../parts/links.tsx';
import { ConfirmButton } from '../parts/forms/confirm-button.tsx';
import { DataTable } from '../parts/lists/data-table.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Notice } from '../parts/notice.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { Section } from '../parts/section.tsx';
import { Ago, Time } from '../parts/text/time.tsx';
import { showToast } from '../parts/toast/toast-list.ts';
import { useMay } from '../session/use-session.ts';
import { useWorkspace } from '../shell/workspace.ts';
import { kindNames, StateOf } from './list-page.tsx';

/** A campaign that is sent at once waits this long after the approval, as it does after "Send". */
const undoSeconds = 10;

/** What an agent proposes: the difference to what a user last had, and the decision. */
export function ProposalPage() {
  const { id: workspaceId } = useWorkspace();
  const { proposalId = '' } = useParams({ strict: false });
  const detail = useQuery({
    queryKey: ['proposal', workspaceId, proposalId],
    queryFn: () => consoleClient.agents.readProposal({ workspaceId, id: proposalId }),
    // A decision must rest on what is stored now.
    staleTime: 0,
  });
  return <Loaded query={detail}>{(found) => <Found detail={found} />}</Loaded>;
}

function Found({ detail: { proposal, campaign, changes, changesSince } }: { detail: ProposalDetail }) {
  const mayWrite = useMay('campaigns.write');
  const { campaignName, kind, customerIds, note, agentName, proposedAt, expiresAt, fault, state } = proposal;
  return (
    <Stack gap="md">
      <PageHeader
        title={`${kindNames[kind]}: ${campaignName || 'Unnamed campaign'}`}
        about={
          <>
            Proposed <Ago at={proposedAt} clock="real" /> by {agentName}
          </>
        }
        actions={mayWrite && state === 'PENDING' && <Decision proposal={proposal} campaign={campaign} />}
      />
      <Group gap="xs">
        <StateOf proposal={proposal} />
        {state === 'PENDING' && fault === null && (
          <Text size="sm">
            Can be approved until <Time at={expiresAt} />
          </Text>
        )}
      </Group>
      {state === 'PENDING' && fault !== null && (
        <Notice tone="warning" title="This cannot be approved">
          {fault[0]!.toUpperCase() + fault.slice(1)}. The agent can propose it again.
        </Notice>
      )}
      {proposal.reason !== null && <Text size="sm">Reason: {proposal.reason}</Text>}
      <Section title="What the agent says">
        <Text size="xs">An agent wrote this text. It is not checked.</Text>
        <Text size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
          {note || 'Nothing.'}
        </Text>
      </Section>
      {customerIds !== null && (
        <Section title="Users who get the test">
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {customerIds.join(', ')}
          </Text>
        </Section>
      )}
      {kind === 'PUBLISH' && state === 'PENDING' && (
        <Effect id={proposal.campaignId} campaign={campaign as CampaignBody} />
      )}
      {changesSince.length > 0 && state === 'PENDING' && (
        <Section title="Changed after it was proposed">
          <Changes label="Changed after it was proposed" changes={changesSince} />
        </Section>
      )}
      <Section title="What agents changed">
        <Text size="xs">
          Since you or a colleague last had this draft; everything, if an agent created it. Invisible characters are
          written out.
        </Text>
        {changes.length === 0 ? (
          <Text size="sm">Nothing: the draft is as you or a colleague left it.</Text>
        ) : (
          <Changes label="What agents changed" changes={changes} />
        )}
      </Section>
    </Stack>
  );
}

/** Whom it reaches and when, as the composer's last step says it. */
function Effect({ id, campaign }: { id: string; campaign: CampaignBody }) {
  const { id: workspaceId } = useWorkspace();
  const check = useQuery({
    queryKey: ['proposal-check', workspaceId, campaign],
    queryFn: ({ signal }) => consoleClient.composer.check({ workspaceId, id, campaign, signal }),
    enabled: useMay('campaigns.write'),
  });
  const audience = useQuery({
    queryKey: ['proposal-audience', workspaceId, campaign],
    queryFn: ({ signal }) => consoleClient.composer.countAudience({ workspaceId, campaign, signal }),
    enabled: useMay('campaigns.write'),
  });
  const [occurrence] = check.data?.schedule?.occurrences ?? [];
  const reach = audience.data?.state === 'COUNTED' ? reachOf(audience.data, platformsOf(campaign)) : undefined;
  return (
    <Section title="What would be sent">
      <Text size="sm" role="status">
        {reach
          ? `${reach.devices.toLocaleString('en')} devices of ${reach.reached.toLocaleString('en')} people, as they are now. `
          : ''}
        {check.data?.audienceText ? `Audience: ${check.data.audienceText}. ` : ''}
        {occurrence
          ? `First ${occurrenceText(occurrence)}. ${exceptionSentences(occurrence, undefined).join(' ')}`
          : ''}
      </Text>
      {check.data?.warnings.map(({ code, message }) => (
        <Notice key={code} tone="warning">
          {message}
        </Notice>
      ))}
      {check.data && check.data.faults.length > 0 && (
        <Notice tone="error">{check.data.faults.map(({ field, issue }) => `${field} ${issue}`).join('. ')}</Notice>
      )}
    </Section>
  );
}

function Changes({ label, changes }: { label: string; changes: ProposalChange[] }) {
  return (
    <DataTable
      label={label}
      rows={changes}
      keyOf={({ path }) => path}
      columns={[
        { key: 'path', title: 'Field', cell: ({ path }) => <Code>{path}</Code> },
        { key: 'before', title: 'Before', cell: ({ before }) => <Value text={before} /> },
        { key: 'after', title: 'After', cell: ({ after }) => <Value text={after} /> },
      ]}
    />
  );
}

function Value({ text }: { text: string | null }) {
  return (
    <Text size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
      {text ?? 'None'}
    </Text>
  );
}

type DecisionProps = { proposal: Proposal; campaign: ProposalDetail['campaign'] };

function Decision({ proposal: { id, kind, fault, campaignId, campaignName } }: DecisionProps) {
  const { id: workspaceId } = useWorkspace();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [reason, setReason] = useState('');
  const name = campaignName || 'Unnamed campaign';
  const leave = async (text: string) => {
    showToast({ text });
    await queries.invalidateQueries({
      predicate: ({ queryKey }) => ['proposals', 'proposal', 'campaigns'].includes(String(queryKey[0])),
    });
    await navigate({ to: '/w/$workspaceId/proposals', params: { workspaceId }, search: {} });
  };
  const isPublication = kind === 'PUBLISH';
  return (
    <Group gap="xs">
      <ButtonLink
        variant="default"
        to="/w/$workspaceId/campaigns/$campaignId/edit"
        params={{ workspaceId, campaignId }}
        search={{}}
      >
        Open draft
      </ButtonLink>
      <ConfirmButton
        label="Refuse"
        ariaLabel={`Refuse “${name}”`}
        title={`Refuse “${name}”?`}
        hits={
          <Textarea
            label="Reason, for the agent"
            value={reason}
            maxLength={1000}
            autosize
            onChange={({ currentTarget }) => setReason(currentTarget.value)}
          />
        }
        onConfirmed={async () => {
          await consoleClient.agents.refuse({ workspaceId, id, reason });
          await leave(`“${name}” is refused`);
        }}
      />
      <ConfirmButton
        label="Approve"
        color="accent"
        variant="filled"
        ariaLabel={`Approve “${name}”`}
        title={isPublication ? `Publish “${name}”?` : `Send the test of “${name}”?`}
        isDisabled={fault !== null}
        hits={
          isPublication
            ? `Exactly this draft is published. If it is sent at once, it begins in ${undoSeconds} seconds; until then you can make it a draft again on its page.`
            : 'The users named here get the message now.'
        }
        onConfirmed={async () => {
          await consoleClient.agents.approve({ workspaceId, id, delaySeconds: undoSeconds });
          await leave(isPublication ? `“${name}” is published` : `The test of “${name}” is sent`);
        }}
      />
    </Group>
  );
}
