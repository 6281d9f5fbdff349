import { SimpleGrid, Stack, Button, Card, Group, Text, Title, Box } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery, useQueryClient, useMutation } from '@tanstack/react-query';
import type { ConnectedCredential, ProviderCredentialState } from '../api/generated/credentials.ts';
import type { ProviderName } from '../api/generated/overview.ts';
import { providerForms } from '../api/generated/provider-forms.ts';
import { ConnectForm, describeHits } from './connect-provider.tsx';
import { consoleClient } from '../console.ts';
import { Copyable, CopyableBlock } from '../parts/copyable.tsx';
import { Failure } from '../parts/failure.tsx';
import { ConfirmButton } from '../parts/forms/confirm-button.tsx';
import { FactsTable } from '../parts/lists/facts-table.tsx';
import type { Fact } from '../parts/lists/facts-table.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { ToneBadge } from '../parts/status-badge.tsx';
import { Ago } from '../parts/text/time.tsx';
import { showToast } from '../parts/toast/toast-list.ts';
import { useSession } from '../session/use-session.ts';
import { useWorkspace } from '../shell/workspace.ts';

/** Connects the workspace to the providers and checks the credentials. */
export function ProvidersPage() {
  const { id: workspaceId } = useWorkspace();
  const queries = useQueryClient();
  const key = ['credentials', workspaceId];
  const credentials = useQuery({ queryKey: key, queryFn: () => consoleClient.credentials.list(workspaceId) });
  return (
    <Stack gap="lg">
      <PageHeader about="Carillon checks a key with its provider, then stores it encrypted. The key is never shown again." />
      <Loaded query={credentials}>
        {(states) => (
          <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg" style={{ alignItems: 'start' }}>
            {states.map((state) => (
              <ProviderCard
                key={state.provider}
                state={state}
                onChanged={() => queries.invalidateQueries({ queryKey: key })}
              />
            ))}
          </SimpleGrid>
        )}
      </Loaded>
    </Stack>
  );
}

type ProviderCardProps = { state: ProviderCredentialState; onChanged: () => Promise<unknown> };

/** A provider: its credential, its state and the possible actions. */
function ProviderCard({ state, onChanged }: ProviderCardProps) {
  const { provider, name, connected } = state;
  const { subscribedWith } = providerForms[provider];
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
        {connected && <Facts provider={provider} connected={connected} />}
        {connected?.check && <CheckResult check={connected.check} />}
        {connected?.check === null && <Text size="sm">Not checked yet.</Text>}
        {subscribedWith && connected && <WebKeySnippet publicKey={connected.summary[subscribedWith.name] ?? ''} />}
        {state.ofOtherApps.map((other) => (
          <section key={other.appId} aria-label={`App ${other.appId}`}>
            <Title order={3} size="h6" mb={4}>
              App {other.appId}
            </Title>
            <Facts provider={provider} connected={other.connected} />
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

type FactsProps = { provider: ProviderName; connected: ConnectedCredential };

function Facts({ provider, connected: { summary, updatedAt } }: FactsProps) {
  const { summaryNames } = providerForms[provider];
  return (
    <FactsTable
      facts={[
        ...Object.entries(summary).map(([name, value]): Fact => {
          const word = summaryNames[name] ?? name;
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
          <Button
            variant="default"
            onClick={onReplace}
            aria-expanded={isReplacing}
            aria-label={`${connected ? 'Replace' : 'Connect'} ${name}`}
          >
            {connected ? 'Replace' : 'Connect'}
          </Button>
        )}
        {connected && (
          <ConfirmButton
            label="Remove"
            ariaLabel={`Remove ${name}`}
            title={`Remove the credential of ${name}?`}
            hits={`${describeHits(hits)} No message reaches them until another is connected; sends that need it pause.`}
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
            hits={connected ? `It replaces the connected credential. ${describeHits(hits)}` : describeHits(hits)}
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

const looks = {
  ACCEPTED: ['teal', 'The provider accepts it'],
  REFUSED: ['red', 'The provider refuses it'],
  UNKNOWN: ['orange', 'The provider could not be checked'],
} as const;

/** The provider's latest response, and what to do. */
function CheckResult({ check }: { check: NonNullable<ConnectedCredential['check']> }) {
  const [colour, title] = looks[check.verdict];
  return (
    <Box role="status" pl="sm" style={{ borderLeft: `4px solid var(--mantine-color-${colour}-7)` }}>
      <Text size="sm" fw={600}>
        {title}
      </Text>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {check.words}
      </Text>
      {check.advice !== 'Nothing to do.' && <Text size="sm">{check.advice}</Text>}
      <Text size="xs" component="div" mt={4}>
        Asked <Ago at={check.at} />
      </Text>
    </Box>
  );
}

/** The code of a web page that subscribes browsers with the workspace's public key. */
function WebKeySnippet({ publicKey }: { publicKey: string }) {
  const lines = [
    `// In answer to a click: browsers refuse to ask otherwise. The file is client/browser/carillon-service-worker.js.`,
    `const worker = await navigator.serviceWorker.register(`,
    `  '/carillon-service-worker.js?service=${encodeURIComponent(location.origin)}',`,
    `);`,
    `await navigator.serviceWorker.ready;`,
    `if ((await Notification.requestPermission()) === 'granted') {`,
    `  const subscription = await worker.pushManager.subscribe({`,
    `    userVisibleOnly: true,`,
    `    applicationServerKey: '${publicKey}',`,
    `  });`,
    `  // The push_id of a device of platform "web":`,
    `  console.log(JSON.stringify(subscription));`,
    `}`,
  ];
  return (
    <div>
      <Text size="sm" fw={600} mb={4}>
        For your web page
      </Text>
      <CopyableBlock text={lines.join('\n')} label="code for the web page" />
    </div>
  );
}
