import type { CampaignBody } from '@carillon/client';
import { Card, SegmentedControl, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { CopyableBlock } from '../../parts/copyable.tsx';
import { useSession } from '../../session/use-session.ts';
import { useWorkspace } from '../../shell/workspace.ts';
import { campaignCalls, clientCodeOf, curlOfCampaign } from './campaign-calls.ts';
import { useCampaignForm } from '../page/campaign-form.ts';
import { sentBody } from '../page/campaign-body.ts';

/** What the buttons below do, as calls of the API: the same bodies. */
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
