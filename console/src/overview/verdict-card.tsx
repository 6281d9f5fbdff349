import { Box, Card, Group, Stack, Text } from '@mantine/core';
import type { Finding, Overview, FindingPlace } from '../api/generated/overview.ts';
import { RouteLink } from '../parts/links.tsx';
import { formatDuration } from '../parts/text/format-time.ts';
import { useMay } from '../session/use-session.ts';
import { useWorkspace } from '../shell/workspace.ts';

const colours = { well: 'teal', attention: 'orange', trouble: 'red' } as const;
const marks = { well: '✓', attention: '!', trouble: '×' } as const;

/** The state of the workspace in one line, and what to do about problems. */
export function VerdictCard({ overview }: { overview: Overview }) {
  const { verdict } = overview;
  const colour = colours[verdict.level];
  return (
    <Card
      withBorder
      padding="lg"
      component="section"
      aria-label="Verdict"
      style={{ borderLeft: `6px solid var(--mantine-color-${colour}-7)` }}
    >
      <Group gap="sm" wrap="nowrap" align="flex-start" role="status">
        <Mark colour={colour}>{marks[verdict.level]}</Mark>
        <Stack gap={2} style={{ minWidth: 0 }}>
          <Text size="xl" fw={600} lh={1.3}>
            {verdict.headline}
          </Text>
          <Text size="sm">{whatGoesOn(overview)}</Text>
        </Stack>
      </Group>
      {verdict.findings.length > 0 && (
        <Stack component="ul" gap="sm" mt="md" mb={0} pl={0} style={{ listStyle: 'none' }}>
          {verdict.findings.map((finding) => (
            <FindingItem key={`${finding.what} ${JSON.stringify(finding.place)}`} finding={finding} />
          ))}
        </Stack>
      )}
    </Card>
  );
}

function FindingItem({ finding }: { finding: Finding }) {
  return (
    <Group component="li" gap="sm" wrap="nowrap" align="flex-start">
      <Mark colour={colours[finding.level]} isSmall>
        {marks[finding.level]}
      </Mark>
      <Box style={{ minWidth: 0, overflowWrap: 'anywhere' }}>
        <Text size="sm" fw={600}>
          {finding.what}
        </Text>
        <Text size="sm">
          {finding.todo} <FindingLink place={finding.place} />
        </Text>
      </Box>
    </Group>
  );
}

function Mark({ colour, isSmall, children }: { colour: string; isSmall?: true; children: string }) {
  const size = isSmall ? 20 : 32;
  return (
    <Box
      aria-hidden
      c="white"
      fw={600}
      fz={isSmall ? 13 : 16}
      bg={`${colour}.9`}
      style={{
        width: size,
        height: size,
        borderRadius: size,
        lineHeight: `${size}px`,
        textAlign: 'center',
        flex: 'none',
      }}
    >
      {children}
    </Box>
  );
}

/** Describes the current sends in a sentence. */
function whatGoesOn({ running, scheduled, now }: Overview): string {
  const [next] = scheduled;
  const sending =
    running.length === 0
      ? 'No campaign is being sent'
      : running.length === 1
        ? `${running[0]!.campaignName} is being sent`
        : `${running.length} campaigns are being sent`;
  if (!next) return `${sending}; none is scheduled.`;
  const wait = Date.parse(next.nextAt) - Date.parse(now);
  return `${sending}; ${next.campaignName} ${wait <= 0 ? 'is due now' : `is next, in ${formatDuration(wait)}`}.`;
}

/** A link to the object of a finding, for users who may open it. */
function FindingLink({ place }: { place: FindingPlace }) {
  const { id: workspaceId } = useWorkspace();
  const params = { workspaceId };
  const [seesSystem, setsUp, seesLog, seesUsers, seesKeys] = [
    useMay('system.read'),
    useMay('settings.write'),
    useMay('log.read'),
    useMay('people.read'),
    useMay('keys.read'),
  ];
  switch (place.screen) {
    case 'campaign':
      return (
        <RouteLink to="/w/$workspaceId/campaigns/$campaignId" params={{ ...params, campaignId: place.campaignId }}>
          Open the campaign
        </RouteLink>
      );
    case 'deliveries':
      return seesUsers ? (
        <RouteLink
          to="/w/$workspaceId/deliveries"
          params={params}
          search={{ platform: place.platform, outcome: place.outcome, code: place.code }}
        >
          See them
        </RouteLink>
      ) : null;
    case 'providers':
      return setsUp ? (
        <RouteLink to="/w/$workspaceId/providers" params={params}>
          Open the providers
        </RouteLink>
      ) : null;
    case 'system':
      return seesSystem ? (
        <RouteLink to="/w/$workspaceId/system" params={params}>
          Open the system page
        </RouteLink>
      ) : null;
    case 'segments':
      return (
        <RouteLink to="/w/$workspaceId/segments" params={params}>
          Open the segments
        </RouteLink>
      );
    case 'log':
      return seesLog ? (
        <RouteLink to="/w/$workspaceId/log" params={params} search={{ only: 'refused' }}>
          See refused calls
        </RouteLink>
      ) : null;
    case 'keys':
      return seesKeys ? (
        <RouteLink to="/w/$workspaceId/keys" params={params}>
          Open the keys
        </RouteLink>
      ) : null;
    default:
      return place satisfies never;
  }
}
