import { Box, Group, Stack, Text } from '@mantine/core';
import type { Overview, ProviderHealth } from '../api/generated/overview.ts';
import { formatAge } from '../parts/format-duration.ts';
import { RouteLink } from '../parts/route-link.tsx';
import { ToneBadge } from '../parts/status-badge.tsx';
import type { Tone } from '../parts/status-badge.tsx';
import { Time } from '../parts/time.tsx';
import { useMay } from '../session/use-session.ts';
import { useWorkspace } from '../shell/workspace.ts';
import { OverviewCard } from './overview-card.tsx';

/** How the workspace stands with each provider. */
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
  const [word, tone] = stateOf(health, { isPaused: paused.length > 0, now });
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

/** One word, the worst that is true. */
function stateOf(
  { isConnected, check, silent }: ProviderHealth,
  { isPaused, now }: { isPaused: boolean; now: string },
): [word: string, tone: Tone] {
  if (!isConnected && !isPaused) return ['Not connected', 'still'];
  if (isPaused) return ['Rejects the credential', 'failed'];
  if (check?.verdict === 'REFUSED') return ['Refused', 'failed'];
  if (silent) return ['Waiting', 'held'];
  // A check says how it was then, and nothing of how the provider answers now.
  if (check?.verdict === 'ACCEPTED') return [`Accepted ${formatAge(check.at, now)} ago`, 'done'];
  return check ? ['Could not be checked', 'held'] : ['Connected', 'done'];
}
