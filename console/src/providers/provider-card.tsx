import { Button, Card, Group, Stack, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation } from '@tanstack/react-query';
import type { ConnectedCredential, ProviderCredentialState } from '../api/generated/credentials.ts';
import { consoleClient } from '../console.ts';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { Copyable } from '../parts/copyable.tsx';
import { FactsTable } from '../parts/facts-table.tsx';
import type { Fact } from '../parts/facts-table.tsx';
import { Failure } from '../parts/failure.tsx';
import { Ago } from '../parts/ago.tsx';
import { showToast } from '../parts/toast-list.ts';
import { useSession } from '../session/use-session.ts';
import { useWorkspace } from '../shell/workspace.ts';
import { CheckResult } from './check-result.tsx';
import { ConnectForm } from './connect-form.tsx';
import { hitsOf } from './hits-of.ts';
import { WebKeySnippet } from './web-key-snippet.tsx';
import { ToneBadge } from '../parts/status-badge.tsx';

type ProviderCardProps = { state: ProviderCredentialState; onChanged: () => Promise<unknown> };

/** One provider: what is connected, what it says, and what can be done about it. */
export function ProviderCard({ state, onChanged }: ProviderCardProps) {
  const { provider, name, connected } = state;
  const [isOpen, form] = useDisclosure(false);
  const { isSandbox } = useSession();
  return (
    <Card withBorder component="section" aria-label={name}>
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} size="h4">
            {name}
          </Title>
          <ToneBadge tone={connected ? 'done' : 'still'}>
            {connected === null ? 'Not connected' : connected.isSimulated ? 'Simulator' : 'Connected'}
          </ToneBadge>
        </Group>
        {connected && <Facts connected={connected} />}
        {connected?.check && <CheckResult check={connected.check} />}
        {connected?.check === null && <Text size="sm">Not checked yet.</Text>}
        {provider === 'webpush' && connected && <WebKeySnippet publicKey={connected.summary.publicKey ?? ''} />}
        {state.ofOtherApps.map((other) => (
          <section key={other.appId} aria-label={`App ${other.appId}`}>
            <Title order={3} size="h6" mb={4}>
              App {other.appId}
            </Title>
            <Facts connected={other.connected} />
          </section>
        ))}
        <Actions state={state} onChanged={onChanged} onReplace={form.toggle} isReplacing={isOpen} />
        {(isOpen || (connected === null && !isSandbox)) && (
          <ConnectForm
            state={state}
            onConnected={async () => {
              form.close();
              await onChanged();
              showToast({ text: `${name} is connected` });
            }}
          />
        )}
      </Stack>
    </Card>
  );
}

const factNames: Record<string, string> = {
  projectId: 'Project',
  clientId: 'Client id',
  huaweiAppId: 'App id',
  clientEmail: 'Service account',
  teamId: 'Team id',
  keyId: 'Key id',
  topic: 'Bundle id',
  environment: 'Environment',
  publicKey: 'Public key',
  subject: 'Contact',
};

function Facts({ connected: { summary, updatedAt } }: { connected: ConnectedCredential }) {
  return (
    <FactsTable
      facts={[
        ...Object.entries(summary).map(([name, value]): Fact => {
          const word = factNames[name] ?? name;
          return [word, <Copyable key={name} text={value} label={word} />];
        }),
        ['Last changed', <Ago key="since" at={updatedAt} />],
      ]}
    />
  );
}

type ActionsProps = ProviderCardProps & { onReplace: () => void; isReplacing: boolean };

function Actions({ state, onChanged, onReplace, isReplacing }: ActionsProps) {
  const { provider, name, connected, hits } = state;
  const { id: workspaceId } = useWorkspace();
  const { isSandbox } = useSession();
  const of = { workspaceId, provider };
  const check = useMutation({ mutationFn: () => consoleClient.credentials.check(of), onSettled: onChanged });
  return (
    <>
      {check.error !== null && <Failure error={check.error} />}
      <Group gap="xs">
        {connected && (
          <Button
            variant="default"
            loading={check.isPending}
            onClick={() => check.mutate()}
            aria-label={`Check ${name}`}
          >
            Check
          </Button>
        )}
        {(connected || isSandbox) && (
          <Button variant="default" onClick={onReplace} aria-expanded={isReplacing} aria-label={`Connect ${name}`}>
            {connected ? 'Replace' : 'Connect'}
          </Button>
        )}
        {connected && (
          <ConfirmButton
            label="Remove"
            ariaLabel={`Remove ${name}`}
            title={`Remove the credential of ${name}?`}
            hits={`${hitsOf(hits)} No message reaches them until another is connected; sends that need it pause.`}
            onConfirmed={async () => {
              await consoleClient.credentials.remove({ ...of, whileSending: 'pause' });
              await onChanged();
              showToast({ text: `The credential of ${name} is removed` });
            }}
          />
        )}
        {isSandbox && connected?.isSimulated !== true && (
          <ConfirmButton
            label="Use the simulator"
            ariaLabel={`Use the simulator of ${name}`}
            color="accent"
            title={`Send to the simulated ${name}?`}
            hits={connected ? `It replaces the connected credential. ${hitsOf(hits)}` : hitsOf(hits)}
            onConfirmed={async () => {
              await consoleClient.credentials.useSimulator(of);
              await onChanged();
              showToast({ text: `Messages of ${name} go to the simulator` });
            }}
          />
        )}
      </Group>
    </>
  );
}
