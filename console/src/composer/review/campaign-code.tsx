import type { CampaignBody } from '@carillon/client';
import { Card, SegmentedControl, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { CopyableBlock } from '../../parts/copyable.tsx';
import { shellQuote } from '../../parts/curl.tsx';
import { useSession } from '../../session/use-session.ts';
import { useWorkspace } from '../../shell/workspace.ts';
import { sentBody } from '../campaign-body.ts';
import { useCampaignForm } from '../campaign-form.ts';

/** The API calls of the buttons below, with the same bodies. */
export function CampaignCode({ change }: { change: CampaignBody | undefined }) {
  const { id: workspaceId } = useWorkspace();
  const { account } = useSession();
  const { body, existing } = useCampaignForm();
  const [form, setForm] = useState('curl');
  const calls = campaignCalls({ body: sentBody(body), change, existing, by: account.name });
  const where = { origin: location.origin, workspaceId, calls };
  const code = form === 'curl' ? curlOfCampaign(where) : clientCodeOf(where);
  return (
    <Card withBorder role="region" aria-label="API equivalent">
      <Stack gap="xs">
        <Title order={2} size="h5">
          API equivalent
        </Title>
        <SegmentedControl
          aria-label="Format"
          data={[
            { value: 'curl', label: 'curl' },
            { value: 'client', label: 'TypeScript' },
          ]}
          value={form}
          onChange={setForm}
          w="fit-content"
          transitionDuration={0}
        />
        {code === undefined ? (
          <Text size="sm">
            The client package has no method for changing a published campaign; curl shows the V1 call that does.
          </Text>
        ) : (
          <CopyableBlock text={code} label={form === 'curl' ? 'curl command' : 'client code'} />
        )}
      </Stack>
    </Card>
  );
}

/** The API calls that store and send a campaign. */
type CampaignCalls =
  /** Creates or changes the draft, then publishes it. */
  | { kind: 'create'; body: CampaignBody }
  | { kind: 'change'; id: string; change: CampaignBody | undefined }
  /** V5 changes drafts only; V1 changes published campaigns. */
  | { kind: 'edit'; id: string; change: CampaignBody };

type CodeRequest = {
  body: CampaignBody;
  change: CampaignBody | undefined;
  existing: { id: string; status: string } | undefined;
  by: string;
};

function campaignCalls({ body, change, existing, by }: CodeRequest): CampaignCalls {
  if (!existing) return { kind: 'create', body: { ...body, created_by: by } };
  const { id } = existing;
  if (existing.status === 'DRAFT')
    return { kind: 'change', id, change: change === undefined ? undefined : { ...change, updated_by: by } };
  return { kind: 'edit', id, change: { request_id: 'an id of your own', updated_by: by, ...change } };
}

type CodeOptions = { origin: string; workspaceId: string; calls: CampaignCalls };

type Call = { method: 'POST' | 'PATCH'; path: string; body: unknown };

/** The calls as shell commands. The reader supplies the key. */
function curlOfCampaign({ origin, workspaceId, calls }: CodeOptions): string {
  const curl = ({ method, path, body }: Call): string =>
    [
      `curl -sS -X ${method} "${origin}${path}"`,
      `  -u "${workspaceId}:$KEY"`,
      `  -H 'Content-Type: application/json'`,
      `  -d ${shellQuote(JSON.stringify(body))}`,
    ].join(' \\\n');
  const publish = curl({ method: 'PATCH', path: '/v5/campaigns/$ID/status', body: { action: 'PUBLISH' } });
  const lines = [`KEY='a campaigns key'`];
  switch (calls.kind) {
    case 'create':
      // The response has the id below `data`; the pattern does not match `response_id`.
      lines.push(
        `ID=$(${curl({ method: 'POST', path: '/v5/campaigns', body: calls.body })} \\`,
        `  | sed -E 's/.*"id": ?"([0-9a-f]{24})".*/\\1/')`,
        publish,
      );
      break;
    case 'change':
      lines.push(`ID='${calls.id}'`);
      if (calls.change) lines.push(curl({ method: 'PATCH', path: '/v5/campaigns/$ID', body: calls.change }));
      lines.push(publish);
      break;
    case 'edit':
      lines.push(curl({ method: 'PATCH', path: `/core-services/v1/campaigns/${calls.id}`, body: calls.change }));
      break;
  }
  return lines.join('\n');
}

/** The calls in TypeScript with the client package; undefined if it does not support them. */
function clientCodeOf({ origin, workspaceId, calls }: CodeOptions): string | undefined {
  const head = [
    `import { makeCarillonClient } from '@carillon/client';`,
    '',
    'const { campaigns } = makeCarillonClient({',
    `  baseUrl: ${text(origin)},`,
    `  workspaceId: ${text(workspaceId)},`,
    '  campaignsKey: process.env.CARILLON_CAMPAIGNS_KEY!,',
    '});',
    '',
  ];
  switch (calls.kind) {
    case 'create':
      return [
        ...head,
        `const { id } = await campaigns.create(${literal(calls.body)});`,
        'await campaigns.publish(id);',
      ].join('\n');
    case 'change':
      return [
        ...head,
        `const id = ${text(calls.id)};`,
        ...(calls.change ? [`await campaigns.change(id, ${literal(calls.change)});`] : []),
        'await campaigns.publish(id);',
      ].join('\n');
    case 'edit':
      return undefined;
  }
}

/** Prints JSON as TypeScript, without quotes around names that do not need them. */
function literal(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(/^( *)"([A-Za-z_][A-Za-z0-9_]*)":/gm, '$1$2:');
}

function text(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
