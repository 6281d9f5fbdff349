import { Box, Group, Progress, Stack, Text, Code, SimpleGrid } from '@mantine/core';
import type { Overview, ProviderHealth, LimitUse } from '../api/generated/overview.ts';
import { RouteLink } from '../parts/links.tsx';
import { ToneBadge } from '../parts/status-badge.tsx';
import type { Tone } from '../parts/status-badge.tsx';
import { formatAge, windowName } from '../parts/text/format-time.ts';
import { platformNames } from '../parts/text/platform-names.ts';
import { Time } from '../parts/text/time.tsx';
import { useMay } from '../session/use-session.ts';
import { useWorkspace } from '../shell/workspace.ts';
import { OverviewCard, DeliveryNumber } from './overview-card.tsx';

/** Messages that providers accepted and rejected in the last hour, with reasons. */
export function LastHour({ overview }: { overview: Overview }) {
  const { counts, failures, maxCounted, waiting } = overview.lastHour;
  const say = (devices: number) =>
    devices >= maxCounted ? `${devices.toLocaleString('en')} or more` : devices.toLocaleString('en');
  const accepted = counts.filter(({ outcome }) => outcome === 'ACCEPTED');
  const isComplete = failures.length === 0 && waiting === 0 && overview.paused.length === 0;
  return (
    <OverviewCard title="The last hour">
      <Stack gap="xs">
        {accepted.length === 0 && <Text size="sm">No message was sent.</Text>}
        {accepted.map(({ platform, devices }) => (
          <Group key={platform} justify="space-between" gap="xs">
            <Text size="sm">{platformNames[platform]}, accepted</Text>
            <Text size="sm" span>
              <DeliveryNumber rows={{ platform, outcome: 'ACCEPTED' }}>{say(devices)}</DeliveryNumber>
            </Text>
          </Group>
        ))}
        {failures.length > 0 && (
          <Text size="sm" fw={600} mt="xs">
            Not delivered
          </Text>
        )}
        {isComplete && accepted.length > 0 && <Text size="sm">All were accepted.</Text>}
        {waiting > 0 && (
          <Text size="sm">
            {waiting.toLocaleString('en')} {waiting === 1 ? 'message is' : 'messages are'} waiting to be sent.
          </Text>
        )}
        {failures.map(({ platform, outcome, code, devices, advice }) => (
          <div key={`${platform} ${outcome} ${code}`}>
            <Group justify="space-between" gap="xs" wrap="nowrap" align="flex-start">
              <Text size="sm" style={{ overflowWrap: 'anywhere', minWidth: 0 }}>
                {platformNames[platform]}, {outcome.toLowerCase()} <Code>{code}</Code>
              </Text>
              <Text size="sm" span style={{ flex: 'none' }}>
                <DeliveryNumber rows={{ platform, outcome, code }}>{say(devices)}</DeliveryNumber>
              </Text>
            </Group>
            <Text size="xs">{advice}</Text>
          </div>
        ))}
      </Stack>
    </OverviewCard>
  );
}

/** The state of each provider in the workspace. */
export function ProviderList({ overview }: { overview: Overview }) {
  const { id: workspaceId } = useWorkspace();
  const setsUp = useMay('settings.write');
  return (
    <OverviewCard
      title="Providers"
      more={
        setsUp && (
          <RouteLink to="/w/$workspaceId/providers" params={{ workspaceId }}>
            Connect and check
          </RouteLink>
        )
      }
    >
      <Stack gap="md">
        {overview.providers.map((health) => (
          <Provider
            key={health.provider}
            health={health}
            paused={overview.paused.filter(({ provider }) => provider === health.provider)}
            now={overview.now}
          />
        ))}
      </Stack>
    </OverviewCard>
  );
}

type ProviderProps = { health: ProviderHealth; paused: Overview['paused']; now: string };

function Provider({ health, paused, now }: ProviderProps) {
  const { name, account, check, silent, noisyUntil, isSimulated } = health;
  const who = isSimulated ? 'Simulator' : account;
  const [word, tone] = providerState(health, { isPaused: paused.length > 0, now });
  return (
    <Box>
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <Text size="sm" fw={600}>
          {name}
        </Text>
        <ToneBadge tone={tone}>{word}</ToneBadge>
      </Group>
      <Text size="sm" component="div" style={{ overflowWrap: 'anywhere' }}>
        {who}
        {check && `${who === null ? 'Checked' : ', checked'} ${formatAge(check.at, now)} ago`}
        {check?.verdict === 'REFUSED' && `: ${check.words}`}
        {paused.map(({ reason }) => (
          <div key={reason}>Says: {reason}</div>
        ))}
        {silent && (
          <div>
            Backing off until <Time at={silent.until} />: {silent.reason}
          </div>
        )}
        {noisyUntil !== null && (
          <div>
            Lower rate for noisy sites until <Time at={noisyUntil} />
          </div>
        )}
      </Text>
    </Box>
  );
}

/** The worst state that applies, in one word. */
function providerState(
  { isConnected, check, silent }: ProviderHealth,
  { isPaused, now }: { isPaused: boolean; now: string },
): [word: string, tone: Tone] {
  if (!isConnected && !isPaused) return ['Not connected', 'still'];
  if (isPaused) return ['Rejects the credential', 'failed'];
  if (check?.verdict === 'REFUSED') return ['Refused', 'failed'];
  if (silent) return ['Waiting', 'held'];
  // A check describes the past, not the provider's current responses.
  if (check?.verdict === 'ACCEPTED') return [`Accepted ${formatAge(check.at, now)} ago`, 'done'];
  return check ? ['Could not be checked', 'held'] : ['Connected', 'done'];
}

/** The workspace's use of its limits. */
export function LimitList({ limits }: { limits: LimitUse[] }) {
  return (
    <OverviewCard title="Limits">
      <SimpleGrid cols={{ base: 1, sm: 2, md: 3 }} spacing="md">
        {limits.map((limit) => (
          <Limit key={limit.id} limit={limit} />
        ))}
      </SimpleGrid>
    </OverviewCard>
  );
}

function Limit({ limit: { id, name, used, most, windowSeconds } }: { limit: LimitUse }) {
  const share = Math.min(100, (used / most) * 100);
  const left = Math.max(0, most - used);
  return (
    <Box>
      <Text size="sm">
        {name}
        {windowName(windowSeconds)}
      </Text>
      <Progress
        my={4}
        value={share}
        color={share >= 90 ? 'red.9' : share >= 70 ? 'orange.9' : 'accent'}
        aria-label={`${name}${windowName(windowSeconds)}: ${left.toLocaleString('en')} left`}
      />
      <Text size="xs" c="dimmed">
        <LimitRows id={id}>{used.toLocaleString('en')}</LimitRows> of {most.toLocaleString('en')}
      </Text>
    </Box>
  );
}

/** Links segments to their screen and calls to the log. */
function LimitRows({ id, children }: { id: string; children: string }) {
  const { id: workspaceId } = useWorkspace();
  const seesLog = useMay('log.read');
  if (id.startsWith('segment'))
    return (
      <RouteLink to="/w/$workspaceId/segments" params={{ workspaceId }} search={{}}>
        {children}
      </RouteLink>
    );
  if (!seesLog) return children;
  return (
    <RouteLink to="/w/$workspaceId/log" params={{ workspaceId }} search={{}}>
      {children}
    </RouteLink>
  );
}
